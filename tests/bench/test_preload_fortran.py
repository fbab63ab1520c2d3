"""Programs in Fortran, unchanged, get what is decided: ``mpif.h``, ``use mpi`` and ``use mpi_f08``."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from dashboard.benchmarks.libraries.library import library_of
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.export.targets.preload.library import to_preload
from dashboard.online.library import source
from dashboard.online.table import default_table
from loaders.online import run_of
from loaders.openmpi import series
from loaders.source import Source
from tests.bench.preloading import LIBRARY, Bench

RANKS, TURNS = 4, 3
PROGRAM = """
program calls
  USE
  implicit none
  INCLUDE
  integer :: e, rank, ranks, turn, vector(2000), total(5), wrong
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, e)
  wrong = 0
  do turn = 1, TURNS
    vector = 0
    if (rank == 1) vector = turn
    call MPI_Bcast(vector, 2000, MPI_INTEGER, 1, MPI_COMM_WORLD, e)
    wrong = wrong + count(vector /= turn)
    call MPI_Bcast(vector, 10, MPI_INTEGER, 1, MPI_COMM_WORLD, e)
    total = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, total, 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
    wrong = wrong + count(total /= ranks * (ranks + 1) / 2)
  end do
  if (wrong == 0) print *, 'right'
  call MPI_Finalize(e)
end program
"""
KINDS = {"mpif.h": ("", "include 'mpif.h'"), "mpi": ("use mpi", ""), "mpi_f08": ("use mpi_f08", "")}


def has_headers(folder: Path) -> bool:
    """Whether its compiler finds what programs include; Debian packs that apart."""
    words = [str(folder / "mpicc"), "-fsyntax-only", "-xc", "-"]
    return subprocess.run(words, input=b"#include <mpi.h>\n", capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """An Open MPI that has compilers for Fortran: the first on the PATH."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    able = [folder for folder in folders if all((folder / name).exists() for name in ("mpif90", "mpicc", "mpiexec"))]
    if not able or not has_headers(able[0]):
        pytest.skip("no Open MPI with a compiler for Fortran on the PATH")
    library = library_of(able[0] / "mpiexec")
    if not isinstance(library, OpenMpi):
        pytest.skip(f"{able[0] / 'mpiexec'} is not of Open MPI")
    said = {**library.environment(here=True, graphs=False), "COLLTUNE_REPORT": "1"}
    made = Bench(able[0] / "mpiexec", tmp_path_factory.mktemp("fortran"), said)
    large = Split((Test("message_size", 1000),), (Leaf(0), Leaf(1)))
    methods = [Method("linear", "linear"), Method("chain", "chain", 1024, {"fan_out": 2})]
    decisions = [
        DecisionFunction("bcast", methods, large),
        DecisionFunction("allreduce", [Method("ring", "ring")], Leaf(0)),
    ]
    made.build("libcolltune.so", to_preload(decisions, version=series(library.version)), *LIBRARY)
    return made


def compiled(bench: Bench, kind: str) -> Path:
    """The program with one of the three ways to say MPI."""
    use, include = KINDS[kind]
    source, program = bench.folder / "program.f90", bench.folder / kind.replace(".", "_")
    text = PROGRAM.replace("USE", use).replace("INCLUDE", include).replace("TURNS", str(TURNS))
    source.write_text(text, encoding="ascii")
    command = [bench.mpiexec.with_name("mpif90"), "-o", program, source]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode and "such file" in built.stderr:
        pytest.skip(f"this Open MPI has no {kind}")
    assert built.returncode == 0, built.stderr
    return program


@pytest.mark.parametrize("kind", KINDS)
def test_every_call_from_fortran_is_decided_once_and_right(bench: Bench, kind: str) -> None:
    ran = bench.run(RANKS, compiled(bench, kind), preload=bench.folder / "libcolltune.so")
    assert ran.stdout.count("right") == RANKS
    calls = dict(re.findall(r"colltune: (\w+: \d+) by (\w+)", ran.stderr))
    each = RANKS * TURNS
    assert calls.pop(f"allreduce: {each}") == "ring"
    assert sorted(re.findall(rf"bcast: {each} by (\w+)", ran.stderr)) == ["chain", "linear"]


@pytest.fixture(scope="module")
def tuner(bench: Bench) -> Path:
    """The library that tunes online."""
    table = default_table(series(library_of(bench.mpiexec).version), ("bcast", "allreduce"))
    return bench.build("libcolltune_online.so", source(table), *LIBRARY)


@pytest.mark.parametrize("kind", KINDS)
def test_calls_from_fortran_are_tried_and_traced_online(bench: Bench, tuner: Path, kind: str, tmp_path: Path) -> None:
    out = {"COLLTUNE_ONLINE": "tuning", "COLLTUNE_ONLINE_OUT": str(tmp_path), "COLLTUNE_ONLINE_RUN": "one"}
    ran = bench.run(RANKS, compiled(bench, kind), preload=tuner, said=out)
    assert ran.stdout.count("right") == RANKS
    _, calls = run_of(Source(tmp_path / "one.0.trace"))
    sizes = calls.groupby(["collective", "message_size"]).size()
    assert sizes.to_dict() == {("bcast", 8000): TURNS, ("bcast", 40): TURNS, ("allreduce", 20): TURNS}
    assert (calls["alg"] > 0).all()
    assert (calls["traced"] == RANKS).all()
