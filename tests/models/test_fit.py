"""Fits must find what the measurements were made of, in spite of noise and outliers, and say what they cannot know."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats
import xarray as xr
from scipy.optimize import curve_fit

from dashboard.decisions.grown.family import Cancelled
from dashboard.domain.arrays import FloatArray
from dashboard.domain.models import ModelName
from dashboard.models.errors import ModelError
from dashboard.models.fit import fit, fit_all, gap_at
from dashboard.models.observations import observe
from dashboard.models.p2p import Hockney, PLogP, PointToPointModel
from dashboard.models.parameter_set import ParameterSet, load_parameters, set_of_dict
from dashboard.models.parameter_text import as_written
from dashboard.models.predicting import Covered, candidates, predicted_cube
from dashboard.models.registry import model_of
from dashboard.models.undetermined import others_of, resting, warning
from loaders import open_results
from tests.conftest import ROOT
from tests.models.networks import HOCKNEY, LOGGP, NETWORKS, PLOGP

P = np.arange(2, 17)
SIZES = np.array([1, 64, 1024, 8192, 65536, 524288])


@pytest.fixture(scope="module")
def bcast(fast_ethernet: xr.DataTree) -> xr.Dataset:
    """The broadcast of the sample campaign."""
    return fast_ethernet["bcast"].to_dataset()


def measured(
    network: PointToPointModel, collective: str = "bcast", noise: float = 0.0, seed: int = 0, wild: float = 0.0
) -> xr.Dataset:
    """Times of all algorithms as the model itself has them, with lognormal noise and some that are far off."""
    known = Covered.of(collective, candidates(collective, segment_sizes=(0, 1024, 16384)))
    cube = predicted_cube(known, P, SIZES, network)
    random = np.random.default_rng(seed)
    factor = np.exp(noise * random.standard_normal(cube["time"].shape))
    factor = np.where(random.random(factor.shape) < wild, factor * 8, factor)
    return cube.assign(time=cube["time"] * factor)


def test_what_is_observed_is_of_the_processes_per_node_asked_for_and_says_what_no_model_covers() -> None:
    cube = measured(HOCKNEY).drop_vars("time_std", errors="ignore")
    both = xr.concat([cube, cube.assign(time=3 * cube["time"])], dim=xr.DataArray([1, 2], dims="ppn", name="ppn"))
    both = both.assign(time=both["time"].transpose("method", "comm_size", "message_size", "ppn"))
    single, paired = (observe(both, ppn=ppn) for ppn in (1, 2))
    assert paired.time == pytest.approx(3 * single.time)
    names = [*cube["algorithm"].values[:-1], "witchcraft"]
    labels = [*cube["method"].values[:-1], "witchcraft"]
    strange = observe(cube.assign_coords(method=labels, algorithm=("method", names)))
    assert strange.missing == ("witchcraft",)
    assert [source.partition(":")[0] for source in strange.sources] == ["bcast"]


@pytest.mark.parametrize("collective", ["bcast", "reduce", "allgather", "allreduce"])
def test_hockney_is_found_again(collective: str) -> None:
    start = Hockney(1e-6, 1e-9, delta=HOCKNEY.delta)  # copies do not show apart, so their time is kept
    parameters = fit(observe(measured(HOCKNEY, collective)), "hockney", start=start).parameters
    assert parameters.alpha == pytest.approx(HOCKNEY.alpha, rel=1e-4)
    assert parameters.beta == pytest.approx(HOCKNEY.beta, rel=1e-4)
    if collective in ("reduce", "allreduce"):
        assert parameters.gamma == pytest.approx(HOCKNEY.gamma, rel=1e-2)
    else:
        assert parameters.gamma == 0


def test_loggp_is_found_again_where_it_shows() -> None:
    result = fit(observe(measured(LOGGP)), "loggp")
    for name in ("latency", "overhead", "gap", "gap_per_byte"):
        assert getattr(result.parameters, name) == pytest.approx(getattr(LOGGP, name), rel=0.01)
    assert result.median_error < 0.01


def test_plogp_is_found_again_at_the_sizes_that_were_sent() -> None:
    result = fit(observe(measured(PLOGP)), "plogp", start=PLOGP)
    assert result.parameters.latency == pytest.approx(PLOGP.latency, rel=0.02)
    for size in SIZES[1:]:
        assert result.parameters.gap_at(size) == pytest.approx(PLOGP.gap_at(size), rel=0.02)
    assert result.value("latency") == result.parameters.latency
    assert result.value(gap_at(4096)) == result.parameters.gap_at(4096)
    assert any("as given" in note for note in result.notes)
    assert any("half of the gap" in note for note in fit(observe(measured(PLOGP)), "plogp").notes)


def test_a_pipeline_and_a_barrier_give_the_gap_of_nothing() -> None:
    # As 4.4.1: the flat-tree barrier shows g(0), the pipeline without segments L + g(m); the overheads are given.
    barriers = predicted_cube(Covered.of("barrier", candidates("barrier", ["flat_tree"])), P, [0], PLOGP)
    pipeline = measured(PLOGP).sel({"method": ["pipeline"]})
    parameters = fit(observe([pipeline, barriers]), "plogp", start=PLOGP).parameters
    assert parameters.latency == pytest.approx(PLOGP.latency, rel=0.01)
    assert parameters.gap_at(0) == pytest.approx(PLOGP.gap_at(0), rel=0.01)
    assert parameters.gap_at(SIZES) == pytest.approx(PLOGP.gap_at(SIZES), rel=0.02)


def test_halves_of_a_byte_leave_the_fit_a_number() -> None:
    """Of one byte cut in two LogGP's (m / 2 - 1) G is below 0, and so are times of tiny overheads."""
    cube = open_results([ROOT / "sample_data" / "fast-ethernet-own"])["bcast"].to_dataset().isel(comm_size=[0])
    assert cube["message_size"].values[0] == 1
    assert np.isfinite(fit(observe(cube), "loggp").residuals["residual"]).all()


