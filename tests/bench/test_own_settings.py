"""Transport and nodes are what the site says; settings of colltune's own come only where nothing is said."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.named import open_mpi
from dashboard.benchmarks.libraries.own_settings import added, allocated_nodes, default_ranks, kept, slots
from loaders import open_results
from tests.bench.campaigns import campaign_of, run

OWN = open_mpi("5.0").environment(here=True, graphs=True)


@pytest.fixture(autouse=True)
def said(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Variables of a process of which nothing is known."""
    monkeypatch.setattr(os, "environ", variables := {"HOME": "/root", "PATH": os.environ["PATH"]})
    return variables


def test_where_nothing_is_said_all_is_added() -> None:
    assert added(OWN) == OWN
    assert kept(OWN) == {}


@pytest.mark.parametrize("name", ["OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mtl", "UCX_TLS"])
def test_a_transport_that_is_said_is_kept_as_a_whole(name: str, said: dict[str, str]) -> None:
    said[name] = "x"
    environment = added(OWN)
    assert not {"OMPI_MCA_btl", "OMPI_MCA_pml"} & set(environment)
    assert environment["OMPI_ALLOW_RUN_AS_ROOT"] == "1"
    assert "PRTE_MCA_rmaps_default_mapping_policy" in environment
    assert kept(OWN) == {name: "x"}


def test_a_mapping_that_is_said_is_kept() -> None:
    environment = added(OWN, {"PRTE_MCA_rmaps_default_mapping_policy": "node"})
    assert not [name for name in environment if "rmaps" in name]
    assert environment["OMPI_MCA_btl"] == "self,sm"


def test_ranks_that_are_timed_are_bound_as_those_of_programs_where_each_has_a_core(
    said: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def mapped(ranks: int) -> bool:
        return any("rmaps" in name for name in added(OWN, ranks=ranks))

    own_settings = "dashboard.benchmarks.libraries.own_settings"
    assert 1 <= slots() <= len(os.sched_getaffinity(0))
    # Two threads on each of two cores.
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1, 2, 3})
    threads = SimpleNamespace(read_text=lambda path: f"{int(path.split('cpu')[2][0]) % 2}-\n")
    monkeypatch.setattr(f"{own_settings}.disk", threads)
    assert slots() == default_ranks() == 2
    assert [mapped(ranks) for ranks in (0, 2, 3)] == [True, False, True]
    said["SLURM_JOB_NUM_NODES"] = "1"
    assert slots() == 0
    said["SLURM_NTASKS"] = "3"
    assert not mapped(3)


def test_an_allocation_tells_its_nodes(tmp_path: Path, said: dict[str, str]) -> None:
    assert allocated_nodes() == 1
    nodes = tmp_path / "nodes"
    nodes.write_text("a\na\nb\n\nc 2 slots\n")
    for file, count in ((nodes, 3), (tmp_path / "none", 1)):
        said["PBS_NODEFILE"] = str(file)
        assert allocated_nodes() == count
    assert LocalLauncher().here
    assert LocalLauncher(ppn=4).nodes(9) == 1
    # A start command that does not place ranks leaves it open where they are.
    starts = {("mpiexec", "--map-by", "ppr:{ppn}:node"): 3, ("mpiexec", "--hostfile=hosts"): None}
    assert {words: LocalLauncher(words, 4).nodes(9) for words in starts} == starts
    said["SLURM_JOB_NUM_NODES"] = "4"
    assert allocated_nodes() == 4
    # Ranks are not kept on the first.
    assert not LocalLauncher().here
    spread = open_mpi("5.0").environment(here=False, graphs=False)
    assert not [name for name in spread if "rmaps" in name or "btl" in name]


def test_an_allocation_of_one_process_is_no_number_to_measure_with(said: dict[str, str]) -> None:
    said["SLURM_NTASKS"] = "1"
    assert default_ranks() >= 2
    said["SLURM_NTASKS"] = "48"
    assert default_ranks() == 48


@pytest.mark.slow
def test_a_site_that_gives_tcp_measures_tcp_and_the_record_says_so(
    tmp_path: Path, installation: Installation, said: dict[str, str]
) -> None:
    said["OMPI_MCA_btl"] = "self,tcp"
    campaign = campaign_of(tmp_path / "tcp", installation, collectives=("barrier",), algorithms=("default",))
    assert run(campaign, installation)["state"] == "finished"
    attrs = open_results([campaign.results])["barrier"].attrs
    assert "OMPI_MCA_btl=self,tcp" in attrs["environment"]
    assert "self,sm" not in attrs["environment"]
    assert "btl" not in attrs["added_settings"]
    assert "OMPI_ALLOW_RUN_AS_ROOT=1" in attrs["added_settings"]
