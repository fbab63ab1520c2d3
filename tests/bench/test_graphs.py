"""Forcing is real: what every algorithm of the installed Open MPI sends is what its definition says, pair by pair.

Where the definition is an own method's schedule (`message_graphs.SAME`), that sends what the library's algorithm does.
"""

from typing import Any

import numpy as np
import pytest

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.protocol import Protocol
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import DEFAULT, Variants
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from dashboard.benchmarks.ranks.cellrun import graph_of
from loaders import open_results
from loaders.collectives import COLLECTIVES
from tests.bench.campaigns import campaign_of, double, points, run
from tests.bench.message_graphs import FOR_TWO, graphs_of

pytestmark = pytest.mark.soak

#: Of which `message_graphs` says what each algorithm sends.
TOLD = [
    name for name in COLLECTIVES if name not in ("exscan", "gatherv", "scatterv", "alltoallw", "reduce_scatter_block")
]
RANKS, SIZE, SEGMENT = 8, 1 << 16, 1024
_PATIENCE_S = 200.0


@pytest.fixture(scope="module")
def forced(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Every method called on eight ranks, and on two for the algorithms that are for two only."""
    wish: dict[str, Any] = {
        "ranks": RANKS,
        "comm_sizes": (2, RANKS),
        "message_sizes": (SIZE,),
        "collectives": COLLECTIVES,
    }
    wish["protocol"] = Protocol(min_repetitions=1, max_repetitions=1, rounds=1, warm_up=0)
    wish["variants"] = Variants((0, SEGMENT), (4,), (4,))
    campaign = campaign_of(tmp_path_factory.mktemp("forced"), installation, **wish)
    ended = run(campaign, installation, _PATIENCE_S)
    assert ended["state"] == "finished", (ended, campaign.tail())
    return campaign


def sent(campaign: Campaign, collective: str, comm_size: int) -> list[tuple[str, int, dict[str, Any]]]:
    """Algorithm, segment size and graph of the points of a collective at the large message."""
    size = 0 if collective == "barrier" else SIZE
    return [
        (point["algorithm"], point["segment_size"], point["graph"])
        for point in points(campaign)
        if (point["collective"], point["comm_size"], point["message_size"]) == (collective, comm_size, size)
        and "error" not in point
    ]


def test_every_algorithm_of_the_library_is_measured_or_refused(forced: Campaign, installation: Installation) -> None:
    assert isinstance(installation.library, OpenMpi)
    names = {(point["collective"], point["algorithm"]) for point in points(forced)}
    for collective in COLLECTIVES:
        for name in ("default", *installation.library.algorithms.get(collective, {}).values()):
            assert (collective, name) in names
    # They are for two processes only, and the library says so.
    assert not forced.done().refused


def test_results_are_read_by_the_loaders(forced: Campaign) -> None:
    results = open_results([forced.results])
    assert set(results.children) == set(COLLECTIVES)
    cube = results["bcast"].to_dataset()
    assert cube["comm_size"].values.tolist() == [2, RANKS]
    assert cube.attrs["library"] == "Open MPI"
    assert cube.attrs["statistic_kind"] == "completion"
    times = cube["time"].values[np.isfinite(cube["time"].values)]
    assert times.size
    assert ((times > 1e-8) & (times < 1.0)).all()


@pytest.mark.parametrize("collective", TOLD)
@pytest.mark.usefixtures("counting")
def test_every_algorithm_of_the_library_sends_its_own_messages(
    forced: Campaign, installation: Installation, collective: str
) -> None:
    assert isinstance(installation.library, OpenMpi)
    seen, older = set(), installation.library.version.startswith("4.")
    for comm_size in (2, RANKS):
        for algorithm, segment, graph in sent(forced, collective, comm_size):
            if algorithm == DEFAULT or (algorithm == FOR_TWO) != (comm_size == 2):
                continue
            size = 0 if collective == "barrier" else SIZE
            rows = graphs_of(collective, algorithm, comm_size, size, segment, older=older)
            expected = [graph_of(row) for row in rows]
            assert graph["digest"] in [each["digest"] for each in expected], (algorithm, segment, graph, expected[:3])
            seen.add(algorithm)
    assert seen == set(installation.library.algorithms[collective].values())


@pytest.mark.usefixtures("counting")
def test_all_trees_of_two_processes_are_one_and_so_is_every_exchange(forced: Campaign) -> None:
    results = open_results([forced.results])
    assert double(results["bcast"], "binomial", 2, SIZE) == "pipeline"
    assert double(results["bcast"], "binomial", RANKS, SIZE) is None
    assert double(results["allgather"], "recursive_doubling", 2, SIZE) == "bruck"
    assert double(results["allgather"], "recursive_doubling", RANKS, SIZE) is None


@pytest.mark.usefixtures("counting")
def test_the_same_messages_in_another_order_are_no_double(forced: Campaign) -> None:
    graphs = {algorithm: graph["digest"] for algorithm, _, graph in sent(forced, "alltoall", RANKS)}
    assert graphs["linear"] == graphs["pairwise"]
    results = open_results([forced.results])
    assert double(results["alltoall"], "linear", RANKS, SIZE) is None
    assert double(results["alltoall"], "pairwise", RANKS, SIZE) is None
