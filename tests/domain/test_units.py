"""How sizes, times and percentages are written."""

import math
import re

import pytest

from dashboard.commands import text as cli_text
from dashboard.domain.units import (
    format_bytes,
    format_count,
    format_gap,
    format_names,
    format_percent,
    format_ppn,
    format_range,
    format_ratio,
    format_room,
    format_share,
    format_time,
)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1,023 B"),
        (1024, "1 KiB"),
        (1448, "1,448 B"),
        (1536, "1.5 KiB"),
        (4096, "4 KiB"),
        (393_216, "384 KiB"),
        (1_000_000, "1,000,000 B"),
        (16 << 20, "16 MiB"),
        (3 << 29, "1.5 GiB"),
        (math.inf, "any size"),
    ],
)
def test_sizes_have_binary_units_and_odd_ones_stay_recognisable(size: float, text: str) -> None:
    assert format_bytes(size) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1536, "1.5 KiB"),
        (1048524, "1,023.9 KiB"),
        (1048575, "1.0 MiB"),
        (2**30, "1.0 GiB"),
    ],
)
def test_room_is_rounded_and_never_1024_of_a_unit(size: float, text: str) -> None:
    assert format_room(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1.5, "1.500 s"),
        (1.63e-3, "1.630 ms"),
        (104.2e-6, "104.2 µs"),
        (52.13e-6, "52.13 µs"),
        (7e-9, "7.000 ns"),
        (999.96e-6, "1.000 ms"),
        (9.9996e-6, "10.00 µs"),
        (99.996e-6, "100.0 µs"),
        (0.99994, "999.9 ms"),
        (math.nan, "not measured"),
    ],
)
def test_times_have_the_unit_that_leaves_few_digits(seconds: float, text: str) -> None:
    assert format_time(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 %"), (4.312, "4.31 %"), (176.8, "176.8 %"), (99.997, "100.0 %"), (math.nan, "not measured")],
)
def test_percentages(value: float, text: str) -> None:
    assert format_percent(value) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0 %"), (1, "100 %"), (0.075, "7.5 %"), (12.5, "1,250 %"), (math.nan, "not measured")]
)
def test_shares_of_one_are_told_in_percent(share: float, text: str) -> None:
    assert format_share(share) == text


@pytest.mark.parametrize("number", [1023, 1448, 54_321, 1_500_000])
def test_page_and_command_line_group_digits_and_set_off_units_alike(number: int) -> None:
    assert format_percent(number).startswith(f"{number:,}.")
    assert format_count(number, "cell").startswith(f"{number:,} ")
    assert cli_text.percent(number) == format_percent(number)
    assert cli_text.table(["cells"], [[number]])[1] == f"{number:,}"
    assert re.fullmatch(r"\d{1,3}(,\d{3})*(\.\d+)? [KM]?i?B", format_bytes(number))


def test_counts_know_the_singular() -> None:
    assert format_count(1, "process", "processes") == "1 process"
    assert format_count(8192, "process", "processes") == "8,192 processes"


def test_a_range_of_one_is_that() -> None:
    assert (format_range(2, 8), format_range(4, 4)) == ("2 to 8", "4")
    assert format_range(8, 4096, format_bytes) == "8 B to 4 KiB"


@pytest.mark.parametrize(
    ("value", "text"), [(0.004123, "0.00412"), (1.046, "1.05"), (104.2, "104"), (1240.3, "1,240"), (0, "0.00")]
)
def test_ratios_have_three_digits(value: float, text: str) -> None:
    assert format_ratio(value) == text


@pytest.mark.parametrize(
    ("points", "text"), [(1.2, "1.20 points more than"), (-1234, "1,234.00 points less than"), (0.004, "as much as")]
)
def test_what_costs_the_same_does_not_cost_more(points: float, text: str) -> None:
    assert format_gap(points) == text


@pytest.mark.parametrize(
    ("ppn", "text"), [(1, "1 process per node"), (2, "2 processes per node"), ("1, 2", "1, 2 processes per node")]
)
def test_processes_per_node_know_the_singular(ppn: object, text: str) -> None:
    assert format_ppn(ppn) == text


def test_of_many_names_the_first_are_written() -> None:
    assert format_names(["ring", "chain"]) == "ring, chain"
    assert format_names([str(number) for number in range(1234)], most=2) == "0, 1 and 1,232 more"
