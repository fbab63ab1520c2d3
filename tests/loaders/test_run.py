"""The run format: appended to while a campaign runs, readable after any crash."""

import json
from pathlib import Path

import numpy as np
import pytest

from dashboard.decisions.measured.trust import doubtful
from loaders import LoadError, RunWriter, open_results, scan
from loaders.errors import MissingHintError
from loaders.facet_names import DOUBTFUL, LAUNCHES
from tests.files import run_file

POINT = {
    "collective": "bcast",
    "algorithm": "pipeline",
    "segment_size": 8192,
    "comm_size": 8,
    "message_size": 65536,
    "samples": [3e-3, 1e-3, 2e-3],
}


def test_samples_are_kept_and_reduced_to_their_median(tmp_path: Path) -> None:
    small = {**POINT, "message_size": 1, "samples": [5e-6]}
    run = run_file(tmp_path / "a.run", POINT, small, system="grig", library="Open MPI")
    cube = open_results(run)["bcast"].to_dataset()
    assert cube["method"].values.tolist() == ["pipeline 8KiB"]
    assert cube.attrs["system"] == "grig"
    cell = cube.isel(method=0).sel(comm_size=8, message_size=65536)
    assert float(cell["time"]) == 2e-3
    assert float(cell["time_std"]) == pytest.approx(np.std(POINT["samples"], ddof=1))
    assert cell["sample"].values.tolist() == POINT["samples"]
    assert cube["sample"].sel(message_size=1).values.ravel().tolist()[0] == 5e-6


def test_what_a_header_says_of_doubts_and_launches_is_not_believed(tmp_path: Path) -> None:
    run = run_file(tmp_path / "a.run", POINT, **{"system": "grig", DOUBTFUL: "?", LAUNCHES: "[7]"})
    assert {DOUBTFUL, LAUNCHES}.isdisjoint(open_results(run)["bcast"].attrs)


def test_a_crash_loses_only_the_record_being_written(tmp_path: Path) -> None:
    path = run_file(tmp_path / "a.run", POINT, {**POINT, "comm_size": 16})
    content = path.read_bytes()
    for cut in range(len(content) - 60, len(content) - 1):
        path.write_bytes(content[:cut])
        run_file(path, {**POINT, "comm_size": 4})
        cube = open_results(path)["bcast"]
        assert cube["comm_size"].values.tolist() == [4, 8]
        (report,) = scan(path)
        assert (report["rows"], report["skipped"]) == (2, 1)


def test_a_point_of_very_many_repetitions_is_read(tmp_path: Path) -> None:
    samples = [1e-5 + n * 1e-12 for n in range(60_000)]
    run = run_file(tmp_path / "a.run", {**POINT, "samples": samples})
    assert open_results(run)["bcast"]["sample"].values.ravel().tolist() == samples


