"""Folders, lists and reports: what is read, what is left aside, and that it is said."""

import gzip
import json
import os
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from loaders import LoadError, MissingHintError, open_results, save_results, scan
from tests.conftest import FAST_ETHERNET
from tests.files import run_file, skampi

#: A broadcast whose algorithm its block's name tells.
OWN = "Bcast_using_Send_Recv"
POINT = {"collective": "bcast", "algorithm": "chain", "comm_size": 2, "message_size": 1, "time": 6e-6}


def test_a_folder_gives_its_results_and_names_what_it_leaves_aside(tmp_path: Path) -> None:
    skampi(tmp_path / "bcast__linear__seg0.sko", (2, 1, 5.0, 0, 5))
    (tmp_path / "README.md").write_text("# about\n")
    (tmp_path / "repeat").mkdir()
    skampi(tmp_path / "repeat" / "bcast__linear__seg0.sko", (2, 1, 7.0, 0, 5))
    results = open_results(tmp_path)
    assert results["bcast"]["time"].values.ravel().tolist() == pytest.approx([5e-6])
    assert "repeat/" in json.loads(results.attrs["notes"])[0]
    readme = next(s for s in json.loads(results.attrs["sources"]) if s["path"].endswith("README.md"))
    assert "no format that is known" in readme["error"]
    deep = open_results(tmp_path, recursive=True)
    assert deep["bcast"]["time"].values.ravel().tolist() == pytest.approx([6e-6])


def test_a_folder_of_texts_and_scripts_alone_gives_the_results_of_its_sub_folders(tmp_path: Path) -> None:
    for name in ("README.md", "sweep.sh", "analysis.Rmd"):
        (tmp_path / name).write_text("# about\n")
    (tmp_path / "bcast" / "results").mkdir(parents=True)
    skampi(tmp_path / "bcast" / "results" / "bcast__linear__seg0.sko", (2, 1, 7.0, 0, 5))
    assert open_results(tmp_path)["bcast"]["time"].values.ravel().tolist() == pytest.approx([7e-6])


