"""What PICO's names of algorithms and files say: segment size, element count, data type."""

import math
import re
from typing import NamedTuple

#: Bytes of the data types of PICO (``pico_core_utils.c``, ``type_map``).
DATATYPES = {
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "int": 4,
    "float": 4,
    "double": 8,
    "char": 1,
    "unsigned_char": 1,
}

#: How PICO's lists of tests, and of the nodes of ranks, begin.
METADATA, ALLOCATION = "timestamp,test_id,", "MPI_Rank,allocation"
_LIBBINE = re.compile(r"(?P<algorithm>.+)-(?P<segment>\d{1,15})-(?P<ports>\d{1,6})", re.ASCII)
_SEGMENTED = re.compile(r"(?P<algorithm>.+)_(?P<segment>\d{1,15})", re.ASCII)
#: What libraries take when they are left to themselves.
_DEFAULTS = ("default_ompi", "default_mpich", "default_cray_mpich", "default-default")
_FILE = re.compile(
    rf"(?P<count>\d{{1,15}})_(?P<algorithm>.+?)_(?P<datatype>{'|'.join(DATATYPES)})\.csv(?:\.gz)?", re.ASCII
)


class Algorithm(NamedTuple):
    """An algorithm's name without its segment size; that in bytes (0 = none)."""

    name: str
    segment_size: int


class TestFile(NamedTuple):
    """What the name of a file of samples says."""

    algorithm: Algorithm
    total_size: int
    datatype: str


def split_algorithm(text: str) -> Algorithm:
    """Split the segment size from a name as PICO writes it.

    LibBine's ``<family>-<algorithm>-<layer>-<segment size>-<ports>`` keeps the ports in the name as ``-p<ports>``;
    ``<algorithm>_<segment size>`` loses the segment size; the library's own decision is ``default``; any other name
    stays whole.
    """
    if text in _DEFAULTS:
        return Algorithm(without_library(text), 0)
    match = _LIBBINE.fullmatch(text)
    if match is not None:
        return Algorithm(f"{match['algorithm']}-p{match['ports']}", int(match["segment"]))
    match = _SEGMENTED.fullmatch(text)
    if match is not None:
        return Algorithm(match["algorithm"], int(match["segment"]))
    return Algorithm(text, 0)


def without_library(name: str) -> str:
    """``default`` for a library's own decision, any other name as it is."""
    return "default" if name in _DEFAULTS else name


def split_file(name: str) -> TestFile | None:
    """Split ``<count>_<algorithm>[_<segment size>]_<datatype>.csv``; `None` if the name has another form."""
    match = _FILE.fullmatch(name)
    if match is None:
        return None
    total = int(match["count"]) * DATATYPES[match["datatype"]]
    return TestFile(split_algorithm(match["algorithm"]), total, match["datatype"])


def parse_nodes(text: str) -> int | None:
    """Number of nodes of ``64`` or of a torus ``8x8x8``; `None` if it is neither."""
    if not re.fullmatch(r"\d{1,9}(?:x\d{1,9}){0,5}", text.strip(), re.ASCII):
        return None
    nodes = math.prod(map(int, text.strip().split("x")))
    return nodes if 0 < nodes < 2**31 else None


def first_line(head: bytes) -> str:
    """First line of a text, without a byte order mark and blanks."""
    return head[:4096].split(b"\n", 1)[0].decode("utf-8", "replace").lstrip("\ufeff").strip()
