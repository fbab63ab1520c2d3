"""``colltune info``: what the files hold."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from loaders import RunWriter, open_results, save_results
from tests.cli.command import Run, following
from tests.cubes import cube_of


def test_info_tells_files_coverage_and_noise(colltune: Run, bcast_files: Sequence[Path]) -> None:
    answer = colltune("info", *bcast_files[:2], "--json").json
    assert [(f["path"], f["format"], f["rows"], f["skipped"]) for f in answer["files"]] == [
        (str(file), "skampi", 209, 0) for file in bcast_files[:2]
    ]
    assert answer["files"][0]["collectives"] == ["bcast"]
    cube = answer["collectives"]["bcast"]
    assert (cube["measured"], cube["cells"]) == (418, 418)
    assert [m["method"] for m in cube["methods"]] == ["binary_tree", "binary_tree 1KiB"]
    assert 0 < cube["noise"]["median"] < cube["noise"]["p90"]


def test_info_tells_what_was_skipped_and_why(colltune: Run, bcast_files: Sequence[Path], tmp_path: Path) -> None:
    garbled = tmp_path / bcast_files[0].name
    lines = bcast_files[0].read_text().splitlines()
    rows = [number for number, line in enumerate(lines) if line.startswith("nodes=")]
    lines[rows[5]] = lines[rows[5]][:20]
    garbled.write_text("\n".join(lines))
    answer = colltune("info", garbled, "--json")
    assert answer.status == 0
    (file,) = answer.json["files"]
    assert (file["rows"], file["skipped"]) == (208, 1)
    assert file["skips"][0]["line"] == rows[5] + 1
    text = colltune("info", garbled).out
    assert f":{rows[5] + 1}" in text
    assert file["skips"][0]["reason"] in text
    said = colltune("map", garbled, "-c", "bcast").err
    assert "note: 1 of 209 rows was skipped" in said


def test_info_of_files_that_need_hints_names_the_hints(colltune: Run, tmp_path: Path) -> None:
    (tmp_path / "osu.txt").write_text(
        "# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n1      6.57\n"
    )
    answer = colltune("info", tmp_path / "osu.txt", "--json")
    assert answer.status == 0
    assert set(answer.json["files"][0]["needs"]) == {"algorithm", "comm_size"}
    assert "algorithm" in answer.err
    with_hints = colltune("info", tmp_path / "osu.txt", "--algorithm", "binomial", "--comm-size", 8, "--json")
    assert with_hints.json["collectives"]["bcast"]["measured"] == 1


def test_a_table_without_message_sizes_is_read_as_the_command_that_is_printed_says(
    colltune: Run, tmp_path: Path
) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("collective,algorithm,np,length,time_us\nbcast,a,4,8,10\n")
    words = following(colltune("info", table).err)
    answer = colltune(*(word.replace("THEIRS", "length") for word in words), "--json")
    assert answer.json["collectives"]["bcast"]["message_size"] == [8]


@pytest.mark.parametrize("names", [("barrier0.csv",), ("barrier_tree.csv", "barrier_linear.csv")])
def test_tables_that_are_named_after_barrier_are_read_as_the_command_that_is_printed_says(
    colltune: Run, tmp_path: Path, names: tuple[str, ...]
) -> None:
    for name in names:
        (tmp_path / name).write_text(f"Algorithm,Processes,Latency(us)\n{name},2,0.5\n{name},4,0.75\n")
    answer = colltune(*following(colltune("info", tmp_path).err), "--json")
    assert answer.json["collectives"]["barrier"]["measured"] == 2 * len(names)


def test_a_file_that_prints_no_message_sizes_and_has_no_columns_is_read_as_the_command_that_is_printed_says(
    colltune: Run, shared: Path
) -> None:
    file = shared / "data" / "samples" / "skampi4" / "ompi-users-2006__alltoall_mpich127.txt"
    answer = colltune(*following(colltune("info", file).err), "--json")
    assert answer.json["collectives"]["alltoall"]["message_size"] == [1024]


def test_info_fails_for_a_named_file_of_no_use(colltune: Run, bcast_files: Sequence[Path], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing measured here\n")
    answer = colltune("info", bcast_files[0], tmp_path / "notes.txt")
    assert answer.status == 2
    assert "notes.txt" in answer.err.splitlines()[-1]


def test_info_of_saved_results_tells_of_the_file_itself(colltune: Run, results: Path) -> None:
    (file,) = colltune("info", results, "--json").json["files"]
    assert (file["path"], file["format"], file["skipped"]) == (str(results), "netcdf", 0)
    assert file["rows"] == sum(int(node["time"].notnull().sum()) for node in open_results(results).children.values())


def test_info_tells_how_far_off_interpolated_times_are(colltune: Run, tmp_path: Path) -> None:
    """Times that double with the size lie on the line between their neighbours; one that does not is off by half."""
    time = np.array([[[1.0, 2.0, 4.0, 8.0], [1.0, 2.0, 8.0, 8.0]]])
    save_results(xr.DataTree.from_dict({"/bcast": cube_of(time, [2, 4], [1, 2, 4, 8])}), tmp_path / "one.nc")
    between = colltune("info", tmp_path / "one.nc", "--between-sizes", "--json").json["between_sizes"]["bcast"]
    assert between["comm_size"] == []
    assert [(row["message_size"], row["cells"]) for row in between["message_size"]] == [(2, 2), (4, 2)]
    assert [round(row["max"]) for row in between["message_size"]] == [41, 50]
    assert "off by" in colltune("info", tmp_path / "one.nc", "--between-sizes").out


def test_info_tells_methods_that_ran_as_others_and_how_much_they_differ(colltune: Run, tmp_path: Path) -> None:
    point = {"collective": "bcast", "comm_size": 8, "message_size": 4}
    with RunWriter(tmp_path / "a.jsonl", {}) as run:
        for algorithm, time, programs in (("linear", 2e-6, ["linear"]), ("scatter_allgather", 1e-6, ["x", "linear"])):
            graph = {"digest": "same", "programs": programs}
            run.append({**point, "algorithm": algorithm, "samples": [time], "graph": graph})
    doubles = colltune("info", tmp_path / "a.jsonl", "--json").json["collectives"]["bcast"]["doubles"]
    assert (doubles["cells"], doubles["median"]) == (1, 50.0)
    assert doubles["methods"] == [{"method": "scatter_allgather", "double_of": "linear", "cells": 1}]
    assert "where a method ran as another one, which wins there: 1" in colltune("info", tmp_path / "a.jsonl").out
    best = colltune("map", tmp_path / "a.jsonl", "-c", "bcast", "--json").json
    assert best["methods"][best["best"][0][0]] == "linear"


def test_facets_of_several_files_are_listed_and_one_is_selected(colltune: Run, tmp_path: Path) -> None:
    title = "# OSU MPI{} Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n8   {}\n"
    (tmp_path / "host.txt").write_text(title.format("", 9.5))
    (tmp_path / "cuda.txt").write_text(title.format("-CUDA", 56.28))
    hints = ["--algorithm", "default", "--comm-size", 4]
    answer = colltune("info", tmp_path, *hints, "--json")
    assert answer.json["facets"] == {"device": ["CUDA", "host"]}
    assert "--select device=" in answer.err
    assert "--select FACET=VALUE" in colltune("info", tmp_path, *hints).out
    chosen = colltune("map", tmp_path, "-c", "bcast", *hints, "--select", "device=host", "--json").json
    assert chosen["time"] == [[pytest.approx(9.5e-6)]]


def test_a_value_with_a_comma_is_listed_as_one(colltune: Run, tmp_path: Path) -> None:
    for system in ("emulated", "one machine, 2 cores"):
        cube = cube_of([[[1.0]]], [2], [8]).assign_attrs(system=system)
        save_results(xr.DataTree.from_dict({"/bcast": cube}), tmp_path / f"{len(system)}.nc")
    assert "system  'one machine, 2 cores', emulated\n" in colltune("info", tmp_path).out


def test_a_newcomer_is_led_from_a_folder_to_a_map_by_the_commands_that_are_printed(
    colltune: Run, tmp_path: Path
) -> None:
    title = "# OSU MPI{} {} Test v7.4\n# Size       {}(us)\n8   {}\n16   {}\n"
    for name, device, time in (("host", "", 9.5), ("cuda", "-CUDA", 56.28)):
        head = (device, "Broadcast Latency", "Avg Latency")
        (tmp_path / f"{name}.txt").write_text(title.format(*head, time, time + 1))
    for number, time in enumerate((1.5, 4.5)):
        (tmp_path / f"pair{number}.txt").write_text(title.format("", "Latency", "Latency", time, time + 1))
    (tmp_path / "notes.txt").write_text("what I did on Monday\n")
    command = ["info", str(tmp_path)]
    seen = []
    while command[0] == "info" and len(seen) < 4:
        seen.append(colltune(*command))
        command = following(seen[-1].err)
    assert command[0] == "map"
    assert "5 files: 4 osu, 1 no results" in seen[0].out
    assert command[command.index("--select") + 1] == "device=CUDA"
    answer = colltune(*command, "--json")
    assert (answer.status, answer.json["time"]) == (0, [[pytest.approx(56.28e-6), pytest.approx(57.28e-6)]])


@pytest.mark.parametrize(
    ("form", "parts", "select", "first"),
    [
        ("{}/bcast_{}_{}.out", [("june", "march"), ("ring", "chain"), (4, 8)], "campaign=june", 10.0),
        ("bcast-{}-8-{}.out", [("ring", "chain"), ("rome", "skylake")], "campaign=rome", 10.0),
        ("n{}_{}_{}.out", [(2, 4), ("ring", "chain"), ("host", "gpu")], "device=gpu", 40.0),
    ],
)
def test_files_whose_names_say_what_is_lacking_are_never_averaged_by_a_newcomer(
    colltune: Run, tmp_path: Path, form: str, parts: list[tuple[object, ...]], select: str, first: float
) -> None:
    """Each part doubles or quadruples the time: what is averaged over a part is neither."""
    for places in itertools.product(*(range(len(part)) for part in parts)):
        file = tmp_path / form.format(*(part[place] for part, place in zip(parts, places, strict=True)))
        file.parent.mkdir(exist_ok=True)
        time = 10.0 * 4 ** (places[0] + places[-1])
        file.write_text(f"# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n8   {time}\n")
    command = ["info", str(tmp_path)]
    for _ in range(4):
        command = following(colltune(*command).err)
    assert command[0] == "decide"
    assert command[command.index("--select") + 1] == select
    table = colltune("map", *command[1:], "--json").json["time"]
    times = {round(time * 1e6, 3) for row in table for time in row}
    assert min(times) == first
    assert times <= {10.0, 40.0, 160.0}


def test_a_note_of_one_file_says_of_which(colltune: Run, samples: Path, tmp_path: Path) -> None:
    text = (samples / "nccl_tuner" / "sample_performance_data.csv").read_text()
    for name, last in (("a.csv", ",x"), ("b.csv", "")):
        head, *rows = text.splitlines()
        (tmp_path / name).write_text("\n".join([head + (last and ",mine"), *(row + last for row in rows)]))
    said = colltune("info", tmp_path / "a.csv", tmp_path / "b.csv").out
    assert "note: times converted from microseconds" in said
    assert "note: a.csv: columns not used: 'cost_metric', 'bandwidth_gbps', 'mine'" in said
