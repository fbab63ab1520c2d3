"""Figures in the cells of a notebook, which holds all that draws them: small, and nothing is asked of the network."""

import holoviews as hv
from bokeh.embed import components
from bokeh.resources import Resources
from holoviews.core.dimension import Dimensioned
from IPython import get_ipython
from IPython.display import HTML

from dashboard.plots.backend import use_bokeh


def use_notebook() -> HTML:
    """Have the cells of this notebook show elements of HoloViews as Bokeh draws them.

    ``pn.extension`` and ``hv.extension`` would write Panel and all its widgets into the notebook too (6 MB), and their
    figures ask a server for style sheets.

    Returns
    -------
    HTML
        BokehJS (1.3 MB), to be what a cell shows before any figure.

    Raises
    ------
    RuntimeError
        It is not called in a notebook.
    """
    shell = get_ipython()
    if shell is None:
        message = "figures are shown in the cells of a notebook, and this is none; save them, or use the page"
        raise RuntimeError(message)
    use_bokeh()
    shell.display_formatter.formatters["text/html"].for_type(Dimensioned, _drawn)
    return HTML(f"<script>{''.join(Resources(mode='inline', components=['bokeh']).js_raw)}</script>")


def _drawn(element: Dimensioned) -> str:
    script, room = components(hv.render(element))
    return f"{room}{script}"
