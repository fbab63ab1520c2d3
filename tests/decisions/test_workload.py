"""How often an application calls what each cell stands for."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import DecisionError, DecisionFunction, Leaf, methods_of, penalty, summarise
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.measured.workload import in_words, weighed, weights_for, without_results
from loaders.workload import read_workload
from tests.cubes import cube_of, synthetic_cube

NAN = np.nan


def calls(*rows: tuple[Any, ...], columns: str = "collective comm_size message_size calls") -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns.split())


def test_calls_at_measured_sizes_stay_there(tmp_path: Path) -> None:
    path = tmp_path / "workload.csv"
    path.write_text("collective,comm_size,message_size,calls\nMPI_Bcast,4,8,10\nbcast,4,16,5\nreduce,4,8,7\n")
    cube = cube_of(np.ones((2, 2, 3)), [2, 4], [8, 16, 32])
    weights = weights_for(read_workload(path), cube)
    assert weights.values.tolist() == [[0, 0, 0], [10, 5, 0]]
    assert weights.dims == ("comm_size", "message_size")
    assert (weights.attrs["calls"], weights.attrs["exact"]) == (15, 15)
    assert without_results(read_workload(path), ["bcast"]) == {"reduce": 7}
    assert weights_for(read_workload(path), cube, "reduce").values.tolist() == [[0, 0, 0], [7, 0, 0]]


def test_others_count_at_the_nearest_size_by_ratio() -> None:
    """Between 4 and 16 the middle is 8, and 8 itself goes to the smaller; between 64 and 1024 it is 256."""
    cube = cube_of(np.ones((1, 2, 2)), [4, 16], [64, 1024])
    rows = [("bcast", p, m, 1) for p in (8, 9) for m in (256, 257)]
    weights = weights_for(calls(*rows), cube)
    assert weights.values.tolist() == [[1, 1], [1, 1]]
    assert weights.attrs["moved"] == 4


def test_beyond_the_range_they_count_at_its_border() -> None:
    cube = cube_of(np.ones((1, 2, 2)), [4, 16], [64, 1024])
    weights = weights_for(calls(("bcast", 2, 0, 3), ("bcast", 1000, 1 << 30, 4), ("bcast", 4, 1 << 40, 5)), cube)
    assert weights.values.tolist() == [[3, 5], [0, 4]]
    assert weights.attrs["beyond"] == 12


def test_an_unmeasured_line_takes_no_calls_and_unmeasured_cells_are_counted() -> None:
    cube = cube_of([[[1.0, NAN, 1.0], [NAN, NAN, 1.0]]], [2, 4], [8, 16, 32])
    weights = weights_for(calls(("bcast", 2, 16, 2), ("bcast", 4, 8, 5)), cube)
    assert weights.values.tolist() == [[2, 0, 0], [5, 0, 0]]
    assert weights.attrs["moved"] == 2
    assert weights.attrs["unmeasured"] == 5


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["bcast", "reduce"]), st.integers(1, 99), st.integers(0, 1 << 20), st.integers(0, 1000)
        ),
        max_size=20,
    ),
    st.integers(0, 20),
    st.floats(0, 0.9),
)
def test_all_calls_are_laid_out(rows: list[tuple[str, int, int, int]], seed: int, missing: float) -> None:
    workload = calls(("bcast", 3, 3, 1), *rows)
    cube = synthetic_cube(4, 6, 3, seed, missing=missing)
    weights = weights_for(workload, cube)
    total = workload.loc[workload["collective"] == "bcast", "calls"].sum()
    assert weights.sum() == weights.attrs["calls"] == total
    assert sum(weights.attrs[name] for name in ("exact", "moved", "beyond")) == total
    others = without_results(workload, ["bcast"])
    assert sum(others.values()) + total == workload["calls"].sum()


def test_the_weights_weigh_penalties() -> None:
    cube = cube_of([[[2.0, 3.0]], [[1.0, 1.0]]], [4], [8, 16])
    decision = DecisionFunction("bcast", methods_of(cube), Leaf(0))
    workload = calls(("bcast", 4, 8, 3), ("bcast", 4, 16, 1), ("scan", 4, 8, 2))
    weights = weights_for(workload, cube)
    assert summarise(penalty(cube, decision, weights=weights)).mean == 125
    assert Problem.of(cube, weights=weights).summary(decision).mean == 125
    problem = weighed(Problem.of(cube), workload)
    assert problem.summary(decision).mean == 125
    assert problem.provenance["workload"]["without_results"] == {"scan": 2}
    assert problem.provenance["workload"]["calls"] == 4


def test_processes_per_node_are_told_apart_where_they_are_told() -> None:
    cube = cube_of(np.ones((1, 1, 2, 2)), [4], [8, 16])
    columns = "collective comm_size message_size calls ppn"
    workload = calls(("bcast", 4, 8, 3, 1), ("bcast", 4, 8, 4, 2), ("bcast", 4, 16, 5, 0), columns=columns)
    first, second = (weights_for(workload, cube, ppn=ppn) for ppn in (1, 2))
    assert first.values.tolist() == [[3, 5]]
    assert second.values.tolist() == [[4, 5]]
    assert first.attrs["other_ppn"] == 4
    problem = weighed(Problem.of(cube, ppn="all"), workload)
    assert [np.asarray(part.weights).tolist() for part in problem.slices] == [[[3, 5]], [[4, 5]]]
    # Each call once, also one that weighs in both tables; none is left out.
    facts = problem.provenance["workload"]
    assert (facts["calls"], facts["exact"], facts["other_ppn"]) == (12, 12, 0)
    assert in_words(facts) == ["Sizes are weighed by 12 calls of a workload: 12 at measured sizes"]
    others = calls(*workload.to_numpy().tolist(), ("bcast", 4, 8, 7, 16), ("scan", 4, 8, 1, 1), columns=columns)
    assert in_words(weighed(Problem.of(cube, ppn="all"), others).provenance["workload"]) == [
        "Sizes are weighed by 12 calls of a workload: 12 at measured sizes, 7 at other processes per node, not counted",
        "Its calls of scan weigh nothing here",
    ]
    facts = weighed(Problem.of(cube, ppn=1), others).provenance["workload"]
    assert (facts["calls"], facts["other_ppn"]) == (8, 11)


def test_where_the_calls_of_a_workload_count_is_said_in_words() -> None:
    cube = cube_of([[[1.0, NAN], [1.0, 1.0]]], [4, 16], [64, 1024])
    rows = [("bcast", 4, 64, 1000), ("bcast", 16, 65, 2), ("bcast", 4, 2000, 3)]
    (words,) = in_words(weighed(Problem.of(cube), calls(*rows)).provenance["workload"])
    assert words == (
        "Sizes are weighed by 1,005 calls of a workload: 1,000 at measured sizes, 2 between them, counted at the "
        "nearest, 3 beyond them, counted at their border, 3 of all these at cells where nothing is measured, which no "
        "penalty knows"
    )


def test_several_collectives_are_weighed_each_by_its_calls() -> None:
    cube = cube_of(np.ones((1, 1, 2)), [4], [8, 16])
    problem = Problem.of({"bcast": cube, "reduce": cube.assign_attrs(collective="reduce")})
    weighted = weighed(problem, calls(("reduce", 4, 16, 2), ("scan", 4, 16, 9)))
    assert [np.asarray(part.weights).tolist() for part in weighted.slices] == [[[0, 0]], [[0, 2]]]
    assert weighted.provenance["workload"]["without_results"] == {"scan": 9}
    with pytest.raises(DecisionError, match="does not call reduce, only scan"):
        weighed(problem, calls(("scan", 4, 16, 9)))


@pytest.mark.parametrize(
    ("workload", "text"),
    [
        (calls(("broadcast", 4, 8, 1)), "does not call bcast, only broadcast"),
        (calls(("bcasts", 4, 8, 1)), "did you mean bcasts"),
        (calls(("bcast", 4, 8, 0)), "no call of bcast"),
        (calls(), "does not call bcast, only nothing"),
        (calls(("bcast", 4, 8, -1)), "finite and 0 or more"),
        (calls(("bcast", 4, 8), columns="collective comm_size message_size"), "has no column calls"),
    ],
)
def test_a_workload_that_says_nothing_of_it_is_refused(workload: pd.DataFrame, text: str) -> None:
    with pytest.raises(DecisionError, match=text):
        weights_for(workload, synthetic_cube(2, 2, 2, 0))


def test_where_nothing_is_measured_there_is_nowhere_to_go() -> None:
    cube = synthetic_cube(2, 2, 2, 0)
    with pytest.raises(DecisionError, match="nothing is measured"):
        weights_for(calls(("bcast", 2, 2, 1)), cube.assign(time=cube["time"] * NAN))
