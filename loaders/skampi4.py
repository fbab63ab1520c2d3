"""SKaMPI 4 output.

A block starts with ``#/*@insyncol_MPI_Alltoall-nodes-short-SM.ski*/``; its rows are ``argument time
deviation count``, the last three printed again, sometimes followed by two zeros; times in microseconds.
The block's name tells whether the argument is a number of processes (``-nodes``) or of bytes
(``-length``, point-to-point); the other one is not printed, and a hint must give it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from loaders import text
from loaders.collectives import POINT_TO_POINT
from loaders.skampi import block_name
from loaders.source import Format, Source

STATISTIC = "SKaMPI 4 result: mean of the repetitions kept"

_FOUND = re.compile(rb"^[ \t]*#[ \t]*/\*[ \t]*@in\w", re.MULTILINE)
_BLOCK = re.compile(r"#\s*/\*\s*@in(?P<family>[A-Za-z0-9]+)_(?P<name>[^*]*)\*/")
_LENGTHS = (4, 7, 9)
_NODES = re.compile(r"-(?:nodes|procs)\b")
_BYTES = re.compile(r"-(?:length|len)\b")


class Block(NamedTuple):
    """What a block's name tells; `argument` is ``nodes``, ``bytes`` or empty where it cannot be told."""

    name: str
    collective: str | None
    algorithm: str | None
    argument: str


@dataclass
class _State:
    """Where in the file the reader is, and what it has collected."""

    block: Block | None = None
    seen: dict[str, int] = field(default_factory=dict)
    first_names: dict[tuple[str | None, str | None], str] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)


def recognises(head: bytes, path: Path) -> bool:
    """Whether the text holds the first line of a SKaMPI 4 block."""
    return text.has_header(_FOUND, (b"@in",), head, path)


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read every block; see `loaders.source.Format`.

    Where several blocks of a collective are over the processes, each at a message size of its own that is
    not printed (``-nodes-short``, ``-nodes-long``), all but the first have the parameter ``block``.
    """
    source.attrs.update(benchmark="SKaMPI 4", statistic=STATISTIC, statistic_kind="completion")
    state = _State()
    yield from text.printed(source, state.rows, partial(_comment, source, state), partial(_row, state))
    if not source.rows:
        raise source.without_rows(
            f"no measurement found ({text.reasons(source)}); a block of SKaMPI 4 looks like "
            "'#/*@insyncol_MPI_Alltoall-nodes-short-SM.ski*/' and '2  12.7  0.2  8  12.7  0.2  8'"
        )


def _comment(source: Source, state: _State, line: str) -> None:
    kind = text.title_of(line)
    if kind is None:
        return
    match = _BLOCK.match(line)
    state.block = None if match is None else parse_block(match["family"], match["name"].rstrip().removesuffix(".ski"))
    if state.block is None:
        return
    name = state.block.name
    state.seen[name] = state.seen.get(name, 0) + 1
    if state.seen[name] > 1:
        source.note(f"the block {name} stands more than once; its rows are pooled as repetitions")


def parse_block(family: str, name: str) -> Block:
    """Read a block's name.

    Parameters
    ----------
    family
        What stands before the first underscore, such as ``p2p``, ``col`` or ``syncol``.
    name
        The rest, such as ``MPI_Alltoall-nodes-short-SM`` or ``MPI_Send-MPI_Iprobe_Recv``.
    """
    full_name = f"{family}_{name}"
    if family.lower() == "p2p":
        kind = re.sub(r"mpi_", "", name.lower()).replace("-", "_")
        pattern = "pingpong" if kind == "send_recv" else f"pingpong_{kind}"
        return Block(full_name, POINT_TO_POINT, pattern, "nodes" if _NODES.search(name) else "bytes")
    collective, algorithm = block_name(name)
    argument = "nodes" if _NODES.search(name) else "bytes" if _BYTES.search(name) else ""
    return Block(full_name, collective, algorithm, argument)


def _row(state: _State, line: text.Line) -> str:
    """Take a row into the state; the reason where it cannot be taken."""
    words = line.text.split()
    if state.block is None:
        return "not a row of a block"
    numbers = [text.decimal(word) for word in words]
    argument, count = text.integer(words[0]), text.integer(words[3]) if len(words) > 3 else None
    if len(words) not in _LENGTHS or None in numbers or argument is None or count is None:
        return "cut off" if not line.ended else "not a row of the block"
    if not line.ended and len(words) == _LENGTHS[0]:
        return "cut off"
    return _fault(state.block, words, argument, count) or _keep(state, state.block, words, argument, count)


def _fault(block: Block, words: list[str], argument: int, count: int) -> str:
    if block.collective is None:
        return f"{block.name[:60]} is no collective that is known"
    if not block.argument:
        return f"{block.name[:60]} does not tell whether it is over processes or bytes"
    if block.argument == "nodes" and argument == 0:
        return "no processes"
    if text.positive(words[1]) is None:
        return "the time is not positive"
    if count == 0:
        return "no repetitions"
    return "the deviation is negative" if float(words[2]) < 0 else ""


def _keep(state: _State, block: Block, words: list[str], argument: int, count: int) -> str:
    row: dict[str, Any] = {"collective": block.collective}
    if block.algorithm is not None:
        row["algorithm"] = block.algorithm
    if block.argument == "nodes":
        row["comm_size"] = argument
        if block.collective == "barrier":
            row["message_size"] = 0
        elif state.first_names.setdefault((block.collective, block.algorithm), block.name) != block.name:
            row["block"] = block.name
    else:
        row[text.size_column(block.collective)] = argument
        if block.collective == POINT_TO_POINT:
            row["comm_size"] = 2
    row.update(time=float(words[1]) * 1e-6, time_std=float(words[2]) * 1e-6, repetitions=count)
    state.rows.append(row)
    return ""


FORMAT = Format("skampi4", "SKaMPI 4", recognises, read)
