"""NetPIPE: a ping-pong over many message sizes, as it is printed and as it is written to ``np.out``.

The screen shows ``  1:  1 bytes  2000 times -->  5.11 Mbps in  1.49 usec``, the file three numbers a line:
bytes, megabits (of 2**20 bits) per second, and seconds. The time is one way, half a round trip, and the least of the
trials. Source: netpipe.c of NetPIPE 2.4 to 3.7. The file has no header, so it is told by its numbers, of which two give
the third.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from loaders import text
from loaders.collectives import POINT_TO_POINT
from loaders.source import Format, Source

STATISTIC = "least of the trials, one way"
_SCREEN = re.compile(
    r"\s*\d{1,6}:\s+(?P<size>\d{1,15}) bytes\s+(?P<count>\d{1,15}) times -->\s+\S+ Mbps in"
    r"\s+(?P<time>\S+) usec\s*"
)
_PRINTED = re.compile(rb"^[ \t]*\d+:[ \t]+\d+ bytes[ \t]+\d+ times -->", re.MULTILINE)
_BITS = 8 / 2**20
#: Rows that are looked at, and by how much a rate of six digits may be off.
_LOOKED, _LEAST, _OFF = 40, 3, 0.02


def recognises(head: bytes, path: Path) -> bool:
    """Whether lines are as NetPIPE prints them, or rows of three numbers that agree with each other."""
    if text.has_header(_PRINTED, (b" times -->",), head, path):
        return True
    lines = head.decode("utf-8", "replace").splitlines()[:_LOOKED]
    rows = [line for line in lines[:-1] or lines if line.strip()]
    return len(rows) >= _LEAST and all(_numbers(row.split()) is not None for row in rows)


def _numbers(words: list[str]) -> tuple[int, float] | None:
    """Bytes and seconds of a row of ``np.out``; None where its numbers do not agree."""
    if len(words) != 3:
        return None
    size, rate, time = text.integer(words[0]), text.positive(words[1]), text.positive(words[2])
    if not size or rate is None or time is None:
        return None
    # The last digit of a short time may be off by half.
    digits = len(words[2].partition(".")[2])
    allowed = _OFF + 10.0**-digits / time + 1e-6 / rate
    return (size, time) if abs(size * _BITS / rate / time - 1) <= allowed else None


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read every row as the point-to-point ``pingpong``; see `loaders.source.Format`."""
    text.wanted_statistic(source, ("min",))
    rows: list[dict[str, Any]] = []
    yield from text.printed(source, rows, lambda line: None, partial(_row, rows))
    source.attrs.update(benchmark="NetPIPE", statistic=STATISTIC, statistic_kind="one way")
    if not source.rows:
        raise source.fail("no times found; right would be rows of bytes, Mbps and seconds, or lines with 'times -->'")


def _row(rows: list[dict[str, Any]], line: text.Line) -> str:
    """Take a row; the reason where it cannot be taken."""
    if text.cut_off(line):
        return "cut off"
    if (match := _SCREEN.fullmatch(line.text)) is not None:
        size, time, more = int(match["size"]), text.positive(match["time"]), {"repetitions": int(match["count"])}
        if time is None or not size or not more["repetitions"]:
            return "the time is not positive" if time is None else "no data"
        rows.append(_made(size, time * 1e-6) | more)
        return ""
    numbers = _numbers(line.text.split())
    if numbers is None:
        return "not a row of bytes, Mbps and seconds"
    rows.append(_made(*numbers))
    return ""


def _made(size: int, time: float) -> dict[str, Any]:
    pingpong = {"collective": POINT_TO_POINT, "algorithm": "pingpong", "comm_size": 2}
    return {**pingpong, "message_size": size, "time": time}


FORMAT = Format("netpipe", "NetPIPE", recognises, read)
