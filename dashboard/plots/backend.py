"""What HoloViews draws with."""

from bokeh.core.properties import value
from holoviews.util import extension

#: Families of letters, as the page has them: of one that is not there browsers take what they like, such as serifs.
FONT = "Roboto, Helvetica, Arial, sans-serif"
#: Options of texts in a chart.
LETTERS = {"text_font": value(FONT), "backend": "bokeh"}


def use_bokeh() -> None:
    """Have HoloViews draw with Bokeh.

    In a notebook ``hv.extension`` would also load BokehJS once more, and from the net: it takes the place of the one
    that the notebook's ``pn.extension`` has loaded, and a page drawn meanwhile stays empty or does not answer.
    """
    extension("bokeh")