def test_the_folder_of_a_campaign_gives_the_results_of_its_parts(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}")
    # What it keeps beside them is no file of results that could not be read.
    for name in ("log.txt", "state.json", "libcolltune_counter.so"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(LoadError, match="a campaign that has no results yet"):
        open_results(tmp_path)
    for index, size in enumerate((2, 4)):
        (tmp_path / "parts" / str(index) / "jobs").mkdir(parents=True)
        run_file(tmp_path / "parts" / str(index) / "results.jsonl", {**POINT, "comm_size": size})
    results = open_results(tmp_path)
    assert results["bcast"]["comm_size"].values.tolist() == [2, 4]
    assert not json.loads(results.attrs["notes"])
    assert len(json.loads(results.attrs["sources"])) == 2
    # Of other folders their sub-folders are not entered.
    (tmp_path / "plan.json").rename(tmp_path / "other.json")
    with pytest.raises(LoadError, match=r"other\.json"):
        open_results(tmp_path)


def test_results_that_were_saved_need_no_pattern_where_they_are_named(tmp_path: Path) -> None:
    folder, pattern = tmp_path / "files", "{collective}-{algorithm}.sko"
    folder.mkdir()
    skampi(folder / "bcast-linear.sko", (2, 1, 5.0, 0, 5))
    saved = save_results(open_results(folder, pattern=pattern), tmp_path / "saved.nc")
    run = run_file(tmp_path / "results.jsonl", POINT)
    for named, method in ((saved, "linear"), (run, "chain")):
        assert open_results(named, pattern=pattern)["bcast"]["method"].values.tolist() == [method]
        assert scan(named, pattern=pattern)[0]["error"] is None
    # What lies in the folder has its times twice.
    saved.rename(folder / "saved.nc")
    assert [each["error"] is None for each in scan(folder, pattern=pattern)] == [True, False]


def test_a_named_file_that_is_no_result_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# about\n")
    for paths in (tmp_path / "README.md", tmp_path):
        with pytest.raises(LoadError, match=r"README\.md"):
            open_results(paths)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\x00" * 4096, bytes(range(256)) * 40])
def test_files_that_are_no_text_of_results_are_load_errors(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.bin").write_bytes(content)
    with pytest.raises(LoadError, match=r"a\.bin"):
        open_results(tmp_path / "a.bin")


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz", "a.tar.bz2", "a.tar.xz"])
@pytest.mark.parametrize("hints", [{}, {"algorithm": "default"}], ids=["plain", "hinted"])
def test_an_archive_is_not_read_as_one_measurement(tmp_path: Path, name: str, hints: dict[str, str]) -> None:
    packed, files = tmp_path / name, sorted(FAST_ETHERNET.glob("bcast__*.sko"))[:3]
    if name == "a.zip":
        with zipfile.ZipFile(packed, "w") as archive:
            for file in files:
                archive.write(file, file.name)
    else:
        with tarfile.open(packed, f"w:{name.rpartition('.')[2].removesuffix('tar')}") as archive:
            for file in files:
                archive.add(file, file.name)
    with pytest.raises(LoadError, match="unpack"):
        open_results(packed, **hints)


def test_paths_that_do_not_exist_are_load_errors(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="no such file"):
        open_results(tmp_path / "nowhere")
    with pytest.raises(LoadError, match="no files found"):
        open_results(tmp_path)


@pytest.mark.parametrize(
    "content",
    ["", "collective,algorithm,segment_size,comm_size,message_size,time\n", "# OSU MPI Broadcast Latency Test\n"],
)
def test_a_named_file_without_rows_is_passed_over_beside_others_and_named(content: str, tmp_path: Path) -> None:
    whole = skampi(tmp_path / "bcast__linear__seg0.sko", (2, 1, 5.0, 0, 5))
    (stopped := tmp_path / "stopped.csv").write_text(content)
    results = open_results([whole, stopped])
    assert results["bcast"]["time"].values.ravel().tolist() == pytest.approx([5e-6])
    reports = {Path(each["path"]).name: each["error"] for each in json.loads(results.attrs["sources"])}
    assert reports[whole.name] is None
    assert "stopped.csv: " in reports[stopped.name]
    with pytest.raises(LoadError, match=r"stopped\.csv: "):
        open_results(stopped)


def test_a_compressed_file_that_ends_early_gives_its_whole_rows(tmp_path: Path) -> None:
    plain = skampi(tmp_path / "a.sko", *((2, m, 5.0 + m, 0, 5) for m in range(1, 20_000)))
    packed = tmp_path / "a.sko.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes())[:-2000])
    (report,) = scan(packed, algorithm="x")
    assert 0 < report["rows"] < 19_999
    assert any("cannot be read" in reason for reason in report["reasons"])


def test_what_stands_behind_a_compressed_file_is_counted_once(tmp_path: Path) -> None:
    plain = skampi(tmp_path / "a.sko", (2, 1, 5.0, 0, 5))
    packed = tmp_path / "a.sko.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()) + b"something else")
    (report,) = scan(packed, algorithm="x")
    assert (report["rows"], report["skipped"]) == (1, 1)


def test_an_unknown_format_name_lists_the_known_ones(tmp_path: Path) -> None:
    file = skampi(tmp_path / "a.sko", (2, 1, 5.0, 0, 5))
    with pytest.raises(LoadError, match=r"there is no format 'scampi'; possible are .*skampi"):
        open_results(file, format="scampi", algorithm="x")


def test_progress_is_told_for_every_file(tmp_path: Path) -> None:
    file = skampi(tmp_path / "a.sko", (2, 1, 5.0, 0, 5))
    seen: list[tuple[str, int, int]] = []
    open_results(file, algorithm="x", progress=lambda *step: seen.append(step))
    assert seen[-1] == (str(file), file.stat().st_size, file.stat().st_size)


def test_a_report_says_what_a_file_needs_without_failing(tmp_path: Path) -> None:
    (report,) = scan(skampi(tmp_path / "a.sko", (2, 1, 5.0, 0, 5)))
    assert (report["rows"], report["needs"], report["error"]) == (1, ["algorithm"], None)


def test_a_file_of_several_systems_gives_the_one_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    rows = [f"BCAST,1024,x,{t},8,1,{s}" for s, t in (("fugaku", 1000), ("lumi", 2000), ("lumi", 3000))]
    file.write_text("\n".join(["collective_type,buffer_size,algo_name,median,nnodes,tasks_per_node,system", *rows, ""]))
    (report,) = scan(file)
    assert (report["rows"], report["needs"], report["several"]) == (3, [], {"system": ["fugaku", "lumi"]})
    (report,) = scan(file, system="lumi")
    assert (report["rows"], report["skipped"], report["reasons"]) == (2, 1, {"of another system (fugaku)": 1})
    assert open_results(file, system="fugaku")["bcast"]["time"].values.ravel().tolist() == pytest.approx([1e-6])
    assert open_results(file, select="system=fugaku")["bcast"].attrs["selected"] == "system=fugaku"
    with pytest.raises(LoadError, match=r"system of bcast is 'fugaku' \(1 file\) and 'lumi'.* --select system=fugaku"):
        open_results(file)
    with pytest.raises(LoadError, match="no results of the system 'frontier', but of fugaku, lumi"):
        open_results(file, system="frontier")


def test_a_file_given_twice_counts_once(tmp_path: Path) -> None:
    file = skampi(tmp_path / "bcast__linear__seg0.sko", (2, 1, 5.0, 0, 5))
    (tmp_path / "link.sko").symlink_to(file)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "back").symlink_to(tmp_path, target_is_directory=True)
    for paths in ([file, file], [file, tmp_path], [tmp_path / "deep" / ".." / file.name, file]):
        results = open_results(paths, recursive=True, algorithm="linear", collective="bcast")
        assert results["bcast"]["repetitions"].values.ravel().tolist() == [5]
        assert any("read once" in note for note in json.loads(results.attrs["notes"]))


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LoadError, match="neither a file nor a folder"):
        open_results(tmp_path / "pipe")


