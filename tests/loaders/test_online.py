"""Traces of online tuning: one time for each call, from the files of all processes."""

import dataclasses
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.online.table import default_table
from loaders import LoadError, open_results, scan
from loaders.online import DATA_NAME, METRICS, read_data, run_of, totals_of, write_data
from loaders.source import Source
from tests.online.traces import write_trace

TABLE = default_table("5.0")
BCAST = list(TABLE.methods).index("bcast")
CHAIN = next(n for n, m in enumerate(TABLE.methods["bcast"], 1) if m.label == "chain 1KiB fan_out=4")


@pytest.mark.parametrize("name", ["run", "mode", "nodes", "time"])
def test_a_data_set_that_lacks_a_column_is_none(tmp_path: Path, name: str) -> None:
    calls = run_of(Source(write_trace(tmp_path, "one", 0, [{}], TABLE)))[1]
    calls = calls.assign(run="one", mode="tuning", iteration=1)
    write_data(tmp_path / DATA_NAME, calls, TABLE.listed, TABLE.digest)
    assert read_data(tmp_path / DATA_NAME)[0].equals(calls)
    write_data(tmp_path / DATA_NAME, calls.drop(columns=name), TABLE.listed, TABLE.digest)
    with pytest.raises(LoadError, match="is Parquet, but no data set of online tuning"):
        read_data(tmp_path / DATA_NAME)


def test_the_time_of_a_call_is_the_longest_of_its_processes(tmp_path: Path) -> None:
    write_trace(tmp_path, "one", 0, [{"end": 1.5}, {"end": 1.1}], TABLE)
    write_trace(tmp_path, "one", 1, [{"start": 5, "end": 5.25}, {"start": 5, "end": 5.75}], TABLE)
    cube = open_results(tmp_path)["allreduce"].to_dataset()
    assert sorted(cube["sample"].values.ravel().tolist()) == pytest.approx([0.5, 0.75])
    assert cube["method"].values.tolist() == [TABLE.methods["allreduce"][0].label]
    assert (cube["comm_size"].item(), cube["message_size"].item(), cube.attrs["ppn"]) == (4, 64, 2)
    assert cube.attrs["library"] == "Open MPI"


def test_other_times_can_be_asked_for(tmp_path: Path) -> None:
    file = write_trace(tmp_path, "one", 0, [{"start": 1.0, "end": 1.5}], TABLE)
    write_trace(tmp_path, "one", 1, [{"start": 1.25, "end": 1.5}], TABLE)
    times = {metric: run_of(Source(file), metric)[1]["time"].item() for metric in METRICS}
    assert times == {"max": 0.5, "mean": 0.375, "root": 0.5, "makespan": 0.5}


def test_parameters_make_methods_and_0_is_the_library_s_own_decision(tmp_path: Path) -> None:
    calls = [{"collective": BCAST, "alg": CHAIN}, {"collective": BCAST, "alg": 0}]
    write_trace(tmp_path, "one", 0, calls, TABLE)
    cube = open_results(tmp_path)["bcast"].to_dataset()
    assert cube["method"].values.tolist() == ["default", "chain 1KiB fan_out=4"]


def test_records_may_hold_the_byte_that_ends_the_header(tmp_path: Path) -> None:
    write_trace(tmp_path, "one", 0, [{"message_size": 10}], TABLE)
    assert open_results(tmp_path)["allreduce"]["message_size"].item() == 10


def test_processes_per_node_are_an_axis(tmp_path: Path) -> None:
    write_trace(tmp_path, "one", 0, [{"nodes": 4, "ppn": 1}, {"nodes": 2, "ppn": 2}], TABLE)
    assert open_results(tmp_path)["allreduce"].sizes["ppn"] == 2


def test_what_cannot_be_used_is_counted_and_said(tmp_path: Path) -> None:
    good = [{"call": 0}, {"call": 1}]
    bad = [{"call": 2, "alg": 99}, {"call": 3, "collective": 9}, {"call": 4, "end": 0.5}]
    write_trace(tmp_path, "one", 0, [*good, *bad, {"call": 5, "alg": 1}, {"call": 6}], TABLE)
    file = write_trace(tmp_path, "one", 1, [*good, {"call": 5, "alg": 2}], TABLE)
    file.write_bytes(file.read_bytes() + b"torn")
    report = next(each for each in scan(tmp_path) if each["rows"])
    assert report["rows"] == 2
    assert report["reasons"] == {
        "the last record of a process is cut off": 1,
        "a record is damaged: no such method, or sizes or times that cannot be": 3,
        "the processes of a call tell different methods or sizes": 1,
        "not all processes of a call told it": 1,
    }


