"""Rendered elements whose data change."""

from __future__ import annotations

import gc

import holoviews as hv
import numpy as np

from dashboard.plots.live import LiveSources, add_hook

hv.extension("bokeh")


def rendered(element: hv.Element) -> hv.plotting.bokeh.ElementPlot:
    return hv.renderer("bokeh").get_plot(element)


def test_every_rendering_of_an_element_is_updated() -> None:
    live = LiveSources()
    curve = live.attach("line", hv.Curve([(0, 1), (1, 2)]))
    plots = [rendered(curve), rendered(curve)]
    live.update("line", {"x": np.array([5.0]), "y": np.array([6.0])})
    assert [plot.handles["source"].data["x"].tolist() for plot in plots] == [[5.0], [5.0]]


def test_what_is_rendered_later_is_up_to_date() -> None:
    live = LiveSources()
    curve = live.attach("line", hv.Curve([(0, 1), (1, 2)]))
    live.update("line", {"x": np.array([5.0]), "y": np.array([6.0])})
    assert rendered(curve).handles["source"].data["y"].tolist() == [6.0]


def test_a_new_element_of_a_name_takes_the_place_of_the_old_one() -> None:
    live = LiveSources()
    old = rendered(live.attach("line", hv.Curve([(0, 1)])))
    live.update("line", {"x": np.array([5.0])})
    new = rendered(live.attach("line", hv.Curve([(0, 3)])))
    live.update("line", {"y": np.array([7.0])})
    assert old.handles["source"].data["y"].tolist() == [1]
    assert new.handles["source"].data["x"].tolist() == [0]
    assert new.handles["source"].data["y"].tolist() == [7.0]


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
