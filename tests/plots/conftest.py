"""Plots are drawn as the page draws them."""

from dashboard.plots.backend import use_bokeh

use_bokeh()
