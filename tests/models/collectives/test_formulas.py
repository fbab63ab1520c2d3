"""The 105 formulas: as they are printed, in their units, over arrays, and where there is little to compute."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.domain.models import MODEL_NAMES, ModelName
from dashboard.models.collectives.model import CollectiveModel, scope_of
from dashboard.models.errors import ModelError, NotApplicableError, SizeError, UnitError
from dashboard.models.formula import TIME
from dashboard.models.p2p import LogGP
from dashboard.models.registry import ALL, model_of
from tests.models.networks import GAP, HOCKNEY, LOGGP, NETWORKS, PLOGP, RECEIVE, SEND, SIZES
from tests.models.printed import PRINTED, evaluate

FORMULAS = [(each, name) for each in ALL for name in MODEL_NAMES]
IDS = [f"{each.collective}-{each.algorithm}-{name}" for each, name in FORMULAS]
MIXED_UNITS = {("recursive_halving", "loggp"), ("recursive_halving", "plogp")}


def lines(values: tuple[float, ...]) -> Any:
    """Interpolate by hand, in microseconds."""

    def at(size: float) -> float:
        for k in range(1, len(SIZES)):
            if size <= SIZES[k] or k == len(SIZES) - 1:
                share = (size - SIZES[k - 1]) / (SIZES[k] - SIZES[k - 1])
                return values[k - 1] + share * (values[k] - values[k - 1])
        raise AssertionError

    return at


FUNCTIONS = {"g": lines(GAP), "os": lines(SEND), "or_": lines(RECEIVE)}
#: Networks on the other side of each max: gaps longer than all else, and processors that are busy all the time.
SLOW = 60.0
OTHERS = {
    "hockney": HOCKNEY,
    "loggp": replace(LOGGP, gap=SLOW * 1e-6),
    "plogp": replace(PLOGP, send_overhead=PLOGP.gap, receive_overhead=PLOGP.gap),
}


def sizes_for(each: CollectiveModel, processes: int, segments: int) -> tuple[int, int, int, int]:
    """Message size, segment size given, segment size and number of segments that the formula should see."""
    if each.segmented == "half":
        return 2 * 500 * segments, 500, 500, 2 * segments
    if each.segmented == "block":
        return processes * 500 * segments, 500, 500, processes * segments
    if each.segmented == "first":
        return 500 * segments, 500, 500, 0
    if each.segmented == "message":
        return 500 * segments, 500, 500, segments
    return 500 * segments, 0, 0, 0


@pytest.mark.parametrize(("each", "name"), FORMULAS, ids=IDS)
def test_each_formula_gives_what_is_printed(each: CollectiveModel, name: ModelName) -> None:
    # Table 4.9's L + 2 adds a time and a number; ours are seconds.
    text = PRINTED[each.collective, each.algorithm, name].replace("(L+2)", "(L+2e6)")
    for processes, segments in itertools.product((2, 3, 5, 6, 8, 13, 16, 31, 64), (1, 2, 7, 64)):
        if not each.applies(processes):
            continue
        size, given_segment, segment, count = sizes_for(each, processes, segments)
        names = {"P": processes, "m": size, "ms": segment, "ns": count}
        other = evaluate(text, names | {"gap": SLOW}, dict.fromkeys(FUNCTIONS, FUNCTIONS["g"]))
        for network, by_hand in ((NETWORKS[name], evaluate(text, names, FUNCTIONS)), (OTHERS[name], other)):
            seconds = each.predict(network, processes, size, given_segment, variant="as_published")
            assert float(seconds) * 1e6 == pytest.approx(by_hand, rel=1e-12), (processes, segments)


def test_there_are_as_many_formulas_as_printed_ones() -> None:
    assert len(FORMULAS) == 105
    assert {(each.collective, each.algorithm, name) for each, name in FORMULAS} == set(PRINTED)


@pytest.mark.parametrize(("each", "name"), FORMULAS, ids=IDS)
def test_all_formulas_are_times(each: CollectiveModel, name: ModelName) -> None:
    formula = each.formula(name)
    assert formula.expression.unit() == TIME
    assert formula.best is None or formula.best.unit() == TIME
    if (each.algorithm, name) in MIXED_UNITS:
        with pytest.raises(UnitError, match="cannot be added or compared"):
            formula.pick("as_published").unit()
    else:
        assert formula.pick("as_published").unit() == TIME


@pytest.mark.parametrize(("each", "name"), FORMULAS, ids=IDS)
def test_other_units_give_the_same_durations(each: CollectiveModel, name: ModelName) -> None:
    # In units of 1/1000 s and 1/8 B every number changes, and the duration is 1000 times as large.
    per_second, per_byte, processes = 1000.0, 8.0, 12.0 if each.requires != "power_of_two" else 16.0
    network = NETWORKS[name]
    scope = scope_of(network, processes, 48_000.0, 480.0, 100.0)
    plain = each.formula(name).expression.value(scope)
    for symbol in ("m", "m_s", "one_byte", "no_bytes"):
        scope.values[symbol] *= per_byte
    for symbol in ("alpha", "L", "o", "g"):
        if symbol in scope.values:
            scope.values[symbol] *= per_second
    for symbol in ("beta", "G", "gamma", "delta"):
        if symbol in scope.values:
            scope.values[symbol] *= per_second / per_byte
    functions = dict(scope.functions)
    for key, function in functions.items():
        scope.functions[key] = lambda size, f=function: f(np.asarray(size) / per_byte) * per_second
    fresh = type(scope)(scope.values, scope.functions)
    assert float(fresh.of(each.formula(name).expression)) == pytest.approx(float(plain) * per_second, rel=1e-12)


@pytest.mark.parametrize("each", ALL, ids=lambda each: f"{each.collective}-{each.algorithm}")
@settings(max_examples=15)
@given(data=st.data())
def test_arrays_give_what_numbers_give(each: CollectiveModel, data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(1, 70), min_size=1, max_size=4))
    messages = data.draw(st.lists(st.integers(0, 1 << 24), min_size=1, max_size=4))
    segment = data.draw(st.sampled_from([0, 1, 100, 8192, 1 << 30]))
    network = NETWORKS[data.draw(st.sampled_from(MODEL_NAMES))]
    together = each.predict(network, np.array(counts)[:, None], messages, segment)
    assert together.shape == (len(counts), len(messages))
    for (row, count), (column, size) in itertools.product(enumerate(counts), enumerate(messages)):
        alone = float(each.predict(network, count, size, segment))
        assert together[row, column] == alone or (np.isnan(together[row, column]) and np.isnan(alone))
        assert np.isnan(alone) == (not each.applies(count))
        assert not alone < 0


@pytest.mark.parametrize(("each", "name"), FORMULAS, ids=IDS)
def test_one_process_takes_no_time(each: CollectiveModel, name: ModelName) -> None:
    assert float(each.predict(NETWORKS[name], 1, 1000, 100)) == 0.0


@pytest.mark.parametrize(("each", "name"), FORMULAS, ids=IDS)
def test_an_empty_message_takes_at_least_one_latency(each: CollectiveModel, name: ModelName) -> None:
    least = {"hockney": HOCKNEY.alpha, "loggp": LOGGP.latency + 2 * LOGGP.overhead, "plogp": PLOGP.latency}[name]
    assert float(each.predict(NETWORKS[name], 4, 0, 100)) >= least


@pytest.mark.parametrize(
    "each", [each for each in ALL if each.segmented], ids=lambda each: f"{each.collective}-{each.algorithm}"
)
def test_a_segment_larger_than_the_message_is_none(each: CollectiveModel) -> None:
    for network in NETWORKS.values():
        assert each.predict(network, 6, 10_000, 10**9) == each.predict(network, 6, 10_000, 0)


def test_sizes_outside_their_range_are_refused() -> None:
    each = model_of("bcast", "pipeline")
    for count, size, segment, named in ((0, 1, 0, "communicator"), (2, -1, 0, "message"), (2, 1, -8, "segment")):
        with pytest.raises(SizeError, match=named):
            each.predict(HOCKNEY, count, size, segment)
    for wrong in (2.5, np.nan, np.inf, "many"):
        with pytest.raises(SizeError, match="whole number"):
            each.predict(HOCKNEY, wrong, 1)


def test_where_an_algorithm_does_not_work_there_is_no_duration() -> None:
    doubling, neighbors = model_of("allgather", "recursive_doubling"), model_of("allgather", "neighbor_exchange")
    assert np.isnan(doubling.predict(HOCKNEY, [4, 6, 8], 100)).tolist() == [False, True, False]
    assert np.isnan(neighbors.predict(HOCKNEY, [4, 5, 6], 100)).tolist() == [False, True, False]
    with pytest.raises(NotApplicableError, match="powers of two of processes; found 6"):
        doubling.predict(HOCKNEY, [4, 6], 100, strict=True)


def test_unknown_variants_and_cases_are_refused() -> None:
    each = model_of("barrier", "flat_tree")
    with pytest.raises(ModelError, match="corrected or as_published"):
        each.predict(HOCKNEY, 4, variant="right")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="worst or best"):
        each.predict(HOCKNEY, 4, case="mean")  # type: ignore[arg-type]


def test_the_flat_tree_barrier_has_a_best_and_a_worst_case() -> None:
    each = model_of("barrier", "flat_tree")
    # Table 4.2: T_max - T_min is (P - 2) o under LogP and (P - 2) o_r under PLogP.
    for network, overhead in ((LOGGP, 8.15e-6), (PLOGP, 5.0e-6)):
        spread = each.predict(network, 10) - each.predict(network, 10, case="best")
        assert float(spread) == pytest.approx(8 * overhead)
    assert each.loggp.written(case="best").latex.startswith("T_{min} =")
    assert each.loggp.written().latex.startswith("T_{max} =")


def test_log_p_is_log_gp_without_bytes() -> None:
    logp = LogGP(LOGGP.latency, LOGGP.overhead, LOGGP.gap)
    for each in ALL:
        if not each.applies(8):
            continue
        no_work = LogGP(LOGGP.latency, LOGGP.overhead, LOGGP.gap, LOGGP.gap_per_byte)
        if each.segmented != "first":
            assert float(each.predict(logp, 8, 4096)) == pytest.approx(float(each.predict(no_work, 8, 0)), rel=1e-9), (
                each
            )


@pytest.mark.parametrize("each", ALL, ids=lambda each: f"{each.collective}-{each.algorithm}")
def test_no_sizes_give_no_durations(each: CollectiveModel) -> None:
    for network in NETWORKS.values():
        for shape in ((0,), (3, 0)):
            empty = np.empty(shape)
            assert each.predict(network, empty, empty, empty).shape == shape
        assert each.predict(network, np.array([4, 8])[:, None], np.empty((1, 0))).shape == (2, 0)
