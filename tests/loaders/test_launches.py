"""A launch whose times are all longer stands out; one that differs here and there does not."""

from pathlib import Path

import numpy as np
import pytest

from loaders import RunWriter, scan
from loaders.launches import compare, spreads


def medians(factors: dict[int, float], points: int = 40, noise: float = 0.02) -> dict[int, dict[int, float]]:
    random = np.random.default_rng(7)
    return {
        point: {
            number: 1e-5 * (1 + point) * factor * float(random.lognormal(0, noise))
            for number, factor in factors.items()
        }
        for point in range(points)
    }


def test_a_launch_on_a_busy_machine_stands_out() -> None:
    launches = compare(medians({1: 1.0, 2: 1.0, 3: 1.6, 4: 1.0}))
    assert [launch.outlier for launch in launches] == [False, False, True, False]
    assert launches[2].ratio == pytest.approx(1.6, rel=0.05)
    assert launches[2].points == 40


def test_launches_of_equal_speed_do_not_stand_out() -> None:
    assert not any(launch.outlier for launch in compare(medians(dict.fromkeys(range(1, 9), 1.0), noise=0.1)))


@pytest.mark.parametrize(
    ("others", "last", "outlier"),
    [
        ([1.0, 1.0, 1.0], 1.045, False),
        ([1.0, 1.0, 1.0], 1.055, True),
        ([1.0, 1.0, 1.0], 0.94, True),
        # The median of the deviations' sizes is 1.5 %: three times 1.4826 of it are 6.67 %, of the logarithms.
        ([np.exp(-0.03), np.exp(-0.015), 1.0, np.exp(0.015)], np.exp(0.063), False),
        ([np.exp(-0.03), np.exp(-0.015), 1.0, np.exp(0.015)], np.exp(0.07), True),
    ],
)
def test_a_launch_stands_out_by_five_percent_and_three_deviations(
    others: list[float], last: float, *, outlier: bool
) -> None:
    launches = compare({0: dict(enumerate([*others, last], start=1))})
    assert [launch.outlier for launch in launches] == [False] * len(others) + [outlier]


def test_of_two_launches_none_is_the_outlier() -> None:
    assert [launch.outlier for launch in compare(medians({1: 1.0, 2: 3.0}))] == [False, False]


def test_points_of_one_launch_only_say_nothing() -> None:
    assert compare({0: {1: 1e-5}, 1: {2: 1e-5}}) == []


@pytest.mark.parametrize(("launches", "methods"), [(2, 2), (3, 2), (7, 2), (3, 5)])
def test_the_deviation_is_that_of_a_mean_over_launches(launches: int, methods: int) -> None:
    random = np.random.default_rng(1)
    measured = {}
    for size in range(200):
        # What a launch does to all methods alike says nothing of their difference.
        alike = random.lognormal(sigma=0.5, size=launches)
        for method in range(methods):
            times = 1e-5 * alike * random.lognormal(sigma=0.1, size=launches)
            measured[("bcast", 4, size), method] = dict(enumerate(times.tolist(), 1))
    (differ,) = spreads(measured)
    assert (differ["collective"], differ["launches"]) == ("bcast", launches)
    assert differ["deviation"] == pytest.approx(0.1 / np.sqrt(launches), rel=0.15)
    # The median of 200 variances is half as well known as their mean.
    assert differ["freedom"] == 100 * (launches - 1) * (methods - 1)


def test_a_single_cell_is_known_by_its_launches_alone_and_one_launch_or_method_says_nothing() -> None:
    cell = ("reduce", 4, 64)
    times = {1: 1e-5, 2: 2e-5, 3: 3e-5}
    assert spreads({(cell, 0): times, (cell, 1): dict.fromkeys(times, 1e-5)})[0]["freedom"] == 2
    assert spreads({(cell, 0): times}) == spreads({(cell, 0): {1: 1e-5}, (cell, 1): {1: 1e-5, 2: 1e-5}}) == []


def test_the_loader_tells_the_launch_that_stands_out_and_pools_all(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "a.jsonl", {}) as writer:
        for launch, factor in ((1, 1.0), (2, 1.0), (3, 2.0)):
            for size in (8, 64, 512):
                point = {"collective": "bcast", "algorithm": "linear", "comm_size": 4, "message_size": size}
                writer.append({**point, "launch": launch, "samples": [factor * 1e-6 * size, factor * 1.1e-6 * size]})
    (report,) = scan(tmp_path / "a.jsonl")
    assert report["rows"] == 9
    assert report["notes"] == [
        "launch 3 of 3 stands out: its times are 2.00 times those of the others in the middle of 3 points"
    ]
