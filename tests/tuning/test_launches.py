"""How much launches differ, by run files whose launches differ by so much."""

from pathlib import Path

import numpy as np
import pytest

from dashboard.benchmarks.libraries.methods import Method
from dashboard.tuning.launches import between_launches, launches_of
from tests.bench.campaigns import record, write

METHODS = [Method("default"), Method("tuned")]


@pytest.mark.parametrize("launches", [2, 3, 7])
def test_the_deviation_is_that_of_a_mean_over_launches(tmp_path: Path, launches: int) -> None:
    random = np.random.default_rng(1)
    records = []
    for size in range(4, 804, 4):
        # What a launch does to both methods alike says nothing of their difference.
        alike = random.lognormal(sigma=0.5, size=launches)
        records += [
            record(method, 4, size, time, launch=number)
            for method in METHODS
            for number, time in enumerate(1e-5 * alike * random.lognormal(sigma=0.1, size=launches), 1)
        ]
    files = [write(tmp_path / "results.jsonl", *records)]
    assert launches_of(files) == launches
    assert between_launches(files, "default", "tuned")["bcast"] == pytest.approx(10 / np.sqrt(launches), rel=0.15)


def test_by_one_launch_no_difference_is_known(tmp_path: Path) -> None:
    files = [write(tmp_path / "results.jsonl", *(record(method, 4, 64, 1e-5, 2e-5, 3e-5) for method in METHODS))]
    assert (between_launches(files, "default", "tuned"), launches_of(files)) == ({"bcast": 0.0}, 1)
