"""The tables of the dissertation, over the reference map whose trees and costs are known."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dashboard.decisions.grown.c45.report import TABLE_6_7, c45_table
from dashboard.decisions.measured.problem import Problem
from tests.cubes import cube_of, synthetic_cube


@pytest.fixture(scope="module")
def folder(samples: Path) -> Path:
    return samples.parent / "c45" / "bcast27"


@pytest.fixture(scope="module")
def problem(folder: Path) -> Problem:
    """The map with its times; `best` is the class of the data set, which noise set at random in 6 % of the cells."""
    cells = pd.read_csv(folder / "bcast27.data", header=None, names=["comm_size", "message_size", "method"])
    costs = pd.read_csv(folder / "bcast27.costs.csv")
    comm, message = (np.unique(cells[name]) for name in ("comm_size", "message_size"))
    shape = comm.size, message.size
    times = costs.to_numpy().T.reshape(len(costs.columns), *shape) * 1e-6
    problem = Problem.of(cube_of(times, comm, message))
    names = {name: place for place, name in enumerate(costs.columns)}
    labels = cells["method"].str.strip().map(names).to_numpy().reshape(shape)
    return problem.relabelled([labels])


def test_sizes_errors_and_penalties_are_those_of_the_reference_trees(problem: Problem, folder: Path) -> None:
    table = c45_table(problem)
    costs = pd.read_csv(folder / "bcast27.costs.csv")

    assert list(table.index) == [f"-m {m} -c {c:g}" for m, c in TABLE_6_7]
    for (m, c), row in zip(TABLE_6_7, table.itertuples(), strict=True):
        expected = json.loads((folder / f"bcast27_m{m}_c{c:g}.json").read_text())
        assert (row.size_before, row.leaves_before) == (expected["size_before"], expected["leaves_before"])
        assert (row.size, row.leaves) == (expected["size"], expected["leaves"])
        assert row.errors_before == pytest.approx(100 * expected["errors_before"] / expected["cases"])
        assert row.errors == pytest.approx(100 * expected["errors"] / expected["cases"])
        assert round(row.predicted_error, 1) == expected["predicted_error_pct"]
        chosen = costs.columns.get_indexer(expected["predictions"])
        times = costs.to_numpy()
        penalties = 100 * (times[np.arange(len(times)), chosen] / times.min(axis=1) - 1)
        assert [row.penalty_min, row.penalty_max, row.penalty_mean, row.penalty_median] == pytest.approx(
            [penalties.min(), penalties.max(), penalties.mean(), np.median(penalties)], abs=1e-9
        )


def test_several_collectives_have_their_own_mean_penalty() -> None:
    cubes = {name: synthetic_cube(9, 12, 5, seed) for seed, name in enumerate(("bcast", "reduce"))}
    for name, cube in cubes.items():
        cube.attrs["collective"] = name

    table = c45_table(Problem.of(cubes), [(2, 25.0)])

    means = table[["penalty_mean bcast", "penalty_mean reduce"]]
    assert means.mean(axis=1).to_numpy() == pytest.approx(table["penalty_mean"].to_numpy())
