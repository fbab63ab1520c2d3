"""Programs that know nothing of colltune take decided algorithms of MPICH when the generated library is preloaded."""

import subprocess
from pathlib import Path

import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.export import TARGETS
from tests.bench.preloading import HERE, LIBRARY, STRICT
from tests.bench.test_preload import report, sized

#: By the names of `mpivars` of 5.0.2.
DECISIONS = [
    sized("bcast", ("binomial", 0), ("scatter_ring_allgather", 0), ("default", 0), cuts=(1000, 10_000)),
    sized("allreduce", ("recursive_doubling", 0), ("ring", 0), cuts=(1000,)),
    sized("allgather", ("recursive_doubling", 0)),
    sized("scan", ("recursive_doubling", 0)),
    sized("alltoall", ("brucks", 0), ("pairwise", 0), cuts=(1000,)),
    sized("barrier", ("recexch", 0)),
]
MEASURED = {"library": "MPICH", "library_version": "5.0.2"}
ALONE = {"COLLTUNE_ONE_THREAD": "1", "COLLTUNE_REPORT": "1"}


@pytest.fixture(scope="module")
def built(mpich: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the program and the libraries."""
    folder = tmp_path_factory.mktemp("mpich")
    compile_(mpich, folder, HERE / "collectives.c", "collectives")
    compile_(mpich, folder, written(folder / "preload.c", *DECISIONS), "libcolltune.so", *LIBRARY)
    return folder


def written(path: Path, *decisions: DecisionFunction) -> Path:
    measured = [DecisionFunction(each.collective, each.methods, each.tree, provenance=MEASURED) for each in decisions]
    path.write_text(TARGETS["preload-mpich"].write(measured, None))
    return path


def compile_(mpich: Path, folder: Path, source: Path, name: str, *options: str) -> None:
    command = [mpich.with_name("mpicc"), *STRICT, *options, "-o", name, str(source), "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def ran(mpich: Path, built: Path, ranks: int, *program: str, **said: str) -> subprocess.CompletedProcess[str]:
    variables = {"LD_PRELOAD": "./libcolltune.so", "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", **said}
    given = [word for name, value in variables.items() for word in ("-genv", name, value)]
    start = [mpich, "-n", str(ranks), *given, "./collectives", *program]
    return subprocess.run(start, cwd=built, capture_output=True, text=True, check=False, timeout=120)


def test_every_collective_is_right_and_taken_as_decided(mpich: Path, built: Path) -> None:
    done = ran(mpich, built, 3, "check", **ALONE)
    assert done.stdout == "ok\n", done.stderr
    counted = report(done.stderr)
    for decision in DECISIONS:
        assert counted[decision.collective, decision.methods[0].label] > 0
    assert counted["bcast", "an intercommunicator"] == 3


#: As programs of `use mpi_f08` end: MPICH's own function there calls PMPI_Finalize.
_ENDS_IN_F08 = """
#include <mpi.h>
#include <stddef.h>
void mpi_finalize_f08_(MPI_Fint *) __attribute__((weak));
int main(int argc, char **argv)
{
    int number = 0;

    MPI_Init(&argc, &argv);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    mpi_finalize_f08_(NULL);
    return 0;
}
"""


def test_a_program_of_fortran_2008_ends_with_the_report(mpich: Path, built: Path) -> None:
    (built / "ends.c").write_text(_ENDS_IN_F08)
    compile_(mpich, built, built / "ends.c", "ends")
    said = [word for name, value in ALONE.items() for word in ("-genv", name, value)]
    start = [mpich, "-n", "2", "-genv", "LD_PRELOAD", "./libcolltune.so", *said, "./ends"]
    done = subprocess.run(start, cwd=built, capture_output=True, text=True, check=True)
    assert report(done.stderr)["bcast", "binomial"] == 2


@pytest.mark.parametrize(("ranks", "refused"), [(3, True), (4, False)])
def test_the_algorithm_is_really_forced(mpich: Path, built: Path, ranks: int, *, refused: bool) -> None:
    # Its recursive doubling is for powers of two, and MPICH can be told to refuse what cannot serve.
    strictly = {**ALONE, "MPIR_CVAR_COLLECTIVE_FALLBACK": "error"}
    done = ran(mpich, built, ranks, "calls", "2", "10", "allgather", **strictly)
    # What it says before it aborts does not always arrive.
    assert (done.returncode != 0) is refused


def test_what_acts_on_a_call_is_put_back_after_it(mpich: Path, built: Path) -> None:
    # Forced on pairs, it would be refused on three processes, which are left to MPICH, had it stayed.
    forced, own = Method("recursive_doubling", "recursive_doubling"), Method("default", "default")
    tree = Split((Test("comm_size", 2),), (Leaf(0), Leaf(1)))
    source = written(built / "pairs.c", DecisionFunction("allgather", [forced, own], tree))
    compile_(mpich, built, source, "libpairs.so", *LIBRARY)
    strictly = {**ALONE, "MPIR_CVAR_COLLECTIVE_FALLBACK": "error", "LD_PRELOAD": "./libpairs.so"}
    done = ran(mpich, built, 3, "check", **strictly)
    assert done.stdout == "ok\n", done.stderr
    counted = report(done.stderr)
    assert counted["allgather", "recursive_doubling"] > 0
    assert counted["allgather", "default (as the library decides)"] > 0


def test_where_several_threads_may_call_nothing_is_decided_and_the_report_says_why(mpich: Path, built: Path) -> None:
    done = ran(mpich, built, 2, "threads", "5", COLLTUNE_REPORT="1")
    assert done.stdout == "ok\n", done.stderr
    ((what, count),) = [(what, count) for (name, what), count in report(done.stderr).items() if name == "bcast"]
    assert what.endswith("(COLLTUNE_ONE_THREAD=1 says that none does)")
    assert count == 2 * 2 * 5


def test_own_methods_and_grids_run_over_mpich_beside_its_own(mpich: Path, built: Path) -> None:
    swing = Method("swing", "swing", 0, {"provider": "own", "processes": 4})
    grid = Method("grid", "orthogonal", 0, {"provider": "orthogonal", "grid": "2x2", "inner": "library"})
    decisions = [
        DecisionFunction(
            "allreduce", [swing, Method("ring", "ring")], Split((Test("message_size", 1500),), (Leaf(0), Leaf(1)))
        ),
        DecisionFunction(
            "bcast", [Method(grid.label, grid.algorithm, 0, {**grid.parameters, "processes": 4})], Leaf(0)
        ),
    ]
    compile_(mpich, built, written(built / "own.c", *decisions), "libown.so", *LIBRARY)
    done = ran(mpich, built, 4, "check", **ALONE, LD_PRELOAD="./libown.so")
    assert done.stdout == "ok\n", done.stderr
    counted = report(done.stderr)
    assert all(
        counted[name, label] for name, label in (("allreduce", "swing"), ("allreduce", "ring"), ("bcast", "grid"))
    )
