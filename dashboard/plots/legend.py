"""Legends as HTML: a list can be scrolled and read out, and stays readable with 75 methods."""

from collections.abc import Collection, Iterable
from html import escape

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.domain.unmeasured import RULE
from dashboard.plots.colors import MethodKey

STYLE = """
.scroll { overflow: auto; max-height: var(--legend-height, 560px); }
table { border-collapse: collapse; min-width: min(100%, 420px); font-size: 13px;
  color: var(--panel-on-background-color, #222); }
caption { text-align: left; font-weight: 600; padding: 2px 0 6px; }
p { font-size: 13px; }
th, td { text-align: left; padding: 2px 18px 2px 0; white-space: nowrap; font-weight: 400; }
td.wraps { white-space: normal; }
td:has(.swatch) { white-space: normal; overflow-wrap: anywhere; min-width: 110px; }
tr.apart td { border-top: 1px solid rgba(120, 120, 120, 0.55); }
thead th { color: color-mix(in srgb, currentColor 75%, transparent); white-space: normal; vertical-align: bottom;
  position: sticky; top: 0; background: var(--panel-background-color, #fff); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.swatch { display: inline-block; min-width: 30px; box-sizing: border-box; height: 16px; line-height: 15px;
  padding: 0 2px; text-align: center;
  font-size: 11px; color: #111; border: 1px solid rgba(120, 120, 120, 0.6); border-radius: 3px; }
.sign { display: inline-block; width: 18px; text-align: center; font-size: 16px; line-height: 1; }
.unmeasured { background: repeating-linear-gradient(-45deg, #6b6b6b 0 1px, #c8c8c8 1px 6px); }
"""


def swatch(color: str, letter: str = "") -> str:
    """Patch of a colour with the letter that goes with it; hatched without a colour."""
    look = f'style="background: {color}"' if color else ""
    kind = "swatch" if color else "swatch unmeasured"
    return f'<span class="{kind}" {look}>{escape(letter) or "&nbsp;"}</span>'


def table(
    caption: str, heads: Iterable[tuple[str, bool]], rows: Iterable[Iterable[str]], *, apart: Collection[int] = ()
) -> str:
    """Write a table of cells that are HTML already.

    Parameters
    ----------
    caption
        Above it.
    heads
        Title of each column and whether it holds numbers.
    rows
        The cells.
    apart
        Rows, counted from 0, with a line above them.
    """
    columns = list(heads)
    kinds = [' class="number"' if number else "" for _, number in columns]
    head = "".join(
        f'<th scope="col"{kind}>{escape(title)}</th>' for (title, _), kind in zip(columns, kinds, strict=True)
    )
    body = "".join(
        ('<tr class="apart">' if at in apart else "<tr>")
        + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True))
        + "</tr>"
        for at, row in enumerate(rows)
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption, quote=True)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def unmeasured_note(cells: float) -> str:
    """What cells count whose chosen method was not measured there, as a note below a table; empty without such."""
    return f'<p style="font-size: 12px; margin: 6px 0 0">Not measured: {escape(RULE)}.</p>' if cells else ""


def method_shares(key: MethodKey, best: NDArray[np.integer], chosen: NDArray[np.integer]) -> pd.DataFrame:
    """Share of the cells where each method is best and where it is chosen.

    Parameters
    ----------
    best, chosen
        Method indices of the cells, -1 for none.

    Returns
    -------
    DataFrame
        Methods that are best or chosen somewhere, most often best first: ``method`` (index),
        ``label``, ``letter``, ``color``, ``best``, ``chosen`` (shares of the cells that have a best one; where none
        has, of those that have a chosen one).
    """
    count = len(key.labels)
    measured = (best >= 0) | (best < 0).all()
    wins, picks = (np.bincount(each[measured & (each >= 0)], minlength=count) for each in (best, chosen))
    seen = np.flatnonzero((wins > 0) | (picks > 0))
    order = seen[np.lexsort((seen, -picks[seen], -wins[seen]))]
    return pd.DataFrame(
        {
            "method": order,
            "label": [key.labels[i] for i in order],
            "letter": [key.letters[i] for i in order],
            "color": [key.colors[i] for i in order],
            "best": wins[order] / max(wins.sum(), 1),
            "chosen": picks[order] / max(picks.sum(), 1),
        }
    )


def _share(value: float) -> str:
    return "–" if value == 0 else "< 0.1 %" if value < 0.001 else f"{100 * value:.1f} %"


def method_legend(shares: pd.DataFrame, total: int, heads: tuple[str, str] = ("best", "chosen")) -> str:
    """Write the legend of the decision maps.

    Parameters
    ----------
    shares
        As `method_shares` makes them.
    total
        Number of methods of the collective.
    heads
        What both shares are of.
    """
    rows = [
        [f"{swatch(row.color, row.letter)} {escape(row.label)}", _share(row.best), _share(row.chosen)]
        for row in shares.itertuples()
    ]
    caption = f"Methods: {len(shares)} of {total} are {' or '.join(heads)} somewhere"
    return table(caption, [("method", False), *((head, True) for head in heads)], rows)


def method_line(key: MethodKey, best: NDArray[np.integer], most: int = 10) -> str:
    """Write the methods that are best most often in one line, with what they look like.

    Parameters
    ----------
    best
        Method indices of the cells, -1 for none.
    most
        Methods that are written.
    """
    shares = method_shares(key, best, best)
    parts = [f"{swatch(row.color, row.letter)} {escape(row.label)}" for row in shares[:most].itertuples()]
    parts += [f"and {len(shares) - most} more"] if len(shares) > most else []
    words = "".join(f'<span style="margin-right: 14px; white-space: nowrap">{part}</span> ' for part in parts)
    return f'<p style="font-size: 13px; line-height: 22px; margin: 0">{words}</p>'


def penalty_legend(shares: pd.DataFrame) -> str:
    """Write the legend of the penalty map.

    Parameters
    ----------
    shares
        As `dashboard.plots.penalty.class_shares` makes them.
    """
    rows = [
        [f"{swatch(row.color)} {escape(row.label)}", f"{row.cells:,}", _share(row.share)] for row in shares.itertuples()
    ]
    return table("Penalty", [("class", False), ("cells", True), ("share", True)], rows)
