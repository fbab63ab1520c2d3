"""Algorithms that are numbers: the library's, where it is known or said."""

import json
from pathlib import Path

import pytest

from loaders import LoadError, intelmpi, open_results

TABLE = "collective,algorithm,comm_size,message_size,time_us\n"


def test_numbers_of_different_libraries_do_not_meet_once_one_is_selected(tmp_path: Path) -> None:
    for library, number in (("openmpi", 6), ("intel", 1)):
        head = TABLE.replace("time_us", "library_id,time_us")
        (tmp_path / f"{library}.csv").write_text(head + f"bcast,binomial,4,8,{number},1.0\n")
    chosen = open_results(tmp_path, pattern="{library}.csv", select="library=intel")["bcast"]
    assert chosen["library_id"].values.tolist() == [1]


def test_numeric_names_are_the_library_s_numbers_when_asked_or_known(tmp_path: Path) -> None:
    path = tmp_path / "sweep.csv"
    path.write_text(TABLE + "".join(f"bcast,{number},4,8,{number + 1}\n" for number in (0, 1, 6)))
    plain = open_results(path)
    assert plain["bcast"]["method"].values.tolist() == ["0", "1", "6"]
    assert any("such as --numbers" in note for note in json.loads(plain.attrs["sources"])[0]["notes"])
    for hints in ({"numbers": "openmpi-5.0"}, {"library": "Open MPI", "library_version": "5.0.3"}):
        named = open_results(path, **hints)["bcast"]
        assert named["method"].values.tolist() == ["default", "basic_linear", "binomial"]
        assert named["library_id"].values.tolist() == [0, 1, 6]
        assert named.attrs["library"] == "Open MPI"
    path.write_text(TABLE + "bcast,42,4,8,1\n")
    with pytest.raises(LoadError, match="no algorithm 42 of bcast"):
        open_results(path, numbers="openmpi-5.0")
    for unknown in ("mpich", "intel-17", "openmpi-3.1"):
        with pytest.raises(LoadError, match=r"known are|these are openmpi-4\.1.*MPICH names its algorithms"):
            open_results(path, numbers=unknown)
    path.write_text(TABLE + "bcast,8,4,8,1\n")
    assert open_results(path, numbers="intel-2021.9")["bcast"]["method"].values.tolist() == ["knomial"]
    past = len(intelmpi.ALGORITHMS["bcast"]) + 1
    path.write_text(TABLE + f"bcast,{past},4,8,1\n")
    with pytest.raises(LoadError, match=f"no algorithm {past} of bcast"):
        open_results(path, numbers="intel-2021.9")


def test_the_default_allgatherv_of_open_mpi_is_not_its_own_decision(tmp_path: Path) -> None:
    (tmp_path / "sweep.csv").write_text(TABLE + "".join(f"allgatherv,{n},4,8,{n + 1}\n" for n in (0, 1, 3)))
    cube = open_results(tmp_path / "sweep.csv", numbers="openmpi-5.0")["allgatherv"]
    assert cube["method"].values.tolist() == ["default", "linear", "ring"]
    assert cube["library_id"].values.tolist() == [0, 1, 3]
