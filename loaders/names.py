"""Names of collectives as files of many origins spell them."""

import difflib
import re

import numpy as np
import numpy.typing as npt

from loaders.collectives import COLLECTIVES, POINT_TO_POINT, plain_name
from loaders.facet_names import FACETS

#: Columns that a reader may yield; any other column is a further parameter of the method.
COLUMNS = (
    "collective",
    "algorithm",
    "segment_size",
    "comm_size",
    "message_size",
    "ppn",
    "time",
    "time_std",
    "repetitions",
    "repetition",
    "library_id",
    "double_of",
    "vector_size",
    *FACETS.values(),
)

#: Names that a parameter of a method cannot have.
RESERVED = frozenset({*COLUMNS, "method", "sample", "total_size"})

_ALIASES = {
    "broadcast": "bcast",
    "all_reduce": "allreduce",
    "all_gather": "allgather",
    "all_gatherv": "allgatherv",
    "all_to_all": "alltoall",
    "all_to_allv": "alltoallv",
    "all2all": "alltoall",
    "reducescatter": "reduce_scatter",
    "reduce_scatterblock": "reduce_scatter_block",
    "reducescatterblock": "reduce_scatter_block",
}
#: Results of a collective are a group in a tree, so that a slash or dots would lead elsewhere.
_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
#: How names of collectives may be spelled, the longest first, as a part of an expression.
SPELLED = (
    "(?:mpi_)?i?(?:" + "|".join(sorted([*COLLECTIVES, *_ALIASES], key=len, reverse=True)) + ")(?:_persistent|_init)?"
)
_FORM = re.compile(r"(?:mpi_)?(i?)([a-z0-9_]+?)(_persistent|_init)?", re.ASCII)


def collective_name(text: str) -> str | None:
    """Return the project's name of a collective, `None` if the text is not one.

    ``MPI_Bcast``, ``BCAST`` and ``broadcast`` are ``bcast``; ``MPI_Ibcast`` is ``ibcast``,
    ``MPI_Bcast_init`` and ``bcast_persistent`` are ``bcast_persistent``.
    """
    plain = re.sub(r"[\s\-]+", "_", text.strip().lower())
    if plain == POINT_TO_POINT:
        return plain
    match = _FORM.fullmatch(plain)
    if match is None:
        return None
    for prefix, base in (("", match[1] + match[2]), (match[1], match[2])):
        name = _ALIASES.get(base, base)
        if name in COLLECTIVES:
            return prefix + name + ("_persistent" if match[3] else "")
    return None


def meant(text: str) -> str:
    """Ask whether one of the collectives with a name near to a text is meant; empty where none is near."""
    near = difflib.get_close_matches(text.lower(), COLLECTIVES, 3)
    near = near or [each for each in COLLECTIVES if text and each.startswith(text.lower())]
    return f"did you mean {' or '.join(near)}?" if near else ""


def plain_collective(text: str) -> str | None:
    """Return the project's name of a collective, or the name as it is; `None` if it cannot be one."""
    return collective_name(text) or (text if _NAME.fullmatch(text) else None)


def counts_blocks(collective: str) -> bool:
    """Whether the message size of a collective is the block of one process rather than a vector."""
    entry = COLLECTIVES.get(plain_name(collective))
    return entry is not None and entry.by_block


def block_of(total: npt.NDArray[np.int64], comm_size: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Block per process in bytes of a total in bytes, rounded half up; at least 1 where anything is sent."""
    block = (2 * total + comm_size) // (2 * comm_size)
    return np.where(total > 0, np.maximum(block, 1), 0)
