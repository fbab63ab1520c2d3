"""Full disks: one line that says so, the file that was there as it was, and nothing left beside it."""

import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import xarray as xr

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign, write_json
from dashboard.benchmarks.campaigns.follow import follow
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import BenchError, CampaignError
from dashboard.benchmarks.launchers.launch import Status
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Method
from dashboard.cli import main
from dashboard.export.targets.mpich.base import known
from dashboard.measuring import kept, tunings
from dashboard.pages.data import files
from dashboard.tuning import Asked, tune
from loaders import LoadError, disk, open_results, save_results
from tests.cli.command import Run
from tests.conftest import FAST_ETHERNET, ROOT, until
from tests.measuring.played import LIBRARY, Played, start_all_by
from tests.tuning.machine import Machine, work_in

OLD = "what was there\n"
FILES = sorted(map(str, FAST_ETHERNET.glob("bcast__*.sko")))
PATTERN = ("--pattern", "{collective}__{algorithm}__seg{segment_size}.sko")
PREDICT = ["model", "predict", "-c", "bcast", "--algorithm", "binomial", "--model", "hockney", "--comm-size", "4"]
PREDICT += ["--message-size", "8"]
EXPORTS = ("c", "c-table", "python", "json", "openmpi", "openmpi-json", "preload", "mpirun")


