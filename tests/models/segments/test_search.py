"""The search for the optimal segment size under PLogP, and segment size curves."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.models.p2p import Hockney, LogGP, PLogP
from dashboard.models.registry import model_of
from dashboard.models.segments import Segmentation, counted_segment, optimal_segment, plogp_candidates
from tests.models.networks import HOCKNEY, LOGGP, PLOGP

MB = 1 << 20
CUT = [
    ("bcast", "pipeline"),
    ("bcast", "binary"),
    ("bcast", "split_binary"),
    ("reduce", "flat_tree"),
    ("reduce", "pipeline"),
    ("reduce", "binary"),
    ("allreduce", "ring_segmented"),
    ("scan", "linear_segmented"),
]


@st.composite
def networks(draw: st.DrawFn) -> PLogP:
    """Gaps that grow with the size, in lines, above overheads that do, too."""
    sizes = sorted(draw(st.sets(st.integers(1, 1 << 22), min_size=2, max_size=6)))
    slopes = draw(st.lists(st.floats(1e-10, 1e-7), min_size=len(sizes), max_size=len(sizes)))
    gap = np.cumsum([draw(st.floats(1e-6, 1e-4)), *(b * s for b, s in zip(slopes, np.diff(sizes), strict=False))])
    shares = [np.array(draw(st.lists(st.floats(0.1, 1), min_size=len(sizes), max_size=len(sizes)))) for _ in "sr"]
    send, receive = (tuple((share * gap).tolist()) for share in shares)
    return PLogP(
        draw(st.floats(1e-6, 1e-3)), tuple(sizes), tuple(gap.tolist()), send, receive, draw(st.floats(0, 1e-8))
    )


@pytest.mark.parametrize(("collective", "algorithm"), CUT)
@settings(max_examples=25)
@given(network=networks(), processes=st.integers(2, 64), size=st.integers(1000, 1 << 23))
def test_no_other_segment_size_is_better(
    collective: str, algorithm: str, network: PLogP, processes: int, size: int
) -> None:
    model = model_of(collective, algorithm)
    largest = float(model.largest_segment(float(processes), float(size)))
    segment = float(optimal_segment(collective, algorithm, network, processes, size)) or largest
    every = model.smooth(network, float(processes), float(size), np.geomspace(1, largest, 1001))
    assert float(model.smooth(network, float(processes), float(size), segment)) <= every.min() * (1 + 1e-6)


def test_corollary_5_4_misses_the_optimum_between_measured_sizes() -> None:
    # LogGP is PLogP with one line: Theorem 5.2's optimum lies inside of it.
    network = LogGP.of_microseconds(latency=30, overhead=2, gap=8, gap_per_byte=0.015)
    lines = network.to_plogp(sizes=(1, 16 * MB))
    size, model = MB, model_of("bcast", "split_binary")
    segment = float(optimal_segment("bcast", "split_binary", lines, 64, size))
    # g(m) = C m + c is not less than o_s + o_r = 4 us: sqrt(m c / (2 C (7 - 2))).
    assert segment == pytest.approx(np.sqrt(size * (8 - 0.015) / (2 * 0.015 * 5)), rel=1e-6)
    printed = float(optimal_segment("bcast", "split_binary", lines, 64, size, variant="as_published"))
    times = [float(model.predict(lines, 64, size, round(at))) for at in (segment, printed)]
    assert times[1] > 1.3 * times[0]


def test_candidates_are_few_and_hold_the_measured_sizes() -> None:
    model = model_of("bcast", "split_binary")
    counts, sizes = np.array([[8.0], [64.0]]), np.array([1e4, 1e5, 1e6])
    candidates = plogp_candidates(model, PLOGP, counts, sizes)
    assert candidates.shape[1:] == (2, 3)
    assert len(candidates) < 40
    assert set(PLOGP.sizes[1:]) <= set(candidates[:, 0, 0].tolist())


def test_the_curve_of_figure_6_1_has_its_least_at_the_optimum() -> None:
    for network in (HOCKNEY, LOGGP, PLOGP):
        curve = Segmentation.of("bcast", "split_binary", network, 64, 2 * MB).curve
        best = float(optimal_segment("bcast", "split_binary", network, 64, 2 * MB))
        # The curve counts whole segments: it is a staircase around the smooth one.
        near = curve.segment_size[curve.low(5)]
        assert near.min() <= best <= near.max()
        assert curve.best in near
        assert set(near) <= set(curve.segment_size[curve.low(10)])


@pytest.mark.parametrize("network", [HOCKNEY, LOGGP, PLOGP, Hockney(5e-5, 8.5e-8)])
@pytest.mark.parametrize("algorithm", ["pipeline", "linear", "split_binary", "binomial"])
@pytest.mark.parametrize("size", [1, 7, 1000, 100_000])
def test_the_ends_of_what_is_near_are_those_of_all_sizes(network: Any, algorithm: str, size: int) -> None:
    segments = Segmentation.of("bcast", algorithm, network, 13, size)
    largest = int(np.ceil(model_of("bcast", algorithm).largest_segment(13.0, float(size))))
    every = np.arange(1.0, max(largest, 1) + 1)
    times = model_of("bcast", algorithm).predict(network, 13, size, every)
    for percent in (5, 10):
        near = np.flatnonzero(times <= times.min() * (1 + percent / 100))
        assert segments.within(percent) == (every[near[0]], every[near[-1]])
        assert segments.gaps(percent) == (near.size <= near[-1] - near[0])


def test_of_nothing_there_is_a_curve_of_one_size() -> None:
    assert Segmentation.of("bcast", "pipeline", HOCKNEY, 8, 0).curve.time.shape == (1,)


@pytest.mark.parametrize(("collective", "algorithm"), CUT)
def test_no_size_of_whole_segments_takes_less_than_the_counted_one(collective: str, algorithm: str) -> None:
    model = model_of(collective, algorithm)
    for network in (HOCKNEY, LOGGP, PLOGP):
        for variant in ("corrected", "as_published"):
            for processes, size in ((3, 100), (4, 65536), (16, 20_001), (64, 4000)):
                segment = counted_segment(collective, algorithm, network, processes, size, variant=variant)  # type: ignore[arg-type]
                least = model.predict(network, processes, size, np.arange(size + 1), variant=variant).min()  # type: ignore[arg-type]
                assert model.predict(network, processes, size, segment, variant=variant) <= least * 1.001  # type: ignore[arg-type]