def test_gaps_of_longer_messages_are_never_shorter(bcast: xr.Dataset) -> None:
    # Neither 32 B nor less were sent as segments: without this the gap there came to 5e-8 s.
    result = fit(observe(bcast), "plogp")
    assert (np.diff(result.parameters.gap) >= 0).all()
    assert result.median_error < 10
    # What only the longer one holds down is not known by itself.
    level = [gap_at(size) for size in (0, 4, 8, 32)]
    assert [name for name, (_, high) in result.intervals.items() if not np.isfinite(high)] == level


def test_a_time_tells_whether_it_rests_on_what_was_not_determined(bcast: xr.Dataset) -> None:
    network, _ = fit_all(observe(bcast), ("hockney", "plogp"), name="mine")
    pipeline = model_of("bcast", "pipeline")

    def rests(model: ModelName, *segments: int) -> dict[str, list[bool]]:
        found = resting(network, model, lambda each: pipeline.predict(each, 8, 1 << 20, np.array(segments)))
        return {name: where.tolist() for name, where in found.items()}

    assert rests("plogp", 32, 8192) == {"gap at 32 B": [True, False]}
    assert rests("plogp", 20) == {"gap at 8 B": [True], "gap at 32 B": [True]}
    assert rests("plogp", 0, 8192) == rests("hockney", 32) == {}
    # It is as well known to who opens the file, and nothing is of parameters that nobody fitted.
    assert set_of_dict(network.to_dict()).undetermined("plogp") == network.undetermined("plogp")
    assert ParameterSet("typed in", NETWORKS).undetermined("plogp") == frozenset()
    assert warning({}) == ""
    found = resting(network, "plogp", lambda each: pipeline.predict(each, 8, 1 << 20, np.array([32, 8192])))
    assert "times of 1 of 2 cells rest on gap at 32 B; the measurements of the fit determine" in warning(found)


