"""What HoloViews draws with."""

from holoviews.util import extension


def use_bokeh() -> None:
    """Have HoloViews draw with Bokeh.

    In a notebook ``hv.extension`` would also load BokehJS once more, and from the net: it takes the place of the one
    that the notebook's ``pn.extension`` has loaded, and a page drawn meanwhile stays empty or does not answer.
    """
    extension("bokeh")
