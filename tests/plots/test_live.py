"""Rendered elements whose data change."""

import gc
from typing import Any

import holoviews as hv
import numpy as np
from bokeh.document import Document

from dashboard.plots.live import MOST_INLINE, LiveSources, add_hook


def rendered(element: hv.Element) -> hv.plotting.bokeh.ElementPlot:
    return hv.renderer("bokeh").get_plot(element)


def test_every_rendering_of_an_element_is_updated() -> None:
    live = LiveSources()
    curve = live.attach("line", hv.Curve([(0, 1), (1, 2)]))
    plots = [rendered(curve), rendered(curve)]
    live.update("line", {"x": np.array([5.0]), "y": np.array([6.0])})
    assert [list(plot.handles["source"].data["x"]) for plot in plots] == [[5.0], [5.0]]


def test_only_columns_that_have_changed_are_sent() -> None:
    live = LiveSources()
    plot = rendered(live.attach("line", hv.Curve([(0, 1), (1, 2)])))
    live.update("line", {"x": np.array([5.0, np.nan]), "y": np.array([6.0, 7.0])})
    sent: list[Any] = []
    document = Document()
    document.add_root(plot.state)
    document.on_change(lambda event: sent.append(set(event.cols)))
    live.update("line", {"x": np.array([5.0, np.nan]), "y": np.array([6.0, 8.0])})
    live.update("line", {"x": np.array([5.0, np.nan]), "y": np.array([6.0, 8.0])})
    assert sent == [{"y"}]


def test_long_columns_stay_arrays() -> None:
    live = LiveSources()
    plot = rendered(live.attach("line", hv.Curve([(0, 1)])))
    live.update("line", {"x": np.arange(MOST_INLINE + 1.0), "y": np.arange(MOST_INLINE + 1.0)})
    assert isinstance(plot.handles["source"].data["x"], np.ndarray)


def test_what_is_rendered_later_is_up_to_date() -> None:
    live = LiveSources()
    curve = live.attach("line", hv.Curve([(0, 1), (1, 2)]))
    live.update("line", {"x": np.array([5.0]), "y": np.array([6.0])})
    assert list(rendered(curve).handles["source"].data["y"]) == [6.0]


def test_a_new_element_of_a_name_takes_the_place_of_the_old_one() -> None:
    live = LiveSources()
    old = rendered(live.attach("line", hv.Curve([(0, 1)])))
    live.update("line", {"x": np.array([5.0])})
    new = rendered(live.attach("line", hv.Curve([(0, 3)])))
    live.update("line", {"y": np.array([7.0])})
    assert list(old.handles["source"].data["y"]) == [1]
    assert list(new.handles["source"].data["x"]) == [0]
    assert list(new.handles["source"].data["y"]) == [7.0]


def test_plots_that_are_gone_are_forgotten() -> None:
    live = LiveSources()
    curve = live.attach("line", hv.Curve([(0, 1)]))
    plot = rendered(curve)
    plot.cleanup()
    del plot
    gc.collect()
    live.update("line", {"x": np.array([5.0])})
    assert sum(map(len, live._plots.values())) == 0


def test_hooks_add_up() -> None:
    ran: list[str] = []
    curve = add_hook(add_hook(hv.Curve([1]), lambda *_: ran.append("first")), lambda *_: ran.append("second"))
    rendered(curve)
    assert ran == ["first", "second"]