def test_a_time_rests_on_a_parameter_of_which_only_one_end_is_known() -> None:
    known = {"hockney": HOCKNEY, "plogp": PLOGP}
    ends: dict[str, Any] = {"hockney": {"beta": [0.0, None]}, "plogp": {gap_at(PLOGP.sizes[-1]): [0.0, None]}}
    network = ParameterSet("mine", known, {"fits": {name: {"intervals": each} for name, each in ends.items()}})
    pipeline, sizes = model_of("bcast", "pipeline"), np.array([0.0, 1.0, 1e6])
    changed = resting(network, "hockney", lambda each: pipeline.predict(each, 2, sizes, 0))
    assert changed["beta"].tolist() == [False, True, True]
    # The last gap may be twice the largest, and what lies between the last two changes with it.
    narrow, wide = (each for _, each in others_of(network, "plogp"))
    assert narrow.gap == pytest.approx((*PLOGP.gap[:-1], max(PLOGP.gap[-2], PLOGP.receive_overhead[-1])))
    assert wide.gap == pytest.approx((*PLOGP.gap[:-1], 2 * PLOGP.gap[-1]))
    (where,) = resting(network, "plogp", lambda each: pipeline.predict(each, 2, sizes, 0)).values()
    assert where.tolist() == [False, False, True]
    # The first may be as small as the overheads that it covers.
    first = {"plogp": {"intervals": {gap_at(PLOGP.sizes[0]): [0.0, None]}}}
    narrow, _ = (each for _, each in others_of(ParameterSet("mine", known, {"fits": first}), "plogp"))
    least = max(PLOGP.send_overhead[0], PLOGP.receive_overhead[0])
    assert narrow.gap == (least, *PLOGP.gap[1:])
    assert least < PLOGP.gap[0]


def test_a_few_wild_times_change_little() -> None:
    parameters = fit(observe(measured(HOCKNEY, noise=0.03, wild=0.05, seed=1)), "hockney").parameters
    assert parameters.alpha == pytest.approx(HOCKNEY.alpha, rel=0.02)
    assert parameters.beta == pytest.approx(HOCKNEY.beta, rel=0.02)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    runs, level = 60, 0.9
    inside = {"alpha": 0, "beta": 0}
    for seed in range(runs):
        result = fit(observe(measured(HOCKNEY, noise=0.08, seed=seed)), "hockney", level=level)
        for name in inside:
            low, high = result.intervals[name]
            inside[name] += low <= getattr(HOCKNEY, name) <= high
    # Binomial: 90 % of 60 is 54; fewer than 47 would happen once in a thousand times.
    for count in inside.values():
        assert 47 <= count < runs


def test_intervals_are_those_of_least_squares_where_no_time_is_wild() -> None:
    cube = measured(HOCKNEY, noise=0.05, seed=3).sel({"method": ["pipeline"]})
    result = fit(observe(cube), "hockney", scale=1e4, level=0.8)
    comm_sizes, message_sizes = (axis.ravel() for axis in np.meshgrid(P, SIZES, indexing="ij"))

    def logs(_: object, alpha: float, beta: float) -> FloatArray:
        return np.asarray(np.log((comm_sizes - 1) * (np.exp(alpha) + np.exp(beta) * message_sizes)))

    start = np.log([HOCKNEY.alpha, HOCKNEY.beta])
    best, covariance = curve_fit(logs, None, np.log(cube["time"].values.ravel()), start)
    half = scipy.stats.t(comm_sizes.size - 2).ppf(0.9) * np.sqrt(np.diag(covariance))
    for name, middle, wide in zip(("alpha", "beta"), best, half, strict=True):
        assert np.log(result.intervals[name]) == pytest.approx([middle - wide, middle + wide], abs=1e-3 * wide)


def test_what_a_fit_of_gaps_is_given_and_cannot_find_stays() -> None:
    parameters = fit(observe(measured(PLOGP)), "plogp", start=PLOGP).parameters
    assert (parameters.gamma, parameters.delta) == (PLOGP.gamma, PLOGP.delta)
    assert PLOGP.gamma != PLOGP.delta > 0


def test_what_the_measurements_do_not_show_is_said() -> None:
    cube = measured(LOGGP)
    result = fit(observe(cube, ["pipeline"]), "loggp")
    # A pipeline without segments takes (P - 1)(L + 2 o + (m - 1) G): o and L show in their sum only, g not at all.
    for name in ("latency", "overhead", "gap"):
        assert result.intervals[name] == (0.0, float("inf"))
    assert result.intervals["gap_per_byte"][1] < 2 * LOGGP.gap_per_byte
    total = result.parameters.latency + 2 * result.parameters.overhead
    assert total == pytest.approx(LOGGP.latency + 2 * LOGGP.overhead, rel=1e-3)
    assert any("L, o, g" in note for note in result.notes)


