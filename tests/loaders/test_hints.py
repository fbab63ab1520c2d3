"""Hints: values, patterns, contradictions and gaps."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loaders import LoadError, MissingHintError, open_results, scan
from loaders.facets import values
from loaders.hints import Hints, compile_pattern
from loaders.sizes import parse_size
from tests.files import skampi

ROW = '# SKaMPI Version 6.0.0\n# begin result "MPI_Bcast-nodes-count"\nnodes= 2 count= 1 1 105.4 4.0 5 9.9 105.4\n'


@pytest.mark.parametrize(
    ("text", "size"), [("8192", 8192), ("8K", 8192), ("8KiB", 8192), ("1 MiB", 1 << 20), ("0", 0), ("2g", 2 << 30)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@given(st.text(max_size=12))
def test_sizes_are_read_or_refused(text: str) -> None:
    try:
        assert parse_size(text) >= 0
    except ValueError as error:
        if "not a size" not in str(error):
            raise


def test_a_pattern_reads_the_path_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "grig" / "bcast-pipeline-8K.out"
    file.parent.mkdir()
    file.write_text(ROW)
    cube = open_results(file, pattern="{system}/{collective}-{algorithm}-{segment_size}.out")["bcast"].to_dataset()
    assert cube["method"].values.tolist() == ["pipeline 8KiB"]
    assert cube.attrs["system"] == "grig"


def test_the_project_s_own_file_names_need_no_pattern(tmp_path: Path) -> None:
    (tmp_path / "bcast__binary_tree__seg1024.sko").write_text(ROW)
    assert open_results(tmp_path)["bcast"]["method"].values.tolist() == ["binary_tree 1KiB"]


def test_placeholders_may_hold_underscores_and_star_skips_a_part() -> None:
    match = compile_pattern("{collective}__{algorithm}__*.sko").search("/x/reduce_scatter__recursive_halving__np4.sko")
    assert match is not None
    assert match.groupdict() == {"collective": "reduce_scatter", "algorithm": "recursive_halving"}


@pytest.mark.parametrize("pattern", ["{colective}.sko", "{algorithm}_{algorithm}.sko"])
def test_patterns_with_wrong_names_are_refused(pattern: str) -> None:
    with pytest.raises(LoadError, match=r"possible are|twice"):
        Hints({"pattern": pattern})


def test_a_missing_answer_names_the_hint_to_give(tmp_path: Path) -> None:
    (tmp_path / "a.sko").write_text(ROW)
    with pytest.raises(MissingHintError, match=r"a\.sko: the file does not say algorithm") as caught:
        open_results(tmp_path / "a.sko")
    assert caught.value.hints == ("algorithm",)


@pytest.mark.parametrize("hints", [{"comm_size": 4}, {"collective": "reduce"}])
def test_a_hint_that_contradicts_the_file_is_an_error(tmp_path: Path, hints: dict[str, object]) -> None:
    (tmp_path / "a.sko").write_text(ROW)
    with pytest.raises(LoadError, match=r"the hint says .* the file says"):
        open_results(tmp_path / "a.sko", algorithm="x", **hints)


def test_unknown_hints_are_refused_with_the_possible_names(tmp_path: Path) -> None:
    (tmp_path / "a.sko").write_text(ROW)
    with pytest.raises(LoadError, match=r"no hint 'algoritm'; possible are collective, algorithm"):
        open_results(tmp_path / "a.sko", algoritm="x")


def test_a_hint_of_the_wrong_type_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.sko").write_text(ROW)
    for value in ("many", 0, -3):
        with pytest.raises(LoadError, match="comm_size"):
            open_results(tmp_path / "a.sko", algorithm="x", comm_size=value)


def test_the_algorithm_of_the_collectives_is_not_that_of_a_ping_pong(tmp_path: Path) -> None:
    head = "#bytes #repetitions"
    (tmp_path / "a.out").write_text(
        f"# Benchmarking PingPong\n# #processes = 2\n  {head} t[usec] Mbytes/sec\n  8 1000 1.50 5.33\n"
    )
    (tmp_path / "b.out").write_text(
        f"# Benchmarking Bcast\n# #processes = 4\n  {head} t_min[usec] t_max[usec] t_avg[usec]\n  8 1000 1 2 1.5\n"
    )
    results = open_results(tmp_path, algorithm="binomial")
    assert results["bcast"]["method"].values.tolist() == ["binomial"]
    assert results["pt2pt"]["method"].values.tolist() == ["pingpong"]


def test_a_contradiction_shows_plain_numbers(tmp_path: Path) -> None:
    file = skampi(tmp_path / "bcast__linear__seg0.sko", (2, 1, 5.0, 0, 5))
    with pytest.raises(LoadError, match=r"the hint says comm_size 16, the file says 2$"):
        open_results(file, comm_size=16)


@pytest.mark.parametrize("name", ["a/b", "..", "", "b cast!"])
def test_a_collective_that_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    file = skampi(tmp_path / "bcast__linear__seg0.sko", (2, 1, 5.0, 0, 5))
    with pytest.raises(LoadError, match="no collective is called"):
        open_results(file, collective=name)


def test_a_collective_is_known_by_its_other_names(tmp_path: Path) -> None:
    file = skampi(tmp_path / "bcast__linear__seg0.sko", (2, 1, 5.0, 0, 5))
    assert list(open_results(file, collective="MPI_Bcast").children) == ["bcast"]


def test_names_in_braces_that_nothing_separates_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"nothing between \{system\} and \{algorithm\}"):
        open_results(tmp_path, pattern="{system}{algorithm}_{comm_size}.out")
    joined = compile_pattern("{collective}{algorithm}_{comm_size}.out")
    assert joined.search("bcast3_16.out")
    assert not joined.search("best3_16.out")
    assert compile_pattern("{algorithm}{comm_size}.out").search("ring16.out")
    with pytest.raises(LoadError, match=r"no collective is called 'b'.*bcast or barrier"):
        Hints({"collective": "b"})


def test_a_collective_that_is_known_goes_before_a_part_of_it() -> None:
    match = compile_pattern("{collective}_{algorithm}_{comm_size}.csv").search("MPI_Reduce_scatter_ring_8.csv")
    assert match is not None
    assert match.groupdict() == {"collective": "MPI_Reduce_scatter", "algorithm": "ring", "comm_size": "8"}
    match = compile_pattern("{collective}_{algorithm}_{comm_size}.csv").search("reduce_scatter_8.csv")
    assert match is not None
    assert match["algorithm"] == "scatter"


def test_a_device_may_be_spelled_otherwise_than_in_the_file(tmp_path: Path) -> None:
    for device, title in (("host", "MPI"), ("cuda", "MPI-CUDA")):
        head = f"# OSU {title} Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n"
        (tmp_path / f"{device}.txt").write_text(f"{head}8   9.5\n")
    hints = {"pattern": "{device}.txt", "algorithm": "default", "comm_size": 4}
    assert values(scan(tmp_path, **hints)) == {"device": ["CUDA", "host"]}
    assert open_results(tmp_path, **hints, select="device=cuda")["bcast"].attrs["device"] == "CUDA"


def test_more_processes_than_nodes_have_room_for_are_said(tmp_path: Path) -> None:
    head = "collective,algorithm,nodes,ppn,comm_size,message_size,time_s"
    file = tmp_path / "a.csv"
    file.write_text(f"{head}\nbcast,linear,2,4,8,64,1e-6\nbcast,linear,2,4,16,64,1e-6\n")
    assert "more processes than nodes times processes per node" in open_results(file).attrs["notes"]
    # Fewer are those of a communicator within.
    file.write_text(f"{head}\nbcast,linear,2,4,8,64,1e-6\nbcast,linear,2,4,6,64,1e-6\n")
    assert "more processes" not in open_results(file).attrs["notes"]


@pytest.mark.parametrize("value", [2.5, True, float("inf"), float("nan")])
def test_what_is_no_whole_number_is_no_hint_of_one(value: float) -> None:
    with pytest.raises(LoadError, match="comm_size must be a whole number"):
        Hints({"comm_size": value})


@pytest.mark.parametrize(
    "table",
    [
        "# Size       Avg Latency(us)\n4096   9.50\n",
        "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n4096 1000 1.00 9.50 2.00\n",
        "# Size [B]        Latency [us]\n      4096                9.50\n",
        "#bytes,#repetitions,t_min[usec],t_max[usec],t_avg[usec]\n4096,1000,1.0,9.5,2.0\n",
    ],
)
def test_totals_of_a_collective_that_is_hinted_become_blocks_too(tmp_path: Path, table: str) -> None:
    (tmp_path / "a.txt").write_text(table)
    for collective, size in (("reduce_scatter", 1024), ("allgather", 4096)):
        cube = open_results(tmp_path / "a.txt", collective=collective, algorithm="ring", comm_size=4)[collective]
        assert (cube["message_size"].item(), cube["time"].item()) == (size, pytest.approx(9.5e-6))


@pytest.mark.parametrize(
    ("hints", "words"),
    [
        ({"select": ["device=host"]}, "the hint select must be FACET=VALUE"),
        ({"select": {1: "host"}}, "there is no facet '1'"),
        ({"join": 5}, "the hint join must be facets, not 5"),
        ({"join": [1]}, "there is no facet '1'"),
        ({"algorithm": " "}, "the hint algorithm must be a name"),
        ({"nodes": 0}, "the hint nodes must be at least 1"),
    ],
)
def test_hints_of_a_form_that_means_nothing_are_one_line_of_error(hints: dict[str, object], words: str) -> None:
    with pytest.raises(LoadError, match=words):
        Hints(hints)


def test_nodes_that_no_row_fits_are_said_not_to_be_heeded(tmp_path: Path) -> None:
    (tmp_path / "a.sko").write_text(ROW)
    results = open_results(tmp_path / "a.sko", algorithm="x", nodes=3)
    assert "no row has processes that the nodes share evenly" in results.attrs["notes"]


@pytest.mark.parametrize("hint", [{"statistic": "min"}, {"columns": {"lat": "time_us"}}])
def test_a_hint_that_a_format_has_no_use_for_is_said_not_to_be_heeded(tmp_path: Path, hint: dict[str, Any]) -> None:
    file = tmp_path / "bcast__linear__seg0.sko"
    file.write_text(ROW)
    said = f"the hint {next(iter(hint))} means nothing to this format (skampi); it is not heeded"
    assert said in open_results(file, **hint).attrs["notes"]
    assert "not heeded" not in open_results(file).attrs["notes"]