def test_times_that_cannot_be_are_counted(tmp_path: Path) -> None:
    late = [{"end": 1e200}, {"start": 1e10, "end": 1e10 + 1}, {"start": -1.0}, {"start": np.nan}]
    file = write_trace(tmp_path, "one", 0, [{}, *late, {"end": 9.0}], TABLE)
    read = Source(file)
    assert run_of(read)[1]["time"].tolist() == [0.5, 8.0]
    assert read.skipped == 4
    # No call takes longer than the run.
    totals_of(tmp_path, "one").write_text('{"seconds": 7.0}')
    assert run_of(Source(file))[1]["time"].tolist() == [0.5]
    for damaged in ("{", "[]", '{"seconds": "x"}', '{"seconds": NaN}', '{"seconds": -1}'):
        totals_of(tmp_path, "one").write_text(damaged)
        assert len(run_of(Source(file))[1]) == 2


def test_ranks_without_a_usable_trace_are_counted(tmp_path: Path) -> None:
    file = write_trace(tmp_path, "one", 0, [{}], TABLE)
    (tmp_path / "one.2.trace").write_bytes(b"")
    write_trace(tmp_path, "one", 3, [], TABLE)
    file.write_bytes(file.read_bytes().replace(b'"ranks": 2', b'"ranks": 9'))
    read = Source(file)
    header, _ = run_of(read)
    assert (header["ranks"], header["unusable"]) == (9, {"missing": 6, "damaged": 1, "empty": 1})
    assert "8 of 9 (6 missing, 1 damaged, 1 empty); times are those of the others" in read.warnings[0]
    unused = Source(write_trace(tmp_path, "two", 1, [], TABLE))
    assert len(run_of(unused)[1]) == 0
    assert unused.warnings == ["ranks without a trace that can be used: 2 of 2 (1 missing, 1 empty)"]


def test_a_simulated_run_is_one_trace(tmp_path: Path) -> None:
    read = Source(write_trace(tmp_path, "one", 0, [{}], TABLE, simulated=True))
    assert (run_of(read)[0]["unusable"]["missing"], read.warnings) == (0, [])


def test_a_collective_that_the_header_has_not_is_counted_also_where_it_has_a_single_one(tmp_path: Path) -> None:
    table = dataclasses.replace(TABLE, methods={"bcast": TABLE.methods["bcast"]})
    write_trace(tmp_path, "one", 0, [{}, {"collective": 1}], table)
    (report,) = scan(tmp_path)
    assert (report["rows"], report["skipped"]) == (1, 1)


def test_a_damaged_file_of_a_run_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    write_trace(tmp_path, "one", 0, [{}], TABLE)
    (tmp_path / "one.1.trace").write_bytes(b'{"colltune_trace": 1, "run": broken\n')
    results = open_results(tmp_path)
    assert any("one.1.trace" in note and "damaged" in note for note in json.loads(results.attrs["notes"]))
    (tmp_path / "one.0.trace").unlink()
    with pytest.raises(LoadError, match="damaged"):
        open_results(tmp_path / "one.1.trace")
    (tmp_path / "one.0.trace").write_bytes((tmp_path / "one.1.trace").read_bytes())
    with pytest.raises(LoadError, match="none of the traces of this run can be read"):
        open_results(tmp_path / "one.0.trace")


@given(st.data())
def test_a_trace_damaged_anywhere_is_read_or_refused(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        file = write_trace(Path(name), "one", 0, [{"call": n} for n in range(20)], TABLE)
        content = bytearray(file.read_bytes())
        for _ in range(data.draw(st.integers(1, 8))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        file.write_bytes(content[: data.draw(st.integers(1, len(content)))])
        (report,) = scan(file)
        assert report["error"] or report["rows"] <= 20
