"""What programs of a site print need not be UTF-8, such as what its modules say in Latin-1."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.launchers import slurm_words
from dashboard.benchmarks.libraries import library, mpicc, mpich, openmpi
from dashboard.export import decide_time
from tests.bench.campaigns import prints
from tests.bench.test_mpich import MPIVARS

SAID = "Modul für Ihr Konto geladen\n"
OPEN_MPI = """\
mca:coll:tuned:param:coll_tuned_priority:value:30
mca:coll:tuned:param:coll_tuned_bcast_algorithm:value:ignore
mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:1:basic_linear
mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:6:binomial
mca:coll:tuned:version:"component:5.0.11"
"""


def _slurm(program: Path) -> str:
    return slurm_words.run(str(program), "--version").stdout


def _compiles(program: Path) -> None:
    decide_time._compile(str(program), program.parent, "driver", "")


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (library.library_of, "Some MPI, Version 1.0\n"),
        (openmpi.read, OPEN_MPI),
        (lambda program: mpich.read(program, "5.0.2"), MPIVARS),
        (_slurm, "slurm 22.05\n"),
        (_compiles, ""),
    ],
    ids=["mpiexec", "ompi_info", "mpivars", "slurm", "compiler"],
)
def test_a_program_that_prints_in_another_encoding_is_understood(
    tmp_path: Path, ask: Callable[[Path], object], answer: str
) -> None:
    plain = ask(prints(tmp_path / "plain", answer))
    odd = ask(prints(tmp_path / "odd", answer + SAID, encoding="latin-1"))
    assert plain == (odd.partition("Modul")[0] if isinstance(odd, str) else odd)


def test_a_compiler_that_fails_in_another_encoding_is_quoted(tmp_path: Path) -> None:
    compiler = prints(tmp_path / "mpicc", SAID, encoding="latin-1")
    compiler.write_bytes(compiler.read_bytes().replace(b"cat", b"cat >&2") + b"exit 1\n")
    with pytest.raises(BenchError, match=r"Modul f.r Ihr Konto"):
        mpicc.build(compiler, tmp_path / "a.c", tmp_path / "a.so")
