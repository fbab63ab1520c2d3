"""PICO's tarballs: every row is counted, and what a test is comes of a summary, a list of tests or a hint."""

import csv
import io
import tarfile
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from loaders import MissingHintError, open_results, scan
from loaders.pico import FORMAT
from loaders.pico_names import split_algorithm
from tests.loaders.printed import BLOCKS, damaged_readings, read


@pytest.fixture(scope="module")
def tarball(shared: Path) -> Path:
    return shared / "data" / "pico" / "raw" / "2025_04_06___02_35_52.tar.gz"


def tar_of(path: Path, members: dict[str, str | bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def samples_text(values: range) -> str:
    return "highest\n" + "".join(f"{v}\n" for v in values)


def test_a_tarball_accounts_for_every_row_of_its_tables(tarball: Path) -> None:
    reading = read(FORMAT, tarball)
    kinds: Counter[str] = Counter()
    with tarfile.open(tarball) as tar:
        for member in tar:
            content = tar.extractfile(member) if member.name.endswith(".csv") else None
            if content is not None:
                lines = content.read().decode().split("\n")[1:]
                kinds["averages"] += sum(line.startswith("Average") for line in lines)
                kinds["samples" if "int32" in member.name else "summary"] += sum(bool(s.strip()) for s in lines)
    assert kinds == {"samples": 71690 + 941, "averages": 941, "summary": 941}
    assert reading.source.rows == 71690
    assert reading.source.skipped == kinds["averages"] + kinds["summary"]
    assert len(reading.source.skips) == 941


def test_medians_of_a_tarball_are_those_of_its_summary(tarball: Path) -> None:
    rows = read(FORMAT, tarball).rows
    assert set(rows["comm_size"]) == {4096}
    medians = rows.groupby(["collective", "algorithm", "segment_size", "message_size"], observed=True)["time"].median()
    with tarfile.open(tarball) as tar:
        content = tar.extractfile("2025_04_06___02_35_52/aggregated_results_summary.csv")
        assert content is not None
        summary = list(csv.DictReader(io.TextIOWrapper(content)))
    assert len(medians) == len(summary)
    for row in summary:
        total = int(row["buffer_size"])
        size = total // 4096 if row["collective_type"] in BLOCKS else total
        name, segment = split_algorithm(row["algo_name"])
        expected = float(row["median"]) * 1e-9
        assert medians[row["collective_type"].lower(), name, segment, size] == pytest.approx(expected, rel=1e-9)


def test_a_tarball_of_one_test_takes_hints(tmp_path: Path) -> None:
    path = tar_of(
        tmp_path / "2025_05_06.tar.gz",
        {
            "2025_05_06/0/8_ring_ompi_int32.csv": samples_text(range(100, 110)) + "-3\n",
            "2025_05_06/alloc.csv": "MPI_Rank,allocation\n0,a\n1,b\n",
            "2025_05_06/slurm.out": "not a table\n",
        },
    )
    cube = open_results(path, collective="allgather", comm_size=4)["allgather"]
    assert cube["message_size"].item() == 8
    assert cube["repetitions"].item() == 8
    (file,) = scan(path)
    assert (file["rows"], file["skipped"], file["needs"]) == (8, 5, ["collective", "comm_size"])


def test_a_tarball_of_several_unnamed_tests_is_refused(tmp_path: Path) -> None:
    text = samples_text(range(100, 110))
    path = tar_of(tmp_path / "a.tar.gz", {"t/0/8_ring_int32.csv": text, "t/1/8_ring_int32.csv": text})
    assert "2 tests (t/0, t/1)" in read(FORMAT, path, collective="bcast").error


def test_a_list_of_tests_in_the_tarball_names_them(tmp_path: Path) -> None:
    text = samples_text(range(100, 110))
    tests = "timestamp,test_id,nnodes,tasks_per_node,collective_type\nt,0,4x2,2,BCAST\nt,1,4,1,GATHER\nu,1,9,1,SCAN\n"
    members = {f"t/{place}/8_{name}_int32.csv": text for place, name in enumerate(("ring", "ring", "x"))}
    path = tar_of(tmp_path / "a.tar.gz", {**members, "m_metadata.csv": f"{tests}u,2,9\n"})
    reading = read(FORMAT, path)
    rows = reading.rows.drop_duplicates("collective").set_index("collective")
    assert dict(rows["comm_size"]) == {"bcast": 16, "gather": 4}
    assert dict(rows["message_size"]) == {"bcast": 32, "gather": 8}
    assert reading.source.rows + reading.source.skipped == 34


def test_a_tarball_with_only_a_summary_gives_its_rows(samples: Path, tmp_path: Path) -> None:
    text = (samples / "pico" / "mare_nostrum_aggregated_results_summary.csv").read_bytes()
    path = tar_of(tmp_path / "a.tar.gz", {"t/aggregated_results_summary.csv": text})
    reading = read(FORMAT, path)
    assert (reading.source.rows, reading.source.skipped) == (303, 0)
    assert set(reading.rows["system"]) == {"mare_nostrum"}


def test_tests_of_a_tarball_with_different_libraries_or_campaigns_are_not_pooled(tmp_path: Path) -> None:
    head = "timestamp,test_id,nnodes,tasks_per_node,collective_type,mpi_lib,mpi_lib_version\n"
    tests = head + "t,0,4,2,BCAST,OMPI,4.1\nt,1,4,2,BCAST,OMPI,5.0\nu,0,4,2,BCAST,OMPI,5.0\n"
    members: dict[str, str | bytes] = {
        f"{place}/8_ring_int32.csv": samples_text(range(at, at + 10))
        for place, at in (("t/0", 100), ("t/1", 300), ("u/0", 9000))
    }
    path = tar_of(tmp_path / "a.tar.gz", {**members, "m_metadata.csv": tests})
    with pytest.raises(MissingHintError, match=r"version of bcast is '4\.1' .*, up to .* apart"):
        open_results(path)
    with pytest.raises(MissingHintError, match=r"campaign of bcast is 't' .* and 'u' .*, up to 2\d\.\d times apart"):
        open_results(path, select="version=5.0")
    cube = open_results(path, select="version=5.0,campaign=t")["bcast"]
    assert (cube["repetitions"].item(), cube["time"].item()) == (8, pytest.approx(305.5e-9))


@pytest.mark.parametrize("beside", ["lab/fugaku_metadata.csv", "lab_metadata.csv"])
def test_the_list_of_tests_beside_a_tarball_names_them(tmp_path: Path, beside: str) -> None:
    (tmp_path / "lab").mkdir()
    text = samples_text(range(100, 110))
    members: dict[str, str | bytes] = {f"t/{n}/8_{a}_int32.csv": text for n, a in enumerate(("default_ompi", "ring"))}
    path = tar_of(tmp_path / "lab" / "t.tar.gz", members)
    head = "timestamp,test_id,nnodes,tasks_per_node,collective_type,mpi_lib,mpi_lib_version\n"
    listed = head + "t,0,4,2,BCAST,Open MPI,4.1\nt,1,4,2,GATHER,Open MPI,4.1\nother,0,4,1,SCAN,MPICH,4.0\n"
    target = tmp_path / beside
    target.write_text(listed)
    results = open_results([path])
    assert results["bcast"]["method"].values.tolist() == ["default"]
    assert results["gather"]["message_size"].values.tolist() == [4]
    attrs = results["bcast"].attrs
    assert (attrs["library"], attrs["library_version"]) == ("Open MPI", "4.1")
    assert attrs["system"] == target.name.removesuffix("_metadata.csv")


def test_names_that_lead_elsewhere_are_passed_over(tmp_path: Path) -> None:
    text = samples_text(range(100, 110))
    members = {f"{p}/8_ring_int32.csv": text for p in ("../x", "/x", "t/0")}
    path = tar_of(tmp_path / "a.tar.gz", dict(members))
    reading = read(FORMAT, path, collective="bcast")
    assert reading.source.rows == 8
    assert sum("leads elsewhere" in note for note in reading.source.notes) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tar.gz"]


def test_a_tarball_that_is_cut_off_gives_what_is_whole(tarball: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.tar.gz"
    path.write_bytes(tarball.read_bytes()[:200_000])
    reading = read(FORMAT, path)
    assert 0 < reading.source.rows < 71690
    assert any("cannot be read" in reason for reason in reading.source.reasons)


def test_damaged_tarballs_end_in_rows_or_a_load_error(tmp_path: Path) -> None:
    members: dict[str, str | bytes] = {f"t/0/{n}_ring_int32.csv": samples_text(range(100, 110)) for n in (8, 16, 32)}
    packed = tar_of(tmp_path / "a.tar.gz", members)
    unpacked = tmp_path / "a.tar"
    with tarfile.open(packed) as tar, tarfile.open(unpacked, "w") as plain:
        for member in tar:
            plain.addfile(member, tar.extractfile(member))
    contents = [packed.read_bytes(), unpacked.read_bytes()]
    assert isinstance(read(FORMAT, unpacked, collective="bcast").rows, pd.DataFrame)
    for _, reading in damaged_readings(FORMAT, contents, tmp_path, 80, collective="bcast"):
        assert reading.error or (reading.rows["time"] > 0).all()
