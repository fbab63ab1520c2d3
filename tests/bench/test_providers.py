"""Own methods in campaigns beside the library's: verified, timed in the same rounds, and told apart. Four ranks."""

import ctypes
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.benchmarks import providers
from dashboard.benchmarks.campaigns import jobs
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.protocol import Protocol
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries import mpicc, named
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Fixed, Method, Variants
from dashboard.benchmarks.providers import orthogonal, own
from dashboard.benchmarks.ranks import counting
from dashboard.decisions.measured.map import methods_of
from dashboard.export.library_names import choice_of
from dashboard.schedules import ALGORITHMS, algorithm_of
from loaders import MissingHintError, open_results
from loaders.collectives import REDUCING
from tests.bench.campaigns import RANKS, SIZE, campaign_of, double, points, run
from tests.cli.command import Run

pytestmark = pytest.mark.slow

#: Collectives that own methods run.
SCHEDULED = tuple(ALGORITHMS)
ONCE = Variants((0, 1024), (2,), (4,))


@pytest.fixture(scope="module")
def beside(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Broadcasts and allgathers of the library and own ones, in one job."""
    wish: dict[str, Any] = {"collectives": ("bcast", "allgather"), "variants": ONCE, "comm_sizes": (3, RANKS)}
    wish["algorithms"] = ("default", "binomial", "pipeline", "bruck", "recursive_doubling", "ring")
    folder = tmp_path_factory.mktemp("beside")
    campaign = campaign_of(folder, installation, **wish, providers=("library", "own"))
    ended = run(campaign, installation)
    assert (ended["state"], ended["refused"]) == ("finished", 0), campaign.tail()
    return campaign


def test_both_are_measured_in_the_same_cells_and_told_apart(beside: Campaign) -> None:
    cube = open_results([beside.results])["bcast"].to_dataset()
    assert {*cube["provider"].values} == {"", "own"}
    assert cube["time"].notnull().all()
    assert cube.attrs["executor"] == "native"
    labels = {str(label) for label in cube["method"].values}
    assert {"binomial", "binomial provider=own", "pipeline 1KiB", "pipeline 1KiB provider=own"} <= labels
    # Points of a cell stand together: the methods took turns there.
    cells = [(point["collective"], point["comm_size"]) for point in points(beside) if "again" not in point]
    assert len(set(cells)) == 1 + sum(a != b for a, b in itertools.pairwise(cells))


@pytest.mark.usefixtures("counting")
def test_an_own_ring_sends_what_the_librarys_ring_sends_and_is_no_double_of_it(beside: Campaign) -> None:
    records = [point for point in points(beside) if point["collective"] == "allgather" and point["comm_size"] == RANKS]
    sent = {(point["algorithm"], "parameters" in point): point["graph"]["digest"] for point in records}
    for name in ("ring", "bruck", "recursive_doubling"):
        assert sent[name, True] == sent[name, False]
    node = open_results([beside.results])["allgather"]
    assert double(node, "ring provider=own", RANKS, SIZE) is None


def test_what_fell_back_is_recorded_as_what_ran(beside: Campaign) -> None:
    node = open_results([beside.results])["allgather"]
    assert double(node, "recursive_doubling provider=own", 3, SIZE) == "bruck provider=own"
    assert double(node, "recursive_doubling provider=own", RANKS, SIZE) is None


def test_results_of_both_are_decided_over(beside: Campaign, done: Run) -> None:
    answer = done("decide", beside.results, "-c", "bcast", "--tree", "quadtree", "--json").json
    assert answer["penalty"]["unmeasured"] == 0
    assert any(method.parameters.get("provider") == "own" for method in _methods(beside))


def _methods(campaign: Campaign) -> tuple[Any, ...]:
    return methods_of(open_results([campaign.results])["bcast"].to_dataset())


def test_an_own_method_is_not_written_as_the_librarys_of_that_name(beside: Campaign) -> None:
    for method in _methods(beside):
        if method.parameters.get("provider") == "own":
            with pytest.raises(LookupError, match="runs over the library"):
                choice_of(method, "bcast", trust_number=False)
        else:
            assert choice_of(method, "bcast").algorithm >= 0


@pytest.mark.soak
def test_all_collectives_by_mpi4py_with_unequal_blocks_rotated_roots_and_two_types(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mpicc, "compiler", lambda _: None)
    way = Protocol(min_repetitions=2, max_repetitions=2, rounds=1, roots="rotate", buffers="rotate", counts="skewed")
    wish: dict[str, Any] = {"collectives": SCHEDULED, "variants": Variants((1024,), (2,)), "comm_sizes": (3,)}
    campaign = campaign_of(
        tmp_path, installation, **wish, ranks=3, protocol=way, providers=("own",), datatype="float64,uint8"
    )
    ended = run(campaign, installation)
    assert (ended["state"], ended["refused"]) == ("finished", 0), campaign.tail()
    with pytest.raises(MissingHintError, match=r"datatype of .* is 'float64' .* and 'uint8'"):
        open_results([campaign.results])
    results, others = (open_results([campaign.results], select={"datatype": each}) for each in ("float64", "uint8"))
    assert set(results.children) == set(others.children) == set(SCHEDULED)
    for name, node in results.children.items():
        cube = node.to_dataset()
        # What nobody adds up is of no type: it was measured once, and stands beside both.
        assert cube["time"].equals(others[name]["time"]) == (name not in REDUCING)
        assert cube.attrs["executor"] == "mpi4py"
        assert set(cube["algorithm"].values) == set(ALGORITHMS[name]) - {"orthogonal"}
        assert np.isfinite(cube["time"].values).all()


def test_a_broken_compiler_is_as_none(installation: Installation, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(mpicc, "compiler", lambda _: Path("/bin/false"))
    campaign = campaign_of(tmp_path, installation, collectives=("bcast",), providers=("own",))
    assert jobs.executor_of(campaign, installation) is None


def test_messages_are_counted_by_a_function_of_our_own_where_the_library_hides_its_counters(
    tmp_path: Path, gcc: str
) -> None:
    older, newer = (Installation(Path("mpiexec"), named.open_mpi(version)) for version in ("4.1.4", "5.0.11"))
    assert jobs.counter_of(campaign_of(tmp_path / "5", newer, collectives=("bcast",)), newer) is None
    built = jobs.counter_of(campaign_of(tmp_path / "4", older, collectives=("bcast",)), older)
    assert built is not None
    record = ctypes.CDLL(str(built), mode=ctypes.RTLD_GLOBAL).mca_common_monitoring_record_pml
    counters = counting.OwnCounters(3)
    record(1, ctypes.c_size_t(100), -10)
    counters.start()
    record(1, ctypes.c_size_t(1000), -10)
    record(2, ctypes.c_size_t(50), -10)
    record(1, ctypes.c_size_t(1), -10)
    counters.stop()
    assert counters.read() == [[0, 2, 1], [0, 1001, 50]]


def test_every_value_of_every_parameter_is_a_method() -> None:
    for collective in SCHEDULED:
        offered = own.methods(collective, Variants((0, 1024), (2, 4)))
        assert len(set(offered)) == len(offered)
        for algorithm in ALGORITHMS[collective].values():
            if algorithm.name == "orthogonal":
                continue
            methods = [method for method in offered if method.algorithm == algorithm.name]
            assert methods
            for parameter in algorithm.parameters:
                values = {dict(method.parameters).get(parameter.name, method.segment_size) for method in methods}
                expected = {"segment_size": {0, 1024}, "fan_out": {2, 4}, "radix": {4}}.get(
                    parameter.name, set(parameter.values)
                )
                assert values >= expected or "_fan_out" in parameter.name or "_first_" in parameter.name
            for method in methods:
                algorithm_of(collective, method.algorithm).values(own.given(method))


def test_parameters_of_parts_that_were_not_chosen_make_no_methods_and_those_that_are_named_do() -> None:
    given = [dict(method.parameters) for method in own.methods("allreduce", Variants((0,), (2, 4)))]
    fan_outs = {(each["reduce"], each.get("reduce_fan_out")) for each in given if "reduce" in each}
    assert ("flat_tree", None) in fan_outs
    assert {fan_out is None for part, fan_out in fan_outs if part != "k_chain"} == {True}
    named = own.methods("bcast", Variants((0,), named=("k_chain:fan_out=8", "ring")))
    assert [dict(method.parameters)["fan_out"] for method in named if method.algorithm == "k_chain"][-1] == 8
    assert {method.provider for method in named} == {"own"}
    (grid,) = orthogonal.methods("bcast", Variants(grids=("2x2",)))
    assert dict(grid.parameters)["inner"] in ALGORITHMS["bcast"]


def test_a_method_is_the_same_after_it_was_written() -> None:
    for collective in SCHEDULED:
        for method in own.methods(collective, ONCE):
            assert Method.from_json(json.loads(json.dumps(method.to_json()))) == method


def test_an_unknown_provider_is_refused_with_those_there_are() -> None:
    with pytest.raises(PlanError, match="no provider of methods 'mine'; allowed are library, own"):
        providers.offered(("mine",), Fixed("X", "1", ""), "bcast", ONCE)


def test_own_methods_need_no_library_that_can_be_switched() -> None:
    library = Fixed("X", "1", "")
    offered = providers.offered(("library", "own"), library, "bcast", ONCE)
    assert [method.provider for method in offered[:2]] == ["library", "own"]
    assert all(providers.settings(library, "bcast", method) == {} for method in offered)
    assert all(providers.forcing(library, "bcast", method) == {} for method in offered)


def test_grids_are_measured_where_they_fit_and_are_no_error_elsewhere(
    installation: Installation, tmp_path: Path
) -> None:
    grids = orthogonal.grids("all", (3, RANKS))
    assert grids == ("2x2",)
    in_grids = [name for name, offered in ALGORITHMS.items() if "orthogonal" in offered]
    wish: dict[str, Any] = {"collectives": (*in_grids, "barrier"), "comm_sizes": (3, RANKS)}
    wish |= {"providers": ("library", "orthogonal"), "algorithms": ("default", "orthogonal")}
    # basic_linear of the library is of bcast alone, forced on the communicators of the grid.
    wish["variants"] = Variants((0,), grids=grids, inner=("linear", "library", "library.basic_linear"))
    wish["protocol"] = Protocol(min_repetitions=3, max_repetitions=3, rounds=1, roots="rotate", buffers="rotate")
    campaign = campaign_of(tmp_path, installation, **wish)
    ended = run(campaign, installation)
    assert (ended["state"], ended["refused"]) == ("finished", 0), campaign.tail()
    cube = open_results([campaign.results])["bcast"].to_dataset()
    measured = cube["time"].notnull().isel(message_size=0)
    assert measured.sel(comm_size=RANKS).all()
    assert measured.sel(comm_size=3).values.tolist() == [True, False, False, False]
    assert cube["grid"].values.tolist() == ["", "2x2", "2x2", "2x2"]
    assert cube["inner"].values.tolist() == ["", "linear", "library", "library.basic_linear"]


@pytest.mark.parametrize(
    ("text", "why"),
    [("1", "1 dimensions"), ("2x3", "is for 6 processes; the plan has 4, 8"), ("wide", "expected factors")],
)
def test_grids_that_cannot_be_are_refused(text: str, why: str) -> None:
    with pytest.raises(PlanError, match=why):
        orthogonal.grids(text, (4, 8))
