"""What is asked of Intel MPI and set for it, by its documentation and what its programs print."""

from pathlib import Path

import pytest

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.wish import Wish, make_plan
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.intelmpi import IntelMpi
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import DEFAULT, Method, Variants
from dashboard.tuning import Asked, Folder, Work, tune
from loaders.collectives import COLLECTIVES
from loaders.intelmpi import ALGORITHMS
from tests.bench.campaigns import prints

#: As printed by the ``mpiexec`` of these versions.
RECORDED = {
    "2021.6": "Intel(R) MPI Library for Linux* OS, Version 2021.6 Build 20220227 (id: 28877f3f32)\n"
    "Copyright 2003-2022, Intel Corporation.\n",
    "2019": "Intel(R) MPI Library for Linux* OS, Version 2019 Update 2 Build 20190123 (id: e2d820d49)\n"
    "Copyright 2003-2019, Intel Corporation.\n",
}


@pytest.mark.parametrize("version", RECORDED)
def test_it_is_known_by_what_its_start_command_prints(tmp_path: Path, version: str) -> None:
    mpi = library.library_of(prints(tmp_path / "mpiexec", RECORDED[version]))
    assert mpi == IntelMpi(version)
    # What the ranks say of themselves holds the same version.
    assert mpi.version in f"Intel(R) MPI Library {version} for Linux* OS"


def test_presets_beyond_the_documented_are_measured_by_their_number(tmp_path: Path) -> None:
    # As printed by impi_info -a of 2021.18.1, shortened; it holds signs of Latin 1.
    text = "".join(
        f"{name} \n  MPI Datatype:\n    MPI_CHAR\n  Description:\n{rest}"
        for name, rest in {
            "I_MPI_ADJUST_BCAST_LIST": "    Intel(R) \xae, select algorithms\n",
            "I_MPI_ADJUST_BCAST": "    <presetid> - Preset identifier\n    range: 0-22 \n",
            "I_MPI_ADJUST_REDUCE_SCATTER_BLOCK": "    <presetid> - Preset identifier\n    range: 0-4 \n",
        }.items()
    )
    prints(tmp_path / "impi_info", text, "latin-1")
    mpi = library.library_of(prints(tmp_path / "mpiexec", RECORDED["2021.6"]))
    assert isinstance(mpi, IntelMpi)
    assert mpi.presets == (("bcast", 22), ("reduce_scatter_block", 4))
    offered = [(method.library_id, method.algorithm) for method in mpi.methods("bcast", Variants())]
    assert offered[14:16] + offered[-1:] == [(14, "numa_shm_avx512"), (15, "preset_15"), (22, "preset_22")]
    block = mpi.methods("reduce_scatter_block", Variants())
    assert [method.library_id for method in block] == [0, 1, 2, 3, 4]
    assert mpi.forcing("bcast", Method("preset_15", library_id=15)) == {"I_MPI_ADJUST_BCAST": "15"}
    assert len(mpi.methods("reduce", Variants())) == 1 + len(ALGORITHMS["reduce"])


@pytest.mark.parametrize(
    ("collective", "algorithm", "number"),
    [
        *(("allgather", name, n) for n, name in enumerate(("recursive_doubling", "bruck", "ring"), 1)),
        ("allgather", "knomial", 5),
        *(("allreduce", name, n) for n, name in enumerate(("recursive_doubling", "rabenseifner", "reduce_bcast"), 1)),
        *(("allreduce", name, n) for n, name in enumerate(("shumilin_ring", "ring", "knomial"), 7)),
        ("allreduce", "shm_knary", 12),
        *(("alltoall", name, n) for n, name in enumerate(("bruck", "isend_irecv_waitall", "pairwise", "plum"), 1)),
        *(("barrier", name, n) for n, name in enumerate(("dissemination", "recursive_doubling"), 1)),
        *(("bcast", name, n) for n, name in enumerate(("binomial", "recursive_doubling", "ring"), 1)),
        *(("bcast", name, n) for n, name in enumerate(("shumilin", "knomial"), 7)),
        *(("reduce", name, n) for n, name in enumerate(("shumilin", "binomial"), 1)),
        ("reduce", "rabenseifner", 5),
        *(
            ("reduce_scatter", name, n)
            for n, name in enumerate(("recursive_halving", "pairwise", "recursive_doubling", "reduce_scatterv"), 1)
        ),
    ],
)
def test_an_algorithm_is_set_by_its_documented_number(collective: str, algorithm: str, number: int) -> None:
    offered = IntelMpi("2021.6").methods(collective, Variants())
    (method,) = [method for method in offered if method.algorithm == algorithm]
    assert IntelMpi("2021.6").forcing(collective, method) == {f"I_MPI_ADJUST_{collective.upper()}": str(number)}


def test_all_that_is_measured_has_algorithms_beside_the_own_decision() -> None:
    assert set(COLLECTIVES) - set(ALGORITHMS) == {"reduce_scatter_block"}
    assert all(len(set(names)) == len(names) for names in ALGORITHMS.values())
    own = Method(DEFAULT, library_id=0)
    assert all(IntelMpi("2021.6").methods(name, Variants())[0] == own for name in COLLECTIVES)
    assert IntelMpi("2021.6").forcing("bcast", own) == {}


def test_a_tuning_refuses_what_cannot_be_switched_within_a_job_before_it_makes_a_folder(tmp_path: Path) -> None:
    installation = Installation(Path("/opt/intel/bin/mpiexec"), IntelMpi("2021.6"))
    folder = Folder(tmp_path / "tuned")
    work = Work(folder, Asked.of({}, {"ranks": 2}), installation, LocalLauncher((str(installation.mpiexec),)))
    with pytest.raises(PlanError, match=r"within one job to measure them, which Intel MPI cannot; measure with"):
        tune(work)
    assert not folder.path.exists()


def test_each_method_is_started_by_itself_unasked(tmp_path: Path) -> None:
    installation = Installation(Path("/opt/intel/bin/mpiexec"), IntelMpi("2021.6"))
    plan = make_plan(Wish(4, ("gather",), (4,), (8,)), installation)
    assert plan.apart
    campaign = Campaign.create(tmp_path, plan)
    launcher = LocalLauncher((str(installation.mpiexec),))
    shown = control.preview(campaign, launcher, installation, 100.0).splitlines()
    starts = [line for line in shown if str(installation.mpiexec) in line]
    assert [line.partition(" ")[0] for line in starts] == [
        str(installation.mpiexec),
        *(f"I_MPI_ADJUST_GATHER={number}" for number in (1, 2, 3, 4)),
    ]
    assert starts[2].endswith("--only gather 2 --launch 1 --forced I_MPI_ADJUST_GATHER=2")
