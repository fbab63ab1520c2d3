"""Optimal segment size: curve, optimum, ranges."""

import holoviews as hv
import numpy as np
import pytest
import xarray as xr

from dashboard.models import MACHINES
from dashboard.models.registry import model_of
from dashboard.models.segments import Segmentation
from dashboard.plots.live import LiveSources
from dashboard.plots.models.curves import View
from dashboard.plots.models.methods import ModelMethod
from dashboard.plots.models.segments import segment_chart, segment_columns, segment_table

GRIG = MACHINES["grig-tcp"]


@pytest.mark.parametrize(("message_size", "printed"), [(768 << 10, 10116), (2 << 20, 16519)])
def test_the_optimum_is_that_of_table_6_1(message_size: int, printed: int) -> None:
    """Split-binary broadcast on 64 processes of Grig, Fast Ethernet, under Hockney."""
    segments = Segmentation.of("bcast", "split_binary", GRIG.of("hockney"), 64, message_size)
    assert segments.formula == pytest.approx(printed, rel=0.005)
    assert segments.pays
    assert segments.time < segments.whole_time


def test_formulas_as_published_have_curves_and_times_of_their_own() -> None:
    published = Segmentation.of("reduce", "binary", GRIG.of("loggp"), 12, 65536, "as_published")
    corrected = Segmentation.of("reduce", "binary", GRIG.of("loggp"), 12, 65536)
    assert published.curve.time.max() > 1.5 * corrected.curve.time.max()
    (printed,) = model_of("reduce", "binary").predict(
        GRIG.of("loggp"), 12, 65536, np.array([round(published.formula)]), variant="as_published"
    )
    assert published.formula_time == pytest.approx(printed)


def test_ranges_hold_the_best_and_each_other() -> None:
    segments = Segmentation.of("bcast", "pipeline", GRIG.of("hockney"), 16, 65536)
    (low5, high5), (low10, high10) = segments.within(5), segments.within(10)
    assert low10 <= low5 <= segments.curve.best <= high5 <= high10
    at, time = segments.stretch(5)
    known = dict(zip(segments.curve.segment_size, segments.curve.time, strict=True))
    least = min(known.values())
    assert [np.isfinite(each) for each in time] == [known[size] <= 1.05 * least for size in at]
    assert all(known[size] > 1.05 * least for size in known if not low5 <= size <= high5)


def test_where_segments_do_not_pay_the_table_says_so() -> None:
    segments = Segmentation.of("bcast", "linear", GRIG.of("hockney"), 16, 65536)
    assert not segments.pays
    assert segments.optimum == 65536
    assert "segments do not pay" in segment_table({"hockney": segments})


def test_the_chart_shows_measurements_too(fast_ethernet_bcast: xr.Dataset) -> None:
    view = View("bcast", "segment_size", (), ("hockney",), 16, 65536)
    segments = {"hockney": Segmentation.of("bcast", "pipeline", GRIG.of("hockney"), 16, 65536)}
    columns = segment_columns(segments, view, ModelMethod("pipeline"), fast_ethernet_bcast)
    assert columns["measured"]["at"].tolist() == [1024, 8192, 16384, 65536]
    live = LiveSources()
    hv.renderer("bokeh").get_plot(segment_chart(view, columns, live))
    (plot,) = live._plots["hockney best"]
    assert plot.handles["source"].data["at"].tolist() == [segments["hockney"].optimum]


def test_the_optimum_counts_whole_segments_though_those_of_the_formula_do_not_pay() -> None:
    segments = Segmentation.of("allreduce", "ring_segmented", GRIG.of("hockney"), 4, 65536)
    assert segments.formula_time > segments.whole_time > segments.time
    # Three segments of each block of 16 KiB.
    assert (segments.optimum, segments.pays) == (5462, True)
    assert segments.optimum == segments.curve.best
    assert segments.within(5)[0] <= 5462 <= segments.within(5)[1]
    table = segment_table({"hockney": segments})
    assert "5,462 B" in table
    assert "6,508 B: 13.86 ms" in table


@pytest.mark.parametrize("message_size", [1, 2, 15])
def test_tiny_messages_have_a_chart(message_size: int) -> None:
    segments = Segmentation.of("bcast", "split_binary", GRIG.of("loggp"), 3, message_size)
    assert segments.curve.segment_size.size >= 1
    assert np.isfinite(segments.time)