def test_what_may_not_be_read_is_a_load_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skampi(tmp_path / "bcast__linear__seg0.sko", (2, 1, 5.0, 0, 5))
    closed = skampi(tmp_path / "bcast__secret__seg0.sko", (2, 1, 5.0, 0, 5))
    opened = Path.open

    def refuse(self: Path, *args: Any, **more: Any) -> Any:
        if self == closed:
            raise PermissionError(13, "Permission denied", str(self))
        return opened(self, *args, **more)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(LoadError, match=r"secret.*Permission denied"):
        open_results(closed)
    results = open_results(tmp_path)
    assert results["bcast"]["method"].values.tolist() == ["linear"]
    assert "Permission denied" in json.loads(results.attrs["sources"])[1]["error"]


def test_columns_that_are_not_used_are_said_without_asking(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "collective,algorithm,fanout,comm_size,message_size,time\nbcast,a,2,4,1,1e-5\nbcast,a,4,4,1,2e-5\n"
    )
    note, apart = json.loads(open_results(tmp_path / "t.csv").attrs["notes"])
    assert "not used: 'fanout'" in note
    assert "differ by up to 2 times" in apart


def test_processes_per_node_are_told_by_all_files_or_by_none(tmp_path: Path) -> None:
    head = "collective,algorithm,comm_size,message_size,time"
    (tmp_path / "told.csv").write_text(f"{head},ppn\nbcast,a,4,1,1e-5,2\n")
    (tmp_path / "untold.csv").write_text(f"{head}\nbcast,b,4,1,2e-5\n")
    with pytest.raises(MissingHintError, match=r"untold\.csv.*hint ppn") as error:
        open_results(tmp_path)
    assert error.value.hints == ("ppn",)
    cube = open_results(tmp_path, ppn=2)["bcast"]
    assert cube["time"].dims == ("method", "comm_size", "message_size")
    assert cube.attrs["ppn"] == 2


def test_what_a_folder_holds_beside_files_and_folders_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("collective,algorithm,comm_size,message_size,time\nbcast,ring,4,8,1e-5\n")
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nowhere.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    notes = json.loads(open_results(tmp_path).attrs["notes"])
    assert any("links that lead nowhere: gone.csv, pipe.csv" in note for note in notes)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_text_in_utf_16_is_told_to_be_saved_anew(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("\ufeffcollective,algorithm\n".encode(encoding))
    for form in (None, "table"):
        with pytest.raises(LoadError, match="UTF-16, which is not read"):
            open_results(tmp_path / "a.csv", format=form)


def test_lines_that_end_with_a_carriage_return_alone_are_said(tmp_path: Path) -> None:
    (file := tmp_path / "old.csv").write_bytes(
        b"collective,comm_size,message_size,algorithm,time\rbcast,4,8,ring,1.5\r"
    )
    with pytest.raises(LoadError, match="end with a carriage return alone"):
        open_results(file)


@pytest.mark.parametrize("name", ["a.sko", "z.sko"])
def test_of_a_file_that_does_not_say_everything_nothing_is_taken(name: str, tmp_path: Path) -> None:
    blocks = [f'# begin result "{block}-procs"\nprocs= 4 count= 1 8 10.0 0.1 8 9.0\n' for block in (OWN, "MPI_Bcast")]
    (tmp_path / name).write_text("# SKaMPI Version 5.0\n" + "".join(blocks))
    (tmp_path / "b.csv").write_text("collective,algorithm,comm_size,message_size,time\nbcast,ring,8,16,1e-5\n")
    results = open_results(tmp_path)
    assert [source["error"] is None for source in json.loads(results.attrs["sources"])].count(False) == 1
    cube = results["bcast"]
    assert (cube["method"].values.tolist(), cube["comm_size"].values.tolist()) == (["ring"], [8])
    (tmp_path / "b.csv").unlink()
    with pytest.raises(MissingHintError, match="does not say algorithm"):
        open_results(tmp_path)
