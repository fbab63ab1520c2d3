"""From sections to the file: every figure, script and style is inside."""

import datetime as dt
from collections.abc import Sequence
from importlib import metadata
from importlib.resources import files

import holoviews as hv
from bokeh.embed import components
from bokeh.resources import Resources
from bokeh.themes import Theme
from jinja2 import Environment

from dashboard.decisions.grown.family import Progress
from dashboard.plots import cell, legend, source, ties
from dashboard.plots.backend import FONT, use_bokeh
from dashboard.report.contents import Contents
from dashboard.session.view import View

_LABELS = dict.fromkeys(("axis_label_text_font", "major_label_text_font"), FONT)
_THEME = Theme(json={"attrs": {"Title": {"text_font": FONT}, "Axis": _LABELS, "Legend": {"label_text_font": FONT}}})


def to_html(view: View, contents: Contents | None = None, *, title: str = "", progress: Progress | None = None) -> str:
    """Write a view as one HTML file.

    Parameters
    ----------
    view
        The view: results, how they are treated, and which tree is asked for.
    contents
        What goes into it; default: everything but what is judged held out.
    title
        Of the report; default: the system's name, where the measurements tell it.
    progress
        Told how far it is; may raise `dashboard.decisions.grown.family.Cancelled`.

    Raises
    ------
    DecisionError
        A collective that is not among the results, or a tree that does not suit them.
    """
    if "bokeh" not in hv.Store.loaded_backends():
        use_bokeh()
    sections = (contents or Contents()).sections(view, progress)
    figures = [figure for section in sections for part in section.parts for figure in part.figures]
    scripts, places = _embedded(figures)
    template = Environment(autoescape=True, trim_blocks=True).from_string(
        files("dashboard.report").joinpath("page.html").read_text(encoding="utf-8")
    )
    page = template.render(
        title=title or _title(view),
        made=dt.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        version=metadata.version("colltune"),
        digest=view.results_id,
        sections=sections,
        place=lambda figure: places[id(figure)],
        styles=legend.STYLE + cell.STYLE + ties.STYLE + source.STYLE,
        library=_library(),
        scripts=scripts,
    )
    # Names of files may have bytes that are no text.
    return page.encode(errors="replace").decode()


def _embedded(figures: Sequence[hv.Element]) -> tuple[str, dict[int, str]]:
    """The script that draws the figures, and the element where each of them goes."""
    if not figures:
        return "", {}
    renderer = hv.renderer("bokeh")
    script, places = components([renderer.get_plot(figure).state for figure in figures], theme=_THEME)
    return script, {id(figure): place for figure, place in zip(figures, places, strict=True)}


def _library() -> str:
    """Bokeh's own scripts, without those for widgets and tables."""
    resources = Resources(mode="inline", components=["bokeh"])
    return "\n".join(f"<script>{text}</script>" for text in resources.js_raw)


def _title(view: View) -> str:
    attrs = {} if view.results is None else next(iter(view.results.children.values())).to_dataset().attrs
    system = attrs.get("system")
    return f"Collective operations on {system}" if system else "Collective operations: measurements and decisions"
