"""``detail.out`` of ompi-collectives-tuning: one row for each size, one column ``time(std)`` for each algorithm.

::

    #Nnodes    Message_size basic_linear         binomial             linear_sync          tuned
    2          1            64.33(0.94)          107.24(0.83)         2393.96(35.23)       107.78(0.61)

Times are microseconds: the mean over runs of the latency that OSU prints (a mean over processes; IMB's ``t_avg``
for reduce_scatter_block), with the standard deviation over runs where there was more than one. Sizes are those of
the benchmark: the block per process, but for reduce_scatter and reduce_scatter_block the whole vector. The
collective stands only in the name of the folder, ``output/<collective>/detail.out``, or in a hint.

The first column is called ``#Nnodes`` in every version. In the current scripts, which number the algorithms (0, by name
``tuned``, is the library's own choice) and repeat the reference in a last column without a name, it holds the number of
processes. In the older layout with names it holds nodes; how many processes ran on each is not in the file. The
hint ``ppn`` says it (communicator size = nodes × ppn); without it one process per node is taken, and said.
``best.out`` holds winners only and is refused. Source: open-mpi/ompi-collectives-tuning, ``coltune_analyze.py``.
"""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from loaders import text
from loaders.hints import hinted
from loaders.names import collective_name
from loaders.source import Format, Source

_HEADER = re.compile(r"#N(?:nodes|ranks)\s+Message_size\s+(\S.*)")
_MARK = re.compile(rb"^#N(?:nodes|ranks)[ \t]+Message_size[ \t]", re.MULTILINE)
_CELL = re.compile(r"(\d+(?:\.\d*)?)(?:\((\d+(?:\.\d*)?)\))?", re.ASCII)
_TOKEN = re.compile(r"No data|\S+")
#: The library's own choice, by number and by name: what ``best.out`` compares with.
_REFERENCES = ("0", "tuned")


def recognises(head: bytes, path: Path) -> bool:
    """Whether a line is the header of detail.out or best.out."""
    return _MARK.search(head) is not None


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read all rows; see `loaders.source.Format`."""
    source.attrs.update(
        benchmark="ompi-collectives-tuning",
        statistic="mean over runs of the mean over processes",
        statistic_kind="mean over processes",
    )
    names: list[str] | None = None
    rows: list[dict[str, Any]] = []
    collective, ppn = _collective(source), int(hinted(source, "ppn") or 1)
    for number, line, _ in text.lines(source):
        header = _HEADER.match(line.strip())
        if header is not None:
            names = _algorithms(source, number, header[1])
            continue
        if line.lstrip().startswith("#"):
            continue
        if names is None:
            source.skip(number, line, "not a row of detail.out")
            continue
        cells_of_row = _row(source, line, names, ppn)
        if isinstance(cells_of_row, str):
            source.skip(number, line, cells_of_row)
            continue
        source.loaded(1)
        rows += cells_of_row
        if len(rows) >= text.ROWS_HELD:
            yield _table(rows, collective)
            rows = []
    if rows:
        yield _table(rows, collective)
    if not source.rows:
        raise source.without_rows(
            f"no row found ({source.skipped} other lines); rows are a number of nodes, a message size and 'time(std)' "
            "for each algorithm of the header"
        )


def _algorithms(source: Source, number: int, header: str) -> list[str]:
    """Names of the columns; with Python 2 the first row follows the header on its line and is skipped."""
    words = header.split()
    if "Best_Algorithm" in words:
        raise source.fail(
            "best.out holds only the winners; load detail.out beside it, which holds all algorithms", number
        )
    cell = next((n for n, word in enumerate(words) if "(" in word or "." in word), None)
    if cell is not None and cell >= 2:
        source.skip(number, " ".join(words[cell - 2 :]), "the first row stands on the line of the header")
        words = words[: cell - 2]
    return words


def _row(source: Source, line: str, names: Sequence[str], ppn: int) -> list[dict[str, Any]] | str:
    """The cells of one line, or why it has none."""
    count, size, *cells = _TOKEN.findall(line) if len(line.split()) > 2 else ("", "")
    numbered = all(name.isdigit() for name in names)
    nodes, message_size = text.integer(count), text.integer(size)
    if not nodes or nodes >= 2**31:
        return "the number of nodes is not a whole number from 1 up"
    if message_size is None:
        return "the message size is not a whole number"
    if len(cells) != len(names) + (len(cells) > len(names) and numbered):
        return f"{len(cells)} times for {len(names)} algorithms"
    if numbered:
        ppn = 1
    else:
        _say_nodes(source, ppn)
    rows = []
    for name, cell in zip(names, cells, strict=False):
        match = _CELL.fullmatch(cell)
        if match is None or not 0 < float(match[1]) < math.inf:
            source.note(f"cells without a time, such as {cell[:20]!r}, are not measured")
            continue
        algorithm = "default" if name in _REFERENCES else name
        row: dict[str, Any] = {"algorithm": algorithm, "comm_size": nodes * ppn}
        row["size"], row["time"] = message_size, float(match[1]) * 1e-6
        row["time_std"] = math.nan if match[2] is None else float(match[2]) * 1e-6
        if numbered:
            row["library_id"] = int(name[:9])
        rows.append(row)
    return rows or "no cell holds a time"


def _say_nodes(source: Source, ppn: int) -> None:
    if ppn > 1:
        source.note(f"communicator size = nodes of the file × {ppn} processes per node")
    else:
        source.note(
            "the file counts nodes; one process per node taken. If there were more, give the hint ppn: "
            "communicator size = nodes × ppn"
        )


def _collective(source: Source) -> str | None:
    """Collective that hints or the folder ``output/<collective>`` name."""
    given = hinted(source, "collective")
    if given is not None:
        return str(given)
    name = collective_name(source.path.absolute().parent.name)
    if name is not None:
        source.note(f"collective {name} taken from the name of the folder")
    return name


def _table(rows: Sequence[dict[str, Any]], collective: str | None) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    if collective is not None:
        table["collective"] = collective
    return table.rename(columns={"size": text.size_column(collective)})


FORMAT = Format("ompi_tuning", "ompi-collectives-tuning detail.out", recognises, read)
