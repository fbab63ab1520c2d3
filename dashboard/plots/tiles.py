"""The answer in figures: a line of tiles, each with what it means, or with what is wrong with it."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

STYLE = """
.tiles { display: flex; flex-wrap: wrap; gap: 8px; margin: 0; padding: 0; list-style: none;
  color: var(--panel-on-background-color, #222); font-size: 12px; line-height: 1.35; }
.tiles li { flex: 1 1 150px; padding: 8px 12px; border-radius: 6px; box-sizing: border-box;
  border: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
.tiles b { display: block; font-size: 20px; font-weight: 600; font-variant-numeric: tabular-nums; }
.tiles li.alarm { border-color: #d9822b; border-left-width: 4px; }
.tiles li.alarm i { color: #d9822b; font-style: normal; }
"""


@dataclass(frozen=True)
class Tile:
    """One figure of the answer."""

    #: What it is a figure of.
    title: str
    #: With its unit.
    figure: str
    #: What it means.
    note: str = ""
    #: What is wrong with it, shown in the note's place; empty where nothing is.
    alarm: str = ""
    #: Where the page has more of it, shown after the note.
    beside: str = ""


def tiles_html(tiles: Iterable[Tile]) -> str:
    """Write tiles as a list, each read out as title, figure and note."""
    return f'<ul class="tiles" aria-label="The answer in figures">{"".join(map(_item, tiles))}</ul>'


def _item(tile: Tile) -> str:
    kind, sign = (' class="alarm"', '<i aria-hidden="true">▲</i> ') if tile.alarm else ("", "")
    note = sign + escape(tile.alarm or "; ".join(filter(None, (tile.note, tile.beside))))
    return f"<li{kind}>{escape(tile.title)}<b>{escape(tile.figure)}</b>{note}</li>"
