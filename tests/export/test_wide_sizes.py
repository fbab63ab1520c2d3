"""Sizes beyond what 64 bits and MPI's own integers hold: no number of a file wraps round."""

import re

import numpy as np
import pytest

from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.nodes import Leaf, Method, Split, Test
from dashboard.export import TARGETS, ExportError
from dashboard.export.band_search import best_bands
from dashboard.export.bands import LARGEST, bands_of
from dashboard.export.rules.lint import read_text
from tests.cubes import cube_of

INT_MAX = 2**31 - 1
METHODS = [Method("binomial", "binomial"), Method("pipeline 8KiB", "pipeline", 8192)]
LARGE = 2**45
MANY = 10**6
NUMBER = re.compile(r"-?\d+")


def large(collective: str = "allgather") -> DecisionFunction:
    """Methods that change at blocks of 32 TiB; the total of a million processes is 2^45 · 10^6 > 2^64 bytes."""
    names = ("ring", "bruck") if collective == "allgather" else ("binomial", "pipeline")
    methods = [Method(name, name) for name in names]
    tree = Split((Test("comm_size", MANY - 1),), (Leaf(0), Split((Test("total_size", 2**62),), (Leaf(0), Leaf(1)))))
    return DecisionFunction(collective, methods, tree, provenance={"comm_size": [2, MANY]})


@pytest.mark.parametrize("target", TARGETS)
def test_no_target_writes_a_size_that_wrapped_round(target: str) -> None:
    cube = cube_of([[[1.0, 2.0]] * 2, [[2.0, 1.0]] * 2], [2, MANY], [LARGE // 2, LARGE], methods=["ring", "bruck"])
    cube = cube.assign_attrs(collective="allgather")
    options = {"cubes": {"allgather": cube}} if "cubes" in TARGETS[target].options else {}
    if "most_rules" in TARGETS[target].options:
        options |= {"most_rules": 4}
    try:
        text = TARGETS[target].write([large()], None, **options)
    except ExportError:
        return
    numbers = [int(number) for number in NUMBER.findall(text) if len(number) > 12]
    assert not [number for number in numbers if not 0 <= number <= LARGEST], text


def test_a_total_without_room_in_64_bits_is_no_rule() -> None:
    tree = Split((Test("message_size", LARGE),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction("allgather", METHODS, tree, provenance={"comm_size": [1, 4]})
    at_once = bands_of(decision, "total").bands
    assert at_once[0].rules[1][0] > LARGE
    many = Split((Test("message_size", 2**62),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction("allgather", METHODS, many, provenance={"comm_size": [1, 4]})
    bands = bands_of(decision, "total").bands
    assert all(0 <= size <= LARGEST for band in bands for size, _ in band.rules)
    # From two processes on no total of 64 bits is as large.
    assert bands[-1].rules == ((0, 0),)


def test_searched_rules_know_totals_beyond_64_bits() -> None:
    cube = cube_of([[[1.0, 2.0, 9.0]], [[2.0, 1.0, 1.0]]], [MANY], [8, LARGE // 2, LARGE])
    band = best_bands(cube, "total", 2).bands().bands[0]
    assert [size for size, _ in band.rules] == [0, 8 * MANY + 1]


def test_communicators_beyond_mpis_int_are_left_out_and_said() -> None:
    tree = Split((Test("comm_size", INT_MAX + 5),), (Leaf(0), Leaf(1)))
    bands = bands_of(DecisionFunction("bcast", METHODS, tree), "message")
    assert [band.start for band in bands.bands] == [1]
    assert "no communicator has more than 2,147,483,647 processes" in bands.notes[0]
    for target in ("openmpi", "openmpi-json"):
        text = TARGETS[target].write([DecisionFunction("bcast", METHODS, tree)], None)
        assert str(INT_MAX + 6) not in text
        assert "2,147,483,647" in " ".join(text.replace("#", " ").split())
        assert not read_text(text).errors


@pytest.mark.parametrize("target", ["openmpi", "openmpi-json", "preload"])
def test_segments_beyond_the_librarys_int_are_refused(target: str) -> None:
    methods = [METHODS[0], Method("pipeline 4GiB", "pipeline", 2**32)]
    tree = Split((Test("message_size", 100),), (Leaf(0), Leaf(1)))
    with pytest.raises(ExportError, match="pipeline 4GiB"):
        TARGETS[target].write([DecisionFunction("bcast", methods, tree)], None)
    kept = TARGETS["openmpi"].write([DecisionFunction("bcast", METHODS, tree)], None)
    assert "6 0 8192" in kept or "3 0 8192" in kept


def test_totals_are_those_of_whole_numbers() -> None:
    cube = cube_of(np.ones((1, 3, 3)), [2, 3, INT_MAX], [0, 2**40, LARGEST])
    assert best_bands(cube, "total", 3).bands().rules == 1
