"""Methods that ran as another one are found by their messages, whatever the order of the file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loaders import open_results, save_results
from loaders.doubles import Ran, doubles, ran
from tests.files import run_file

LINEAR = Ran("linear", "L", ("linear",))
PIPELINE = Ran("pipeline", "P", ("tree",))
FELL_BACK = Ran("scatter_allgather", "L", ("scatter_allgather", "linear"))
RAN_ITSELF = Ran("scatter_allgather", "S", ("scatter_allgather", "linear"))


def test_a_method_that_fell_back_is_a_double_of_what_ran() -> None:
    assert doubles([LINEAR, PIPELINE, FELL_BACK]) == {"scatter_allgather": "linear"}
    assert doubles([LINEAR, PIPELINE, RAN_ITSELF]) == {}


def test_equal_messages_of_programs_that_share_nothing_are_no_double() -> None:
    # Alltoall: linear and pairwise send one block from each to each, in different orders.
    assert doubles([Ran("linear", "A", ("linear",)), Ran("pairwise", "A", ("pairwise",))]) == {}


def test_the_library_s_own_decision_is_the_double_of_what_it_chose() -> None:
    assert doubles([Ran("default", "P", ()), LINEAR, PIPELINE]) == {"default": "pipeline"}
    unsure = [Ran("default", "A", ()), Ran("linear", "A", ("linear",)), Ran("pairwise", "A", ("pairwise",))]
    assert doubles(unsure) == {}


def test_the_one_without_parameters_gives_the_name() -> None:
    chain = Ran("chain fan_out=1", "P", ("tree",), plain=False)
    assert doubles([chain, PIPELINE]) == {"chain fan_out=1": "pipeline"}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from("xyz"), max_size=2)), max_size=8))
def test_a_double_is_never_of_a_double(drawn: list[tuple[str, list[str]]]) -> None:
    pairs = doubles([Ran(number, digest, tuple(names)) for number, (digest, names) in enumerate(drawn)])
    assert not set(pairs.values()) & set(pairs)
    assert all(drawn[double][0] == drawn[other][0] for double, other in pairs.items())


@pytest.mark.parametrize(
    "graph", [None, [], {"digest": 3, "programs": []}, {"digest": "a"}, {"digest": "a", "programs": "tree"}]
)
def test_points_without_a_whole_graph_tell_nothing(graph: Any) -> None:
    assert ran("m", {"algorithm": "linear", "graph": graph}) is None


def test_only_the_library_s_own_decision_may_be_any_program() -> None:
    graph = {"digest": "a", "programs": []}
    assert ran("m", {"algorithm": "default", "graph": graph}) == Ran("m", "a", ())
    assert ran("m", {"algorithm": "linear", "graph": graph}) is None


def point(algorithm: str, number: int, time: float, digest: str, *programs: str, **more: Any) -> dict[str, Any]:
    sizes = {"comm_size": 8, "message_size": 4}
    graph = {"digest": digest, "programs": list(programs)}
    record = {"collective": "bcast", "algorithm": algorithm, "library_id": number, "samples": [time, 2 * time]}
    return {**record, **sizes, "graph": graph, **more}


POINTS = [
    # The double is the fastest and comes first in the file.
    point("scatter_allgather", 8, 1e-6, "L", "scatter_allgather", "linear"),
    point("linear", 1, 2e-6, "L", "linear"),
    point("pipeline", 3, 3e-6, "P", "tree"),
    point("scatter_allgather", 8, 1e-6, "S", "scatter_allgather", "linear", message_size=64),
    point("linear", 1, 2e-6, "L", "linear", message_size=64),
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return run_file(tmp_path / "a.jsonl", *POINTS, library="Open MPI")


def test_the_cube_marks_the_cells_of_doubles_and_keeps_their_times(run: Path) -> None:
    cube = open_results(run)["bcast"].to_dataset()
    assert cube["method"].values.tolist() == ["scatter_allgather", "linear", "pipeline"]
    assert cube["double_of"].attrs["methods"] == ["linear"]
    assert cube["double_of"].sel(comm_size=8).values.tolist() == [[0, -1], [-1, -1], [-1, -1]]
    assert float(cube["time"].isel(method=0).sel(comm_size=8, message_size=4)) == pytest.approx(1.5e-6)


@pytest.mark.parametrize("name", ["a.nc", "a.zarr"])
def test_doubles_stay_marked_when_saved_and_when_joined_with_other_files(run: Path, name: str, tmp_path: Path) -> None:
    save_results(open_results(run), tmp_path / name)
    again = open_results(tmp_path / name)["bcast"].to_dataset()
    assert again["double_of"].values.ravel().tolist() == [0, -1, -1, -1, -1, -1]
    other = tmp_path / "b.jsonl"
    lines = [{"colltune_run": 1, "attrs": {}}, {**POINTS[2], "comm_size": 16, "graph": {}}]
    other.write_text("\n".join(map(json.dumps, lines)))
    joined = open_results([tmp_path / name, other])["bcast"].to_dataset()
    marked = joined["double_of"].isel(method=0)
    assert joined["double_of"].attrs["methods"] == ["linear"]
    assert marked.sel(comm_size=8).values.tolist() == [0, -1]
    assert (marked.sel(comm_size=16).values == -1).all()


def test_without_graphs_a_cube_says_nothing_of_doubles(tmp_path: Path) -> None:
    bare = ({name: value for name, value in point.items() if name != "graph"} for point in POINTS)
    cube = open_results(run_file(tmp_path / "a.jsonl", *bare))["bcast"].to_dataset()
    assert "double_of" not in cube
    assert np.isfinite(cube["time"].values).sum() == 5
