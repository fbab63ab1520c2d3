"""Rows of a table by what someone types: words, and comparisons such as ``penalty > 10`` or ``size <= 64KiB``."""

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from dashboard.domain.units import parse_size

#: Columns of numbers by the word that begins a comparison.
COLUMNS = {
    "processes": "processes",
    "size": "message size [B]",
    "penalty": "penalty [%]",
    "best time": "best time [µs]",
    "chosen time": "chosen time [µs]",
    "methods": "methods measured",
}
HELP = (
    "Words such as binomial, comparisons such as penalty > 10, size <= 64KiB, processes = 16, chosen time > 2ms; "
    "commas between them: all must hold."
)
_TEXTS = ("best", "chosen")
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_COMPARED = re.compile(r"([a-z ]+?)\s*(<=|>=|!=|<|>|=)\s*(.+)", re.IGNORECASE)
_TIME = re.compile(r"([\d.]+)\s*(s|ms|us|µs|ns)?", re.IGNORECASE)
_MICROSECONDS = {"s": 1e6, "ms": 1e3, "us": 1.0, "µs": 1.0, "ns": 1e-3}


def matching(frame: pd.DataFrame, asked: str) -> pd.DataFrame:
    """Rows of which all that is asked for holds.

    Parameters
    ----------
    frame
        As `dashboard.plots.table.decision_table` makes it.
    asked
        Parts with commas between them: a word that the best or the chosen method contains, or a comparison of one
        of `COLUMNS`; empty for all rows. Rows without the figure do not match a comparison.

    Raises
    ------
    ValueError
        A comparison of something else, or with no value.
    """
    kept = np.ones(len(frame), dtype=bool)
    for part in filter(None, (each.strip() for each in asked.split(","))):
        compared = _COMPARED.fullmatch(part)
        if compared is None:
            words = [frame[name].str.contains(part, case=False, regex=False) for name in _TEXTS]
            kept &= (words[0] | words[1]).to_numpy(dtype=bool)
            continue
        name, sign, value = compared[1].strip().lower(), compared[2], compared[3].strip()
        if name not in COLUMNS:
            raise ValueError(f"{name!r} is no column of numbers; there are {', '.join(COLUMNS)}")
        numbers = frame[COLUMNS[name]].to_numpy(dtype=float)
        kept &= _SIGNS[sign](numbers, _value(name, value)) & np.isfinite(numbers)
    return frame[kept]


def _value(name: str, text: str) -> float:
    if name == "size":
        return float(parse_size(text))
    if name.endswith("time"):
        match = _TIME.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is no time; write 100us, 2ms or 1s")
        return float(match[1]) * _MICROSECONDS[(match[2] or "us").lower()]
    try:
        return float(text.rstrip("% ").replace("_", ""))
    except ValueError as error:
        raise ValueError(f"{text!r} is no number that {name} can be compared with") from error
