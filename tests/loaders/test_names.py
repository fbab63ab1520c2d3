"""Names of collectives as files spell them, what their sizes mean, and Open MPI's numbers of algorithms."""

import json
from pathlib import Path

import pytest

from loaders.collectives import size_meaning
from loaders.names import collective_name
from loaders.numbers import Numbering
from loaders.openmpi import COLLECTIVE_IDS, algorithms, named, series


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("MPI_Bcast", "bcast"),
        (" All-to-All ", "alltoall"),
        ("MPI_Ibcast", "ibcast"),
        ("iall_reduce", "iallreduce"),
        ("All_gather", "allgather"),
        ("all-gatherv", "allgatherv"),
        ("all to allv", "alltoallv"),
        ("all2all", "alltoall"),
        ("ReduceScatter", "reduce_scatter"),
        ("Reduce_scatterBlock", "reduce_scatter_block"),
        ("reducescatterblock", "reduce_scatter_block"),
        ("MPI_Bcast_init", "bcast_persistent"),
        ("broadcast_persistent", "bcast_persistent"),
        ("pt2pt", "pt2pt"),
        ("idance", None),
    ],
)
def test_a_nonblocking_or_persistent_call_is_a_collective_of_its_own(text: str, name: str | None) -> None:
    assert collective_name(text) == name


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("ialltoall", "bytes of the block per process"),
        ("allreduce_persistent", "bytes of the vector"),
        ("barrier", "bytes"),
        ("my_own", "bytes"),
    ],
)
def test_sizes_are_of_a_block_or_of_a_vector(name: str, meaning: str) -> None:
    assert size_meaning(name) == meaning


def test_later_versions_of_open_mpi_have_more_algorithms() -> None:
    names = {version: algorithms("allgather", version) for version in ("4.1.4", "5.0.3", "6.0.0a1")}
    assert {version: len(each) for version, each in names.items()} == {"4.1.4": 6, "5.0.3": 7, "6.0.0a1": 8}
    assert (names["5.0.3"][7], names["6.0.0a1"][7], names["6.0.0a1"][8]) == ("sparbit", "sparbit", "direct-messaging")
    assert (names["5.0.3"][2], names["6.0.0a1"][2]) == ("bruck", "bruck-k-fanout")
    assert [named("reduce", 8, version) for version in ("5.0", "6.0")] == [None, "knomial"]
    assert [named("allreduce", 7, version) for version in ("5.0", "6.0")] == [None, "allgather_reduce"]
    assert named("reduce", 0, "6.0") == "default"


@pytest.mark.parametrize("version", ["3.1.6", "main", ""])
def test_versions_of_open_mpi_whose_numbers_are_not_known_are_refused(version: str) -> None:
    with pytest.raises(ValueError, match=r"known are the versions 4\.1, 5\.0, 6\.0"):
        series(version)


def test_the_numbers_of_intel_mpi_are_known_since_2019() -> None:
    assert Numbering.of("Intel MPI 2019.9").name("bcast", 3) == "ring"
    with pytest.raises(ValueError, match=r"Intel MPI '2018\.4': known are the numbers of 2019 to"):
        Numbering.of("intel-2018.4")


def test_collectives_have_their_numbers_by_the_order_of_open_mpi_s_schema(samples: Path) -> None:
    schema = json.loads((samples / "rules_ompi" / "ompi-main__tuned_dynamic_file_schema.json").read_text())
    listed = schema["$defs"]["collective_identifier"]["enum"]
    spelled = {"reducescatter": "reduce_scatter", "reducescatterblock": "reduce_scatter_block"}
    # The schema forgets allgatherv.
    assert ("allgather", "allgatherv", *(spelled.get(name, name) for name in listed[1:])) == COLLECTIVE_IDS