def test_a_header_that_a_crash_cut_off_is_written_anew(tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    run.write_text('{"colltune_run": 1, "attrs": {"sys')
    run_file(run, POINT, system="grig")
    assert run.read_text().startswith('{"colltune_run": 1, "attrs": {"system": "grig"}}\n')
    assert open_results(run)["bcast"].attrs["system"] == "grig"


def test_sums_and_products_in_one_file_are_not_averaged(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    for operation, time in (("sum", 1e-3), ("prod", 5e-3)):
        run_file(path, {**POINT, "collective": "reduce", "samples": [time] * 3}, operation=operation)
    with pytest.raises(MissingHintError, match=r"operation of reduce is 'sum' .* and 'prod'"):
        open_results(path)
    assert open_results(path, select="operation=prod")["reduce"]["time"].item() == 5e-3


def test_runs_of_two_systems_in_one_file_are_not_averaged(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    graph = {"digest": "d", "programs": {"0": "p"}}
    for system, library, factor in (("A", "Open MPI", 1), ("B", "MPICH", 100)):
        point = {**POINT, "samples": [factor * 1e-3] * 3, "graph": graph}
        attrs = {"system": system, "library": library, "benchmark": "colltune"}
        run_file(path, point, {**point, "algorithm": system}, **attrs)
    # Resumed by who says less: it is as before.
    run_file(path, {**POINT, "message_size": 4})
    with pytest.raises(MissingHintError, match=r"system of bcast is 'A' .* and 'B'"):
        open_results(path)
    for system, library, sizes, time in (("A", "Open MPI", [65536], 1e-3), ("B", "MPICH", [4, 65536], 0.1)):
        cube = open_results(path, select=f"system={system}")["bcast"]
        assert (cube.attrs["system"], cube.attrs["library"]) == (system, library)
        assert cube["message_size"].values.tolist() == sizes
        assert cube["time"].sel({"method": "pipeline 8KiB", "message_size": 65536}).item() == pytest.approx(time)


def test_a_run_that_was_resumed_on_another_node_is_one(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    for node, sizes in (("node01", (4, 8)), ("node07", (8, 16))):
        with RunWriter(path, {"system": f"{node} (x86_64)", "network": "2 nodes"}) as run:
            for size in sizes:
                again = {"again": "late"} if (node, size) == ("node07", 8) else {}
                time = 1e-3 if again else 5e-3
                run.append({**POINT, "comm_size": size, "samples": [time] * 3, "launch": 1, **again})
    cube = open_results(path)["bcast"]
    assert cube["comm_size"].values.tolist() == [4, 8, 16]
    assert cube["time"].values.ravel().tolist() == [5e-3, 1e-3, 5e-3]
    assert cube.attrs["system"] == "node07 (x86_64)"


def test_the_least_that_a_point_may_hold_is_kept(tmp_path: Path) -> None:
    least = {"segment_size": 0, "comm_size": 1, "message_size": 0, "ppn": 1, "library_id": 0, "repetitions": 0}
    point = {"collective": "barrier", "algorithm": "linear", **least, "time": 1e-6, "time_std": 0}
    cube = open_results(run_file(tmp_path / "a.run", point))["barrier"]
    assert (cube["time"].item(), cube["time_std"].item(), cube["message_size"].item()) == (1e-6, 0, 0)


def test_samples_and_means_stand_beside_each_other_in_a_run(tmp_path: Path) -> None:
    mean = {**{name: value for name, value in POINT.items() if name != "samples"}, "time": 5e-3, "repetitions": 7}
    points = ({**point, "message_size": message_size} for message_size, point in enumerate((POINT, POINT, mean)))
    cube = open_results(run_file(tmp_path / "a.run", *points))["bcast"]
    assert cube["time"].values.ravel().tolist() == [2e-3, 2e-3, 5e-3]
    assert cube["repetitions"].values.ravel().tolist() == [3, 3, 7]


def test_a_launch_that_was_measured_again_counts_from_then_on(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "a.run", {}) as run:
        run.append({**POINT, "launch": 1, "samples": [9.0], "stolen": 1})
        run.append({**POINT, "launch": 1, "samples": [5e-3], "segment_size": 1024})
        run.append({**POINT, "launch": 2})
        run.append({**POINT, "launch": 1, "samples": [4e-3], "again": "7 starts were late"})
        for comm_size, late in ((4, 3.5), (16, 12)):
            run.append({**POINT, "launch": 1, "comm_size": comm_size, "samples": [9.0]})
            again = {"samples": POINT["samples"], "again": f"{late} starts were late"}
            run.append({**POINT, "launch": 1, "comm_size": comm_size, **again})
    (report,) = scan(tmp_path / "a.run")
    # Points of one fault are counted together, whatever its figures.
    assert (report["reasons"], report["notes"]) == ({"measured again: … starts were late": 3}, [])
    cube = open_results(tmp_path / "a.run")["bcast"]
    here = cube["sample"].sel(comm_size=POINT["comm_size"]).values
    assert sorted(here[np.isfinite(here)].tolist()) == [1e-3, 2e-3, 3e-3, 4e-3, 5e-3]
    assert DOUBTFUL not in cube.attrs


def test_points_whose_launches_are_more_than_three_times_apart_are_doubtful(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "a.run", {}) as run:
        for message_size, second in ((8, 2.9e-3), (16, 3.25e-3)):
            for launch, time in ((1, 1e-3), (2, second)):
                run.append({**POINT, "message_size": message_size, "launch": launch, "samples": [time] * 3})
    (doubt,) = json.loads(open_results(tmp_path / "a.run")["bcast"].attrs[DOUBTFUL])
    assert (doubt["method"], doubt["comm_size"], doubt["message_size"]) == ("pipeline 8KiB", 8, 16)
    assert "the longest takes 3.2 times the shortest" in doubt["reason"]


def test_what_is_doubtful_in_many_files_is_known_of_all_of_them(tmp_path: Path) -> None:
    for number in range(1, 9):
        run_file(tmp_path / f"{number}.run", {**POINT, "comm_size": number + 1, "late": 7})
    cube = open_results(sorted(tmp_path.glob("*.run")))["bcast"].to_dataset()
    assert [each["comm_size"] for each in json.loads(cube.attrs[DOUBTFUL])] == [*range(2, 10)]
    assert len(doubtful(cube)) == 8
    # As they were saved before.
    assert len(doubtful(cube.assign_attrs({DOUBTFUL: cube.attrs[DOUBTFUL].replace("}, {", "}]; [{")}))) == 8


def test_what_is_known_of_the_cores_is_that_of_the_last_measurement(tmp_path: Path) -> None:
    waited = {"rank": 3, "node": "n1", "seconds": 0.5, "of": 2.0}
    run = run_file(
        tmp_path / "a.run",
        {**POINT, "stolen": 2, "waited": {**waited, "rank": 0}},
        {**POINT, "stolen": 3, "waited": waited, "again": "a process waited"},
        {**POINT, "message_size": 8, "stolen": 2, "waited": waited},
        {**POINT, "message_size": 16, "stolen": 1, "waited": {**waited, "rank": 2}, "crowded": True},
    )
    lost, crowded = scan(run)[0]["notes"]
    assert lost.endswith(": 6, points with any: 3, most often for rank 3 on n1")
    assert crowded.endswith("which wait for each other: 1")
    (doubt,) = json.loads(open_results(run)["bcast"].attrs[DOUBTFUL])
    assert doubt["message_size"] == 65536
    assert "rank 3 on n1 waited for its core for 25 %" in doubt["reason"]


def test_refused_methods_are_recorded_and_not_timed(tmp_path: Path) -> None:
    error = {"collective": "bcast", "algorithm": "knomial", "error": "MPI_ERR_ARG"}
    (report,) = scan(run_file(tmp_path / "a.run", POINT, error))
    assert report["reasons"] == {"not timed: MPI_ERR_ARG": 1}


def test_parameters_make_methods_of_their_own(tmp_path: Path) -> None:
    points = ({**POINT, "algorithm": "chain", "parameters": {"fanout": fanout}} for fanout in (2, 4))
    cube = open_results(run_file(tmp_path / "a.run", *points))["bcast"].to_dataset()
    assert cube["method"].values.tolist() == ["chain 8KiB fanout=2", "chain 8KiB fanout=4"]
    assert cube["fanout"].values.tolist() == [2, 4]


@pytest.mark.parametrize(
    "fault", [{"samples": []}, {"samples": [0.0]}, {"samples": [float("nan")]}, {"comm_size": -1}, {"collective": ""}]
)
def test_the_writer_refuses_what_the_reader_would(tmp_path: Path, fault: dict[str, object]) -> None:
    with RunWriter(tmp_path / "a.run", {}) as run, pytest.raises(ValueError, match="cannot take"):
        run.append({**POINT, **fault})


def test_a_run_without_points_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text(json.dumps({"colltune_run": 1, "attrs": {}}) + "\n")
    with pytest.raises(LoadError, match="no finished point"):
        open_results(tmp_path / "a.run")


def test_methods_keep_the_order_of_the_file_whatever_else_the_points_hold(tmp_path: Path) -> None:
    size = {"collective": "bcast", "comm_size": 2, "message_size": 8}
    run = run_file(
        tmp_path / "a.jsonl",
        {**size, "algorithm": "zeta", "samples": [1e-5, 2e-5]},
        {**size, "algorithm": "beta", "parameters": {"fanout": 4}, "time": 3e-5},
        {**size, "algorithm": "zeta", "message_size": 16, "samples": [1e-5]},
        {**size, "algorithm": "alpha", "library_id": 6, "samples": [1e-5]},
        {**size, "algorithm": "beta", "samples": [1e-5]},
    )
    cube = open_results(run)["bcast"]
    assert cube["method"].values.tolist() == ["zeta", "beta fanout=4", "alpha", "beta"]
    assert cube["repetitions"].values[0].ravel().tolist() == [2, 1]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"collective": "../bcast"}, "'collective' is not a name"),
        ({"collective": "a/b"}, "'collective' is not a name"),
        ({"parameters": {"fanout": [1, 2]}}, "not an object of text and numbers"),
        ({"parameters": {"method": "x"}}, "holds 'method'"),
        ({"parameters": {"comm_size": 8}}, "holds 'comm_size'"),
    ],
)
def test_points_that_no_cube_can_hold_are_skipped(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    good = {"collective": "bcast", "algorithm": "a", "comm_size": 2, "message_size": 8, "samples": [1e-5]}
    lines = [json.dumps(line) for line in ({"colltune_run": 1, "attrs": {}}, good, {**good, **change})]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    (report,) = scan(tmp_path / "a.jsonl")
    assert (report["rows"], report["skipped"]) == (1, 1)
    assert reason in report["skips"][0]["reason"]
    assert list(open_results(tmp_path / "a.jsonl").children) == ["bcast"]


def test_a_line_that_is_nested_too_deeply_is_skipped(tmp_path: Path) -> None:
    run = run_file(tmp_path / "a.run", POINT)
    with run.open("a") as stream:
        stream.write('{"graph": ' + "[" * 100_000 + "\n")
    (report,) = scan(run)
    assert (report["rows"], report["reasons"]) == (1, {"not a whole JSON record": 1})


def test_types_of_elements_are_kept_apart_and_a_broadcast_has_none(tmp_path: Path) -> None:
    reduced = {**POINT, "collective": "allreduce"}
    with RunWriter(tmp_path / "a.run", {}) as run:
        run.append(POINT)
        run.append({**reduced, "element_type": "int32"})
        run.append({**reduced, "element_type": "float64", "samples": [1.0]})
        with pytest.raises(ValueError, match="'element_type' is not text"):
            run.append({**reduced, "element_type": 4})
    with pytest.raises(LoadError, match=r"datatype of allreduce is 'int32' .* and 'float64'"):
        open_results(tmp_path / "a.run")
    tree = open_results(tmp_path / "a.run", select="datatype=float64")
    assert float(tree["allreduce"]["time"].max()) == 1.0
    assert float(tree["bcast"]["time"].max()) == 2e-3


def test_campaigns_of_different_types_are_not_averaged_where_they_reduce(tmp_path: Path) -> None:
    for datatype, time in (("float32", 1.0), ("float64", 2.0)):
        reduced = {**POINT, "collective": "reduce", "samples": [time]}
        run_file(tmp_path / f"{datatype}.run", {**POINT, "samples": [3.0]}, reduced, datatype=datatype)
    with pytest.raises(LoadError, match=r"datatype of reduce is 'float32' .* and 'float64'"):
        open_results(tmp_path)
    tree = open_results(tmp_path, select="datatype=float64")
    assert float(tree["reduce"]["time"].max()) == 2.0
    assert int(tree["bcast"]["repetitions"].max()) == 2


def test_numbers_of_numpy_are_as_good_as_those_of_python(tmp_path: Path) -> None:
    samples = np.array(POINT["samples"])
    points = {**POINT, "comm_size": np.int64(4), "samples": samples}, {**POINT, "samples": list(samples)}
    cube = open_results(run_file(tmp_path / "a.run", *points))["bcast"]
    assert cube["comm_size"].values.tolist() == [4, 8]
    assert cube["time"].values.ravel().tolist() == [2e-3, 2e-3]


def test_nothing_is_appended_to_what_is_no_run(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    for text in ("collective,algorithm\nbcast,ring\n", "a line without an end"):
        table.write_text(text)
        with pytest.raises(ValueError, match=r"mine\.csv is no run of colltune"):
            RunWriter(table, {})
        assert table.read_text() == text
