"""A decision as pictures for a talk or a paper, each with a caption that has its figures."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import xarray as xr

from dashboard.decisions import DecisionError
from dashboard.decisions.grown.family import Progress
from dashboard.domain.units import format_bytes, format_count, format_range
from dashboard.plots.view_maps import MOST_REGIONS, Scene
from dashboard.report.answer import AGAINST_DEFAULT, answer
from dashboard.session.view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def to_story(view: View, collectives: Sequence[str] = (), *, progress: Progress | None = None) -> bytes:
    """Draw which method is best, what the tree decides, what it costs, and times beside the best and the default.

    Parameters
    ----------
    view
        The view: results, how they are treated, and which tree is asked for.
    collectives
        Those drawn; empty: all, as in a report.
    progress
        Told how far it is; may raise `dashboard.decisions.grown.family.Cancelled`.

    Returns
    -------
    bytes
        A ZIP archive: each picture as SVG, PDF and PNG, and ``captions.md``.

    Raises
    ------
    DecisionError
        A collective of which nothing was measured.
    """
    from dashboard.plots import story  # noqa: PLC0415 - Matplotlib takes a third of a second to import

    captions: list[str] = []
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in collectives or view.called:
            twin = view.beside(name)
            twin.job(twin.choice)(progress)
            for number, (title, caption, figure) in enumerate(pictures(twin), start=1):
                path = f"{name}-{number}-{title}"
                for ending in story.FORMATS:
                    archive.writestr(_entry(f"{path}.{ending}"), story.saved(figure, ending))
                captions.append(f"**{path}.** {caption}\n")
        archive.writestr(_entry("captions.md"), "\n".join(captions))
    return buffer.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    # With a date of its own the same pictures would not be the same file.
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def pictures(view: View) -> Iterator[tuple[str, str, Figure]]:
    """Give the pictures of a view one by one: name, caption, and the drawing for `dashboard.plots.story.saved`.

    Raises
    ------
    DecisionError
        Nothing of its collective was measured.
    """
    from dashboard.plots import story  # noqa: PLC0415 - as above

    figures, penalties, decision = Scene.of(view), view.penalty(), view.decision()
    if figures is None or penalties is None or decision is None:
        raise DecisionError(f"no pictures of {view.collective}: nothing was measured that could be decided on")
    axes, key, best = figures.axes, figures.key, figures.dmap["best"].values
    winners = format_count(len(set(best[best >= 0].ravel().tolist())), "method")
    sizes = (
        f"{format_count(axes.y.sizes.size, 'communicator size')} and {format_count(axes.x.sizes.size, 'message size')}"
    )
    measured = f"measured at {sizes}, {format_range(axes.x.sizes[0], axes.x.sizes[-1], format_bytes)}"
    fastest = f"The fastest method of {view.collective} at each size, {measured}; {winners} of {len(key.labels):,} win."
    yield "best", fastest, story.method_picture(f"{view.collective}: the fastest method", best, axes, key)
    lines = figures.segments(decision, MOST_REGIONS)
    tree = view.choice.described()
    shown = f"What the tree decides ({tree}). {_sentences(view, ('Rules',))}"
    chosen = penalties["chosen"].values
    yield "decision", shown, story.method_picture(f"{view.collective}: the decision", chosen, axes, key, lines)
    cost = f"Time lost against the fastest method ({tree}). {_sentences(view, ('Lost on average', 'Lost at worst'))}"
    percent = penalties["penalty"].values
    yield "penalty", cost, story.penalty_picture(f"{view.collective}: time lost by the decision", percent, axes)
    times = {"fastest method": penalties["best_time"], "the decision": penalties["chosen_time"], **_default(view)}
    ranks = axes.y.write(axes.y.sizes[-1])
    against = f"Times on {ranks} processes. Of all measured sizes: {_sentences(view, (AGAINST_DEFAULT,))}"
    yield "times", against, story.time_picture(f"{view.collective}: times on {ranks} processes", times, axes)


def _default(view: View) -> dict[str, xr.DataArray]:
    default = view.needed().default
    table = None if default is None else default.penalty
    return {} if table is None else {"the library's default": table["chosen_time"]}


def _sentences(view: View, titles: Sequence[str]) -> str:
    """The tiles of these titles, as sentences."""
    tiles = [tile for tile in answer(view) if tile.title in titles]
    return " ".join(f"{tile.title}: {tile.figure}, {tile.note or tile.alarm}." for tile in tiles)
