"""The command: answers on standard output, messages on standard error, one clear line for every error."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from dashboard.cli import main
from dashboard.decisions import DecisionFunction, decision_map, quadtree, statistics
from loaders import open_results, save_results
from tests.cubes import cube_of, synthetic_cube

ROOT = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, "-m", "dashboard.cli"]


class Answer:
    """What a run of the command gave."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def json(self) -> Any:
        def refuse(word: str) -> None:
            raise AssertionError(f"{word} is not strict JSON")

        return json.loads(self.out, parse_constant=refuse)


Run = Callable[..., Answer]


@pytest.fixture
def colltune(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process."""

    def run(*arguments: object) -> Answer:
        status = main([str(argument) for argument in arguments])
        return Answer(status, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def bcast_files(fast_ethernet_files: list[Path]) -> list[Path]:
    return [file for file in fast_ethernet_files if file.name.startswith("bcast__")]


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two collectives in one netCDF file, with missing cells; quick to open."""
    gaps = synthetic_cube(6, 9, 5, seed=1, missing=0.6)
    gaps["time"][:, 2, 3] = np.nan
    cubes = {"bcast": gaps, "reduce": synthetic_cube(6, 9, 5, seed=2).assign_attrs(collective="reduce")}
    path = tmp_path_factory.mktemp("results") / "two.nc"
    save_results(xr.DataTree.from_dict({f"/{name}": cube for name, cube in cubes.items()}), path)
    return path


def assert_one_clear_line(answer: Answer, *words: str) -> None:
    """Exit status 2, nothing on standard output, one line that begins with the program's name."""
    assert answer.status == 2
    assert answer.out == ""
    last = answer.err.splitlines()[-1]
    assert last.startswith("colltune: error: ")
    assert sum("error:" in line for line in answer.err.splitlines()) == 1
    assert "Traceback" not in answer.err
    for word in words:
        assert word in last


# The figures were computed independently of this program.
def test_decide_gives_the_figures_of_the_sample_data(colltune: Run, bcast_files: Sequence[Path]) -> None:
    answer = colltune("decide", *bcast_files, "-c", "bcast", "--max-depth", 3, "--json")
    assert answer.status == 0
    found = answer.json
    assert list(found) == [
        "collective",
        "tree",
        "options",
        "depth",
        "leaves",
        "nodes",
        "penalty",
        "methods",
        "decision",
    ]
    assert (found["collective"], found["tree"], found["leaves"], found["nodes"]) == ("bcast", "quadtree", 46, 61)
    assert found["options"] == {"max_depth": 3, "threshold": 1.0}
    assert set(found["depth"]) == {"max", "min", "mean", "expected"}
    assert round(found["depth"]["mean"], 2) == 2.87
    assert set(found["penalty"]) == {"min", "max", "mean", "median", "unmeasured"}
    assert round(found["penalty"]["mean"], 2) == 10.76
    assert round(found["penalty"]["max"], 2) == 176.80
    assert found["penalty"]["median"] == found["penalty"]["unmeasured"] == 0
    assert found["methods"][16] == "pipeline 1KiB"


def test_decision_in_json_loads_back_and_is_the_library_s(colltune: Run, results: Path) -> None:
    cube = open_results(results)["bcast"].to_dataset()
    found = colltune("decide", results, "-c", "bcast", "--threshold", 0.8, "--json").json
    decision = quadtree(decision_map(cube), threshold=0.8)
    assert DecisionFunction.from_dict(found["decision"]) == decision
    assert found["penalty"] == statistics(cube, decision)["penalty"]


def test_exact_costs_nothing(colltune: Run, results: Path) -> None:
    found = colltune("decide", results, "-c", "bcast", "--tree", "exact", "--json").json
    assert found["tree"] == "exact"
    assert found["penalty"]["max"] == 0


def test_map_in_json_has_null_where_nothing_was_measured(colltune: Run, results: Path) -> None:
    cube = open_results(results)["bcast"].to_dataset()
    found = colltune("map", results, "-c", "bcast", "--json").json
    assert list(found) == ["collective", "comm_size", "message_size", "methods", "best", "time"]
    times = cube["time"].transpose("comm_size", "message_size", "method").values
    for row, p in enumerate(found["comm_size"]):
        for column, m in enumerate(found["message_size"]):
            assert (p, m) == (cube["comm_size"][row], cube["message_size"][column])
            there = times[row, column]
            expected = None if np.isnan(there).all() else int(np.nanargmin(there))
            assert found["best"][row][column] == expected
            assert found["time"][row][column] == (None if expected is None else there[expected])
    assert found["best"][2][3] is None


@pytest.mark.parametrize(("limit", "rows"), [("depth", 5), ("threshold", 20)])
def test_sweeps(colltune: Run, results: Path, limit: str, rows: int) -> None:
    found = colltune("decide", results, "-c", "reduce", "--sweep", limit, "--json").json
    assert len(found["rows"]) == rows
    assert {"leaves", "nodes", "depth_mean", "penalty_mean", "penalty_max"} <= set(found["rows"][0])
    assert found["rows"][-1]["penalty_max"] == 0
    table = colltune("decide", results, "-c", "reduce", "--sweep", limit).out.splitlines()
    assert len(table) == rows + 1


def test_info_tells_files_coverage_and_noise(colltune: Run, bcast_files: Sequence[Path]) -> None:
    found = colltune("info", *bcast_files[:2], "--json").json
    assert [(f["path"], f["format"], f["rows"], f["skipped"]) for f in found["files"]] == [
        (str(file), "skampi", 209, 0) for file in bcast_files[:2]
    ]
    assert found["files"][0]["collectives"] == ["bcast"]
    cube = found["collectives"]["bcast"]
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


def test_info_fails_for_a_named_file_of_no_use(colltune: Run, bcast_files: Sequence[Path], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing measured here\n")
    answer = colltune("info", bcast_files[0], tmp_path / "notes.txt")
    assert answer.status == 2
    assert "notes.txt" in answer.err.splitlines()[-1]


@pytest.mark.parametrize("ending", [".nc", ".zarr", ".csv"])
def test_convert_keeps_the_map(colltune: Run, results: Path, tmp_path: Path, ending: str) -> None:
    made = tmp_path / f"again{ending}"
    answer = colltune("convert", results, "-o", made)
    assert (answer.status, answer.out) == (0, "")
    assert str(made) in answer.err
    before, after = (colltune("map", path, "-c", "reduce", "--json").json for path in (results, made))
    assert before == after


def test_convert_takes_hints(colltune: Run, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("p,bytes,latency\n2,8,1.5e-6\n4,8,2.5e-6\n")
    columns = [f"--column={pair}" for pair in ("comm_size=p", "message_size=bytes", "time=latency")]
    hints = [
        *columns,
        "-c",
        "bcast",
        "--algorithm",
        "chain",
        "--segment-size",
        "8KiB",
        "--system",
        "here",
        "--ppn",
        "2",
    ]
    assert colltune("convert", table, "-o", tmp_path / "x.nc", "--format", "table", *hints).status == 0
    cube = open_results(tmp_path / "x.nc")["bcast"].to_dataset()
    assert cube["method"].values.tolist() == ["chain 8KiB"]
    assert cube["time"].values.tolist() == [[[1.5e-6], [2.5e-6]]]
    assert (cube.attrs["system"], cube.attrs["ppn"]) == ("here", 2)


def test_the_collective_chosen_stands_in_where_files_do_not_say_it(colltune: Run, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("algorithm,segment_size,comm_size,message_size,time\nlinear,0,2,8,1e-6\nring,0,2,8,2e-6\n")
    assert colltune("map", table, "-c", "allgather", "--json").json["collective"] == "allgather"


def test_export_writes_what_the_library_writes(colltune: Run, results: Path, tmp_path: Path) -> None:
    made = tmp_path / "decision.c"
    answer = colltune("export", results, "-c", "bcast", "-c", "reduce", "--max-depth", 2, "--to", "c", "-o", made)
    assert (answer.status, answer.out) == (0, "")
    assert str(made) in answer.err
    source = made.read_text()
    assert re.findall(r"^int (\w+)\(int .*\)$", source, re.MULTILINE) == ["colltune_bcast", "colltune_reduce"]
    assert "Performance penalty" in source
    assert colltune("export", results, "-c", "bcast", "-c", "reduce", "--max-depth", 2, "--to", "c").out == source


def test_export_json_is_the_saved_decision(colltune: Run, results: Path) -> None:
    out = colltune("export", results, "-c", "bcast", "--to", "json", "-o", "-").out
    assert DecisionFunction.from_json(out) == quadtree(decision_map(open_results(results)["bcast"].to_dataset()))


def test_the_only_collective_needs_no_choice(colltune: Run, bcast_files: Sequence[Path]) -> None:
    assert colltune("map", bcast_files[0], "--json").json["collective"] == "bcast"


def test_several_collectives_need_a_choice(colltune: Run, results: Path) -> None:
    assert_one_clear_line(colltune("map", results), "bcast, reduce", "-c")
    assert_one_clear_line(colltune("decide", results, "-c", "redcue"), "bcast, reduce", "did you mean reduce?")
    assert_one_clear_line(colltune("export", results, "--to", "c"), "bcast, reduce", "-c")


def test_processes_per_node_taken_are_said(colltune: Run, tmp_path: Path) -> None:
    times = np.arange(1.0, 25.0).reshape(2, 3, 2, 2)
    times[0, 0, 0, 0] = np.nan
    save_results(xr.DataTree.from_dict({"/bcast": cube_of(times, [2, 4, 8], [1, 8])}), tmp_path / "ppn.nc")
    answer = colltune("map", tmp_path / "ppn.nc", "--json")
    assert "2 processes per node" in answer.err
    assert answer.json["best"] == [[0, 0], [0, 0], [0, 0]]
    assert colltune("map", tmp_path / "ppn.nc", "--ppn", 1, "--json").json["best"] == [[1, 0], [0, 0], [0, 0]]
    assert_one_clear_line(colltune("decide", tmp_path / "ppn.nc", "--ppn", 3), "ppn is 3", "1, 2")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["COMMAND", "--help"]),
        (["frob"], ["frob", "info"]),
        (["map"], ["PATH"]),
        (["map", "x", "--frob"], ["--frob"]),
        (["map", "/no/such/file"], ["/no/such/file"]),
        (["decide", "x", "--max-depth", "-1"], ["--max-depth", "'-1'", "at least 0"]),
        (["decide", "x", "--tree", "bush"], ["bush", "quadtree"]),
        (["decide", "x", "--tree", "exact", "--max-depth", "3"], ["exact", "--max-depth"]),
        (["export", "x", "--to", "fortran"], ["fortran", "json"]),
        (["convert", "x", "-o", "y.xlsx"], ["y.xlsx", ".nc"]),
        (["convert", "x", "-o", "y.nc", "--column", "time"], ["time", "OURS=THEIRS"]),
        (["serve", "--port", "99999"], ["--port", "65535"]),
    ],
)
def test_bad_usage_is_one_clear_line(colltune: Run, arguments: list[str], words: list[str]) -> None:
    assert_one_clear_line(colltune(*arguments), *words)


@pytest.mark.parametrize(
    "arguments",
    [
        "lint rules.conf --over x",
        "model predict -c bcast",
        "bench",
        "report x -o y.html",
        "decide x -c bcast --tree c45 -m 2 --confidence 25 --attributes comm_size,message_size",
        "decide x --tree optimal --leaves 8",
        "export x -c bcast --tree model --model loggp --to c -o f.c",
        "export x -c bcast --to openmpi",
    ],
)
def test_what_is_designed_but_not_built_says_so(colltune: Run, arguments: str) -> None:
    assert_one_clear_line(colltune(*arguments.split()), "not available yet")


@pytest.mark.parametrize("value", ["-0.1", "1.5", "nan", "x"])
def test_threshold_out_of_range(colltune: Run, results: Path, value: str) -> None:
    assert_one_clear_line(colltune("decide", results, "-c", "bcast", "--threshold", value), "threshold")


def test_output_that_cannot_be_written(colltune: Run, results: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "no" / "where"
    assert_one_clear_line(
        colltune("export", results, "-c", "bcast", "--to", "c", "-o", f"{nowhere}.c"), "cannot be written"
    )
    assert_one_clear_line(colltune("convert", results, "-o", f"{nowhere}.nc"), "cannot be written")


def test_debug_shows_the_traceback(colltune: Run) -> None:
    answer = colltune("map", "/no/such/file", "--debug")
    assert answer.status == 2
    assert "Traceback" in answer.err


def test_a_fault_of_the_program_is_status_1(colltune: Run, results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.decisions.decision_map", lambda *_, **__: 1 // 0)
    answer = colltune("map", results, "-c", "bcast")
    assert answer.status == 1
    assert answer.err.startswith("colltune: error: unexpected ZeroDivisionError")


def test_serve_hands_everything_to_the_server(colltune: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    fake = types.ModuleType("dashboard.serve")
    fake.serve = lambda *args, **kwargs: seen.append((args, kwargs))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dashboard.serve", fake)
    options = ["a", "--port", "0", "--no-browser", "--data", "b", "--pattern", "{algorithm}.sko", "--format", "skampi"]
    assert colltune("serve", *options).status == 0
    where = {"address": "127.0.0.1", "port": 0, "show": False, "origins": []}
    assert seen == [((["a", "b"],), {**where, "pattern": "{algorithm}.sko", "format": "skampi"})]


def test_serve_says_when_it_cannot_listen(colltune: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(98, "Address already in use")

    fake = types.ModuleType("dashboard.serve")
    fake.serve = refuse  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dashboard.serve", fake)
    assert_one_clear_line(colltune("serve"), "127.0.0.1:5006", "already in use")


class Terminal(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_long_load_shows_progress_on_a_terminal_only(
    colltune: Run, bcast_files: Sequence[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.cli_commands._PROGRESS_AFTER_S", -1)
    assert colltune("map", *bcast_files).err == ""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert colltune("map", *bcast_files).status == 0
    shown = terminal.getvalue().split("\r")
    assert shown[1].rstrip() == f"loading {bcast_files[0].name} 100 %"
    assert shown[-1] == ""
    assert not shown[-2].strip()


@pytest.mark.parametrize("system", ["fugaku", "mare_nostrum"])
def test_every_collective_of_pico_decides(colltune: Run, shared: Path, system: str) -> None:
    table = shared / "data" / "pico" / "pico_consolidated.csv"
    info = colltune("info", table, "--system", system, "--json").json
    assert len(info["collectives"]) >= 5
    for name, cube in info["collectives"].items():
        found = colltune("decide", table, "--system", system, "-c", name, "--tree", "exact", "--json").json
        assert len(found["methods"]) == len(cube["methods"])
        assert found["penalty"]["max"] == 0


def test_results_of_several_systems_need_a_choice(colltune: Run, shared: Path) -> None:
    answer = colltune("map", shared / "data" / "pico" / "pico_consolidated.csv", "-c", "bcast")
    assert_one_clear_line(answer, "fugaku", "mare_nostrum", "system")


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    words = [*COMMAND, *map(str, arguments)]
    return subprocess.run(words, cwd=ROOT, text=True, capture_output=True, check=False, **options)


def test_help_needs_nothing_heavy() -> None:
    code = "import sys; from dashboard.cli import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True, check=True)
    assert "decide" in done.stdout
    assert not {"numpy", "pandas", "xarray", "panel", "loaders"} & set(done.stderr.split())


def test_command_draws_no_page(results: Path) -> None:
    code = "import sys; from dashboard.cli import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    words = [sys.executable, "-c", code, "decide", str(results), "-c", "bcast"]
    done = subprocess.run(words, cwd=ROOT, text=True, capture_output=True, check=True)
    assert not {"panel", "bokeh", "holoviews", "mpi4py"} & set(done.stderr.split())


def test_status_reaches_the_shell(results: Path) -> None:
    assert run("map", results, "-c", "bcast").returncode == 0
    done = run("map", results)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert run("--version").stdout.startswith("colltune ")


def test_output_nobody_reads_is_no_error_message(results: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "map", str(results), "-c", "bcast"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


def test_a_terminal_without_the_characters_still_gets_its_answer(results: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(
        "collective,algorithm,segment_size,comm_size,message_size,time\nbcast,é漢,0,2,8,1e-6\n", encoding="utf-8"
    )
    done = run("map", table, env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
    assert r"\xe9" in done.stdout


def test_info_of_saved_results_tells_of_the_file_itself(colltune: Run, results: Path) -> None:
    (file,) = colltune("info", results, "--json").json["files"]
    assert (file["path"], file["format"], file["skipped"]) == (str(results), "netcdf", 0)
    assert file["rows"] == sum(int(node["time"].notnull().sum()) for node in open_results(results).children.values())


def test_files_of_no_use_are_not_counted_as_skipped_rows(
    colltune: Run, bcast_files: Sequence[Path], tmp_path: Path
) -> None:
    (tmp_path / bcast_files[0].name).write_bytes(bcast_files[0].read_bytes())
    (tmp_path / "prices.csv").write_text("apples,pears\n1,2\n3,4\n")
    answer = colltune("map", tmp_path, "--json")
    assert answer.status == 0
    assert "prices.csv" in answer.err
    assert "skipped" not in answer.err


@pytest.mark.parametrize("ending", [".nc", ".zarr", ".csv"])
def test_convert_replaces_no_folder(colltune: Run, results: Path, tmp_path: Path, ending: str) -> None:
    kept = tmp_path / f"mine{ending}" / "kept.txt"
    kept.parent.mkdir()
    kept.write_text("mine")
    answer = colltune("convert", results, "-o", kept.parent)
    assert (answer.status, kept.read_text()) == (2, "mine")
    assert len(answer.err.splitlines()) == 1


@pytest.mark.parametrize("tree", [[], ["--tree", "exact"]])
def test_methods_that_would_be_called_the_same_are_told_apart(colltune: Run, tmp_path: Path, tree: list[str]) -> None:
    (tmp_path / "t.csv").write_text(
        "collective,algorithm,segment_size,comm_size,message_size,time\n"
        "bcast,pipeline 8KiB,0,4,1,1\nbcast,pipeline,8192,4,1,2\n"
        "bcast,pipeline 8KiB,0,4,2,2\nbcast,pipeline,8192,4,2,1\n"
    )
    answer = colltune("decide", tmp_path / "t.csv", "--json", *tree).json
    assert len(set(answer["methods"])) == 2
    assert answer["penalty"]["max"] == 0


def test_output_that_takes_nothing_is_one_clear_line(results: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    for arguments in (["map", "-c", "bcast"], ["export", "-c", "bcast", "--to", "c"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [*COMMAND, *arguments, results], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 2
        assert "No space left" in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "closed", "status"),
    [
        ("map -c bcast", "stdout", 2),
        ("convert -o out.nc", "stdout", 0),
        ("map -c bcast --json", "stderr", 0),
        ("map -c nonsense", "stderr", 2),
        ("map -c bcast", "stdin", 0),
    ],
)
def test_streams_may_be_closed(results: Path, tmp_path: Path, arguments: str, closed: str, status: int) -> None:
    """Python has None for a standard stream that the caller closed; nothing then goes to the wrong one."""
    program = f"import sys; sys.{closed} = None; from dashboard.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, *arguments.split(), str(results)]
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=path, capture_output=True, text=True, check=False)
    assert done.returncode == status
    if closed == "stderr":
        assert (done.stdout != "") == (status == 0)
        assert "colltune:" not in done.stdout