def test_residuals_are_of_each_cell() -> None:
    cube = measured(HOCKNEY)
    cube["time"][0, 0, 0] *= 2
    table = fit(observe(cube), "hockney").residuals
    assert len(table) == cube["time"].size
    assert table["predicted"].to_numpy() == pytest.approx(table["measured"] * (1 + table["residual"]))
    worst = table.loc[table["residual"].abs().idxmax()]
    assert (worst["comm_size"], worst["message_size"]) == (P[0], SIZES[0])
    assert worst["residual"] == pytest.approx(-0.5, abs=0.02)


def test_all_three_as_a_set_that_is_saved(tmp_path_factory: pytest.TempPathFactory) -> None:
    network, fits = fit_all(observe(measured(HOCKNEY, noise=0.05)), start=ParameterSet("start", NETWORKS), name="mine")
    path = tmp_path_factory.mktemp("fits") / "mine.json"
    network.save(path)
    assert load_parameters(path).of("hockney") == network.of("hockney")
    assert set(fits) == {"hockney", "loggp", "plogp"}
    record = network.provenance["fits"]["hockney"]
    assert record["methods"][0] == "linear"
    assert record["intervals"]["alpha"][0] < HOCKNEY.alpha


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda cube: cube.isel(message_size=[2]), "all times are of messages of 1 KiB"),
        (lambda cube: cube.isel(method=[0], comm_size=[0], message_size=[0, 3]), "2 measured times cannot determine"),
        (lambda cube: 0 * cube, "time of linear at 2 processes, 1 B is 0 s"),
        (lambda cube: np.nan * cube, "no model covers what is measured"),
    ],
)
@pytest.mark.parametrize("model", ["hockney", "loggp", "plogp"])
def test_too_little_to_fit_to(change: Callable[[xr.Dataset], xr.Dataset], words: str, model: ModelName) -> None:
    with pytest.raises(ModelError, match=words):
        fit(observe(change(measured(HOCKNEY))), model)


def test_wrong_options() -> None:
    observed = observe(measured(HOCKNEY))
    with pytest.raises(ModelError, match="no model 'amdahl'"):
        fit(observed, "amdahl")
    with pytest.raises(ModelError, match="level 1"):
        fit(observed, "hockney", level=1)
    with pytest.raises(ModelError, match="cannot start from parameters of loggp"):
        fit(observed, "hockney", start=LOGGP)
    with pytest.raises(ModelError, match="there is no method 'x'"):
        observe(measured(HOCKNEY), ["x"])
    barriers = predicted_cube(Covered.of("barrier", candidates("barrier")), P, [0], HOCKNEY)
    with pytest.raises(ModelError, match="barriers send no bytes"):
        fit(observe(barriers), "hockney")


def test_a_fit_can_be_stopped() -> None:
    def stop(share: float, what: str) -> None:
        assert 0 <= share <= 1
        assert what == "fitting hockney"
        raise Cancelled

    with pytest.raises(Cancelled):
        fit(observe(measured(HOCKNEY)), "hockney", progress=stop)


def test_the_fast_ethernet_of_the_sample_data(fast_ethernet_bcast: xr.Dataset) -> None:
    # As 4.4.1: the pipeline without segments gives L + g(m), the linear one the gap (there are no barriers here).
    network, fits = fit_all(observe(fast_ethernet_bcast, ["pipeline", "linear"]))
    hockney = network.of("hockney").to_dict()
    # 100 Mbit/s less headers is 11.7 MB/s; the README has 104 to 130 µs one way.
    assert 0.083e-6 < hockney["beta"] < 0.092e-6
    assert 90e-6 < hockney["alpha"] < 135e-6
    assert 0.085e-6 < network.of("loggp").to_dict()["gap_per_byte"] < 0.091e-6
    assert 115e-6 < network.of("plogp").to_dict()["latency"] < 140e-6
    assert fits["loggp"].median_error < 6
    assert fits["plogp"].median_error < 6


def test_what_is_written_has_its_sizes_in_full() -> None:
    known = PLogP(1e-5, (1024.0, 1048577.0), (1e-6, 0.1234567891), (1e-6, 2e-6), (1e-6, 2e-6))
    written = as_written(known)
    assert written.to_dict()["sizes"] == known.to_dict()["sizes"]
    assert written.to_dict()["gap"] == [1e-6, 0.123457]
    assert as_written(written) == written