def fill(folder: Path, left: int = 0) -> Path:
    """Take all the room of a disk but so many bytes."""
    filling = folder / "filling"
    with filling.open("wb", buffering=0) as stream:
        try:
            while stream.write(b"\0" * 4096):
                pass
        except OSError:
            pass
        stream.truncate(stream.tell() // 4096 * 4096 - left)
    return filling


def there(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"filling"}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results, quick to open, of more bytes than a small disk has."""
    tree = open_results(FILES, pattern=PATTERN[1])
    return save_results(tree, tmp_path_factory.mktemp("saved") / "results.nc")


@pytest.mark.parametrize("ending", [".nc", ".csv", ".occ"])
@pytest.mark.parametrize("left", [0, 40 << 10])
def test_results_that_do_not_fit_leave_what_was_there(small_disk: Path, saved: Path, ending: str, left: int) -> None:
    target = small_disk / f"results{ending}"
    target.write_text(OLD)
    fill(small_disk, left)
    tree: xr.DataTree = open_results(saved)
    with pytest.raises(LoadError, match="cannot be written: No space left on device"):
        save_results(tree, target)
    assert target.read_text() == OLD
    assert there(small_disk) == {target.name}


def test_a_store_that_does_not_fit_leaves_the_one_that_was_there(small_disk: Path, saved: Path) -> None:
    tree = open_results(saved)
    target = save_results(tree.isel(message_size=slice(1), method=slice(1), comm_size=slice(1)), small_disk / "r.zarr")
    before = sorted(path.relative_to(target) for path in target.rglob("*"))
    fill(small_disk, 8 << 10)
    with pytest.raises(LoadError, match="cannot be written: "):
        save_results(tree, target)
    assert sorted(path.relative_to(target) for path in target.rglob("*")) == before
    assert there(small_disk) == {target.name}
    assert open_results(target)["bcast"].sizes["message_size"] == 1


COMMANDS = {
    **{f"export {to}": f"export SAVED -c bcast --tree quadtree --to {to} -o rules.c" for to in EXPORTS},
    "report": "report SAVED -c bcast --no-frontier -o report.html",
    "convert": "convert SAVED -o results.csv",
    "fit": "model fit SAVED -c bcast -o parameters.json",
    "draw": "methods draw -c bcast --algorithm binomial --processes 4 -o graph.svg",
    "skeleton": "online skeleton SWFFT -o skeleton.c",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_destroys_what_was_there(small_disk: Path, saved: Path, command: str, refused: Run) -> None:
    *words, name = [{"SAVED": saved}.get(word, word) for word in COMMANDS[command].split()]
    target = small_disk / name
    target.write_text(OLD)
    fill(small_disk)
    error = refused(*words, target).err.splitlines()[-1]
    assert error.startswith("colltune: error: ")
    assert error.endswith(f"{target}: cannot be written: No space left on device")
    assert target.read_text() == OLD
    assert there(small_disk) == {name}


def test_a_folder_of_online_tuning_that_could_not_be_made_can_be_made_when_there_is_room(
    small_disk: Path, gcc: str, done: Run, refused: Run
) -> None:
    mpicc = small_disk.parent / "mpicc"
    mpicc.write_text("#!/bin/sh\nwhile [ $1 != -o ]; do shift; done; echo library > $2\n")
    mpicc.chmod(0o755)
    folder = small_disk / "tuning"
    init = ["online", "init", str(folder), "--nodes", "2", "--cores", "2", "--for", "5.0", "--mpicc", str(mpicc)]
    filling = fill(small_disk)
    (error,) = refused(*init).err.splitlines()
    assert error == f"colltune: error: {folder / 'colltune_online.c'}: No space left on device"
    assert there(small_disk) == set()
    filling.unlink()
    done(*init)
    assert (folder / "libcolltune_online.so").read_text() == "library\n"


def test_a_disk_of_temporary_files_that_is_full_is_one_line(
    small_disk: Path, mpiexec: str, monkeypatch: pytest.MonkeyPatch, refused: Run
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    fill(small_disk)
    (error,) = refused("check-methods", "-c", "bcast", "--ranks", "2", "--mpiexec", mpiexec).err.splitlines()
    assert error.startswith("colltune: error: ")
    assert error.endswith("No space left on device")


PLAN = Plan(2, {"bcast": (Method("a"), Method("b"))}, (2,), (8, 64))
HERE = Installation(Path("/nowhere/mpiexec"), LIBRARY)


def test_a_campaign_that_could_not_be_made_leaves_its_name_free(small_disk: Path) -> None:
    def of_command(root: Path, name: str, plan: Plan) -> Campaign:
        return Campaign.create(root / name, plan)

    filling = fill(small_disk)
    root = small_disk / "campaigns"
    for make, asked in ((kept.create, PLAN), (tunings.start, Asked(ranks=2)), (of_command, PLAN)):
        with pytest.raises(CampaignError, match="No space left on device"):
            make(root, "new", asked)
        assert there(small_disk) == set()
    filling.unlink()
    kept.create(root, "new", PLAN)
    with pytest.raises(CampaignError, match="there is a campaign new already"):
        kept.create(root, "new", PLAN)


@pytest.mark.parametrize("left", [0, 4 << 10, 8 << 10, 12 << 10, 16 << 10])
def test_a_campaign_on_a_full_disk_is_resumed_when_there_is_room(
    small_disk: Path, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = Campaign.create(small_disk / "campaign", PLAN)
    launcher = LocalLauncher((str(ROOT / "tests/bench/fake_mpiexec.py"),))
    filling = fill(small_disk, left)
    refused = ""
    try:
        control.start(campaign, launcher, HERE, 5.0)
    except CampaignError as error:
        refused = str(error)
    if refused:
        assert "No space left on device" in refused
        assert "\n" not in refused
        assert control.status(campaign)["state"] == "planned"
    else:
        now = until(lambda: (now := control.status(campaign))["state"] not in ("queued", "running") and now)
        assert now["state"] in ("failed", "timed out")
    filling.unlink()
    played = Played(Status("failed"), launched=Status("running"))
    start_all_by(monkeypatch, played)
    assert control.start(campaign, played, HERE, 5.0)["state"] == "running"


def test_a_campaign_where_nothing_can_be_written_is_not_told_to_make_room(small_disk: Path) -> None:
    campaign = Campaign.create(small_disk / "campaign", PLAN)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(CampaignError) as raised:
        control.start(campaign, Played(), HERE, 5.0)
    remedy = f"see that it can be, then colltune bench resume {campaign.folder}"
    assert str(raised.value) == f"{campaign.folder} cannot be written: Read-only file system ({remedy})"


@pytest.mark.parametrize("left", [0, 8 << 10, 24 << 10])
def test_a_tuning_on_a_full_disk_goes_on_when_there_is_room(
    small_disk: Path, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine().put(monkeypatch)
    work = work_in(small_disk / "tuned")
    tune(work, until="look")
    filling = fill(small_disk, left)
    with pytest.raises(CampaignError) as raised:
        tune(work)
    kept = "No space left on device; what was done is kept (make room, then the same command goes on)"
    assert str(raised.value).startswith(str(work.folder.path))
    assert str(raised.value).endswith(f" cannot be written: {kept}")
    filling.unlink()
    assert tune(work, until="look") == {"look": True}


@pytest.mark.parametrize(
    "record",
    [
        {"handle": {}},
        {"handle": None},
        {"handle": "x", "launcher": {"name": "local"}},
        {"handle": {}, "launcher": {"name": "nothing"}},
        {"handle": {"end": 1, "host": 2}, "launcher": {"name": "local", "mpiexec": 3}},
    ],
)
def test_a_damaged_state_is_an_error_that_says_what_to_do(tmp_path: Path, record: dict[str, object]) -> None:
    campaign = Campaign.create(tmp_path, PLAN)
    write_json(campaign.state_file, record)
    for order in (control.status, control.cancel):
        with pytest.raises(CampaignError, match=r"state.json is damaged .*remove the file, then"):
            order(campaign)
    assert main(["bench", "status", str(tmp_path)]) == 2


@pytest.mark.parametrize("launcher", [{"name": "nothing"}, {"name": "slurm"}, ["local"]])
def test_a_launcher_that_nobody_knows_is_a_damage_of_the_state(tmp_path: Path, refused: Run, launcher: object) -> None:
    write_json(Campaign.create(tmp_path, PLAN).state_file, {"launcher": launcher})
    assert f"{tmp_path / 'state.json'} is damaged" in refused("bench", "resume", tmp_path).err


@pytest.mark.parametrize("name", ["plan.json", "state.json", "progress.json", "results.jsonl", "log.txt"])
@pytest.mark.parametrize("other", ["pipe", "/dev/zero", "large"])
def test_what_is_no_file_in_a_campaigns_folder_stops_nobody(tmp_path: Path, name: str, other: str) -> None:
    campaign = Campaign.create(tmp_path / "campaign", PLAN)
    write_json(campaign.state_file, {"state": "planned"})
    (file := campaign.folder / name).unlink(missing_ok=True)
    if other == "pipe":
        os.mkfifo(file)
    elif other == "large":
        with file.open("wb") as stream:
            stream.truncate(65 << 20)
    else:
        file.symlink_to(other)
    assert main(["bench", "status", str(campaign.folder), "--log", "3"]) in (0, 2)
    # As the page looks at all of them.
    entries, faults = kept.campaigns(tmp_path)
    assert len(entries) + len(faults) == 1
    with contextlib.suppress(BenchError):
        follow(campaign.folder).look()


def test_an_upload_that_does_not_fit_is_refused_and_gives_its_room_back(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_FREE_BYTES", -(1 << 30))
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    uploads = files.Uploads()
    before = files._ROOM.left
    assert uploads.put("small.csv", b"a,b\n") is None
    fill(small_disk)
    message = uploads.put("large.csv", bytes(300 << 10))
    assert message == "large.csv: cannot be kept on this machine: No space left on device"
    assert files._ROOM.left == before - 4
    assert [path.name for path in uploads.paths] == ["small.csv"]
    uploads.close()
    assert files._ROOM.left == before


def test_files_are_written_with_the_permissions_that_a_process_gives(tmp_path: Path) -> None:
    target = tmp_path / "rules.txt"
    for umask, mode in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
        before = os.umask(umask)
        try:
            disk.write_text(target, OLD)
        finally:
            os.umask(before)
        assert target.stat().st_mode & 0o777 == mode
        target.unlink()
    target.write_text("old")
    target.chmod(0o640)
    disk.write_text(target, OLD)
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_one_and_a_device_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    disk.write_text(tmp_path / "link", OLD)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == OLD
    disk.write_text(os.devnull, OLD)
    assert Path(os.devnull).is_char_device()


def test_what_is_neither_file_nor_folder_is_refused_before_it_is_read(
    tmp_path: Path, refused: Run, saved: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    large = tmp_path / "large.json"
    with large.open("wb") as stream:
        stream.truncate(1 << 40)
    (tmp_path / "endless.csv").symlink_to("/dev/zero")
    for path in (pipe, "/dev/zero", large, tmp_path / "endless.csv"):
        reason = "at most 67,108,864 bytes are read" if path == large else "is neither a file nor a folder"
        for words in (
            ["lint", path],
            ["translate", path, "--to", "openmpi"],
            ["decide", saved, "-c", "bcast", "--weights", path],
            ["decide", saved, "-c", "bcast", "--tree", "rules", "--file", path],
            ["export", saved, "-c", "bcast", "--to", "mpich", "--base", path],
            *([[*PREDICT, "--parameters", path]] if path == large else []),
        ):
            error = refused(*words).err
            assert reason in error, (words, error)
            assert error.count("error:") == 1
    with pytest.raises(OSError, match="is neither a file nor a folder"):
        disk.appended(pipe)
    for path in (pipe, "/dev/zero"):
        assert "is neither a file nor a folder" in refused("info", path).err


def test_what_is_read_is_not_written_over(tmp_path: Path, saved: Path, refused: Run) -> None:
    copy = save_results(open_results(saved), tmp_path / "results.csv")
    content = copy.read_bytes()
    (tmp_path / "link.csv").symlink_to(copy)
    for output in (copy, tmp_path / "link.csv"):
        for words in (["convert", copy], ["export", copy, "-c", "bcast", "--to", "c"]):
            assert "that is the file to read; give another name" in refused(*words, "-o", output).err
    assert copy.read_bytes() == content
    base, rules = tmp_path / "base.json", tmp_path / "rules.json"
    base.write_text(str(known("5.0")))
    export = ["export", str(saved), "-c", "bcast", "--to", "mpich", "--allow-loss", "99999", "-o"]
    assert "that is the file to read; give another name" in refused(*export, base, "--base", base).err
    for _ in range(2):
        assert main([*export, str(rules), "--base", "5.0"]) == 0, "a version names no file"


def test_no_file_takes_the_place_of_a_folder(
    tmp_path: Path, saved: Path, refused: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "thesis.html"
    folder.mkdir()
    (folder / "chapter").write_text(OLD)
    monkeypatch.chdir(folder)
    export = ["export", str(saved), "-c", "bcast", "--tree", "exact", "--to", "c"]
    report = ["report", str(saved), "-c", "bcast", "--no-frontier", "--tree", "exact"]
    for words, output, reason in (
        (export, str(folder), "it is a folder, which no file replaces"),
        (export, f"{folder}/", "it is a folder, which no file replaces"),
        (export, "", "-o '': that is no name of a file"),
        (report, str(folder), "it is a folder, which no file replaces"),
    ):
        assert reason in refused(*words, "-o", output).err, output
    assert there(folder) == {"chapter"}
    assert there(tmp_path) == {"thesis.html"}
    with pytest.raises(IsADirectoryError, match="no file replaces"):
        disk.write_text(folder, OLD)
    # What cannot be written because a file stands where its folder should be is named, not what stands aside.
    with pytest.raises(NotADirectoryError) as error:
        disk.write_text(folder / "chapter" / "page", OLD)
    assert error.value.filename == str(folder / "chapter" / "page")
    # A folder may take the place of another.
    with disk.aside(folder) as partial:
        partial.mkdir()
    assert there(folder) == set()


def test_help_that_cannot_be_written_is_an_error() -> None:
    for words in (["--help"], ["map", "--help"], ["--version"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "dashboard.cli", *words],
                cwd=ROOT,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == 2, words
        assert done.stderr.splitlines() == [
            "colltune: error: the answer cannot be written to standard output: No space left on device"
        ]
