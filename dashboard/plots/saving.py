"""Figures as SVG: drawn once more by the browser that shows them, without a server and without a network."""

from typing import Any

from bokeh.models import CustomAction, CustomJS

TOOL = "Save as SVG"
_ICON = (
    "data:image/svg+xml;utf8,"
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'>"
    "<text x='12' y='16' font-family='sans-serif' font-size='10' font-weight='700' text-anchor='middle' "
    "fill='gray'>SVG</text></svg>"
)
_SAVE = """
const view = Bokeh.index.find_one(figure)
// A chart without a title is called by what it shows.
const shown = [figure.left, figure.below].map((axes) => axes.length ? axes[0].axis_label : '').filter(Boolean)
const title = figure.title && figure.title.text || shown.join(' over ') || 'figure'
view.export('svg').to_blob().then((blob) => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(blob)
    link.download = `${title.replace(/[^\\w]+/g, ' ').trim().replaceAll(' ', '_').toLowerCase()}.svg`
    link.click()
    URL.revokeObjectURL(link.href)
})
"""


#: Tools are in the way of no title until the pointer or the focus is on their figure (a finger has neither); over the
#: end of a long one they then stand on a ground of their own.
_HOVERED = """@media (hover: hover) { :host { --tools: 0; } :host(:hover), :host(:focus-within) { --tools: 1; } }"""
_QUIET = """:host { opacity: var(--tools, 1); transition: opacity 0.15s; border-radius: 4px;
  background: var(--panel-background-color, #fff); }"""


def offer_svg(plot: Any, element: Any) -> None:
    """Add the tool that saves a figure as SVG to those that it has, and keep them quiet; a hook for HoloViews."""
    figure = plot.state
    figure.stylesheets, figure.toolbar.stylesheets = [_HOVERED], [_QUIET]
    if not any(isinstance(tool, CustomAction) and tool.description == TOOL for tool in figure.tools):
        callback = CustomJS(args={"figure": figure}, code=_SAVE)
        figure.add_tools(CustomAction(description=TOOL, icon=_ICON, callback=callback))
