"""How much launches differ, by run files whose launches differ by so much."""

from pathlib import Path

import numpy as np
import pytest

from dashboard.benchmarks.libraries.methods import Method
from dashboard.tuning.launches import between_launches
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
    spread = between_launches(files, "default", "tuned")["bcast"]
    assert spread.deviation == pytest.approx(10 / np.sqrt(launches), rel=0.15)
    assert spread.single.deviation == pytest.approx(10, rel=0.15)
    # The median of 200 variances is half as well known as their mean.
    assert (spread.number, spread.freedom) == (launches, 100 * (launches - 1))


def test_a_single_cell_is_known_by_its_launches_alone(tmp_path: Path) -> None:
    records = [record(method, 4, 64, 1e-5 * number, launch=number) for method in METHODS for number in (1, 2, 3)]
    assert between_launches([write(tmp_path / "results.jsonl", *records)], "default", "tuned")["bcast"].freedom == 2


def test_by_one_launch_no_difference_is_known(tmp_path: Path) -> None:
    files = [write(tmp_path / "results.jsonl", *(record(method, 4, 64, 1e-5, 2e-5, 3e-5) for method in METHODS))]
    (tmp_path / "times.csv").write_text("collective,algorithm,comm_size,message_size,time\nbcast,tuned,4,64,1e-5\n")
    assert between_launches([*files, tmp_path, tmp_path / "times.csv"], "default", "tuned") == {}
