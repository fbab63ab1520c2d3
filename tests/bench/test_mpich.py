"""What is read from mpivars, and the variables that force a method. The excerpt is of 5.0.2."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.benchmarks.errors import NoMpiError
from dashboard.benchmarks.libraries import library, mpich
from dashboard.benchmarks.libraries.methods import DEFAULT, Fixed, Method, Variants
from loaders.collectives import COLLECTIVES
from tests.bench.campaigns import prints

MPIVARS = """\
466 MPI Control Variables
\tMPIR_CVAR_BARRIER_INTRA_ALGORITHM=0@INT Variable to select barrier algorithm
auto - Internal algorithm selection (can be overridden with MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE)
nb            - Force nonblocking algorithm
smp           - Force smp algorithm
k_dissemination - Force high radix dissemination algorithm
recexch       - Force recursive exchange algorithm
\tMPIR_CVAR_BARRIER_DISSEM_KVAL   =2@INT k value for dissemination barrier
\tMPIR_CVAR_BCAST_TREE_KVAL       =2@INT k value for tree based bcast
\tMPIR_CVAR_BCAST_TREE_TYPE       =kary@CHAR Tree type for tree based bcast kary
kary      - kary tree type
\tMPIR_CVAR_BCAST_TREE_PIPELINE_CHUNK_SIZE=8192@INT chunk size
\tMPIR_CVAR_BCAST_INTRA_ALGORITHM =0@INT Variable to select bcast algorithm
auto - Internal algorithm selection (can be overridden with MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE)
binomial                                - Force Binomial Tree
nb                                      - Force nonblocking algorithm
scatter_ring_allgather                  - Force Scatter Ring
pipelined_tree                          - Force tree-based pipelined algorithm
tree                                    - Force tree-based algorithm
\tMPIR_CVAR_BCAST_INTER_ALGORITHM =0@INT Variable to select bcast algorithm
auto - Internal algorithm selection
remote_send_local_bcast - Force remote-send-local-bcast algorithm
\tMPIR_CVAR_REDUCE_SCATTER_INTRA_ALGORITHM=0@INT Variable to select
auto - Internal algorithm selection
noncommutative     - Force noncommutative algorithm
pairwise           - Force pairwise algorithm
\tMPIR_CVAR_DEVICE_COLLECTIVES    =2@INT Variable to select whether the device
MPIR-level collective algorithms.
all     - Always prefer the device collectives
none    - Never pick the device collectives
percoll - Use the per-collective CVARs to decide
\tMPIR_CVAR_COLLECTIVE_FALLBACK   =2@INT Variable to control what the MPI library
arguments passed in by the user.
error   - throw an error
print   - print an error message and fallback to the internally selected algorithm
silent  - silently fallback to the internally selected algorithm
"""
for kind in ("INT", "CHAR"):
    MPIVARS = MPIVARS.replace(f"@{kind} ", f"\tSCOPE_ALL_EQ\tNo-object\tMPI_{kind}\tVERBOSITY_USER_BASIC\t")


@pytest.fixture(scope="module")
def read() -> mpich.Mpich:
    return mpich.parse(MPIVARS, "5.0.2")


def test_algorithms_have_their_places_in_the_list_as_numbers(read: mpich.Mpich) -> None:
    assert read.algorithms["bcast"] == {
        1: "binomial",
        2: "nb",
        3: "scatter_ring_allgather",
        4: "pipelined_tree",
        5: "tree",
    }
    assert set(read.algorithms) == {"barrier", "bcast", "reduce_scatter"}


def test_methods_have_radix_and_segments_where_the_algorithm_takes_them(read: mpich.Mpich) -> None:
    methods = read.methods("bcast", Variants((0, 1024), (4,), (2, 8)))
    assert methods[0] == Method(DEFAULT, library_id=0)
    assert Method("binomial", library_id=1) in methods
    pipelined = [(m.segment_size, dict(m.parameters)) for m in methods if m.algorithm == "pipelined_tree"]
    # Without segments it is the tree.
    assert pipelined == [(1024, {"radix": 2}), (1024, {"radix": 8})]
    assert [(m.segment_size, m.parameters) for m in methods if m.algorithm == "tree"] == [
        (0, (("radix", 2),)),
        (0, (("radix", 8),)),
    ]
    assert read.methods("gather", Variants()) == [Method(DEFAULT, library_id=0)]


def test_what_would_end_the_job_is_not_offered(read: mpich.Mpich) -> None:
    assert [m.algorithm for m in read.methods("reduce_scatter", Variants())] == [DEFAULT, "pairwise"]


def test_forcing_switches_the_device_off_and_leaves_nothing_of_the_method_before(read: mpich.Mpich) -> None:
    said = read.settings("bcast", Method("pipelined_tree", 1024, (("radix", 8),), 4))
    assert said == {
        "MPIR_CVAR_DEVICE_COLLECTIVES": 1,
        "MPIR_CVAR_COLLECTIVE_FALLBACK": 2,
        "MPIR_CVAR_BCAST_INTRA_ALGORITHM": 4,
        "MPIR_CVAR_BCAST_TREE_KVAL": 8,
        "MPIR_CVAR_BCAST_TREE_PIPELINE_CHUNK_SIZE": 1024,
    }
    own = read.settings("bcast", Method(DEFAULT, library_id=0))
    assert own.keys() == said.keys()
    assert own["MPIR_CVAR_BCAST_INTRA_ALGORITHM"] == 0
    assert own["MPIR_CVAR_DEVICE_COLLECTIVES"] == 2
    assert read.strict == {"MPIR_CVAR_COLLECTIVE_FALLBACK": 0}


def test_a_text_without_algorithms_is_no_mpich() -> None:
    with pytest.raises(NoMpiError, match="no algorithms"):
        mpich.parse("466 MPI Control Variables\n", "1.0")


def test_an_mpich_is_told_by_its_start_command_and_what_is_unknown_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpiexec = prints(tmp_path / "mpiexec", "HYDRA build details:\n    Version:          5.0.2\n")
    mpivars = prints(tmp_path / "mpivars", MPIVARS)
    assert library.library_of(mpiexec) == mpich.parse(MPIVARS, "5.0.2")
    # That of the current folder, whatever is on the PATH.
    monkeypatch.chdir(tmp_path)
    assert library.at("./mpiexec").mpiexec == mpiexec
    mpivars.unlink()
    monkeypatch.setattr("shutil.which", lambda _: None)
    lacking = library.library_of(mpiexec)
    assert (lacking.name, lacking.version) == ("MPICH", "5.0.2")
    assert isinstance(lacking, Fixed)
    assert lacking.why.startswith(f"{mpivars}, which lists the methods of an MPICH, is not there")
    other = library.library_of(prints(tmp_path / "mpiexec", "Some Other MPI, Version 1.0\n"))
    assert (other.name, other.version) == ("Some Other MPI, Version 1.0", "1.0")
    assert other.methods("bcast", Variants()) == [Method(DEFAULT, library_id=0)]


@pytest.fixture(scope="module")
def installed() -> mpich.Mpich:
    """The MPICH of this Python, where it has one; CI has an Open MPI there, so nothing is asked for."""
    if importlib.util.find_spec("mpi4py") is None or not (Path(sys.executable).parent / "mpivars").exists():
        pytest.skip("no MPICH beside this Python")
    mpi = library.find().library
    assert isinstance(mpi, mpich.Mpich)
    return mpi


def test_the_installed_library_takes_every_name_for_the_number_that_was_read(installed: mpich.Mpich) -> None:
    program = (
        "import json, sys\n"
        "from mpi4py import MPI\n"
        "from dashboard.benchmarks.ranks.mpit import ToolInterface\n"
        "tools = ToolInterface()\n"
        "print(json.dumps({name: tools.read(name) for name in sys.argv[1:]}))\n"
        "tools.close()\n"
    )
    names = [name for name in COLLECTIVES if name in installed.algorithms]
    wanted = {f"MPIR_CVAR_{name.upper()}_INTRA_ALGORITHM": [*installed.algorithms[name].items()][-1] for name in names}
    command = [str(Path(sys.executable).parent / "mpiexec"), "-n", "1"]
    command += [word for name, (_, text) in wanted.items() for word in ("-env", name, text)]
    command += [sys.executable, "-c", program, *wanted]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    assert {name: int(number) for name, number in re.findall(r'"(\w+)": (\d+)', output)} == {
        name: number for name, (number, _) in wanted.items()
    }
