"""What is said when results are read: declared once, for the command's options and the page's widgets."""

from collections.abc import Mapping
from typing import Any

from dashboard.domain.options import Option
from loaders.facet_names import FACETS


def _hint(name: str, title: str, metavar: str, text: str, flag: str = "", unlimited: str = "") -> Option:
    default = None if unlimited else ""
    return Option(name, title, text, default, "name", metavar=metavar, flag=flag, unlimited=unlimited)


COLLECTIVE = _hint(
    "collective",
    "collective",
    "NAME",
    "The operation that was measured, such as bcast or MPI_Bcast, for all files that do not say it.",
    flag="-c",
)
PPN = Option(
    name="ppn",
    title="processes per node",
    help="How many processes shared a node, for all files that do not say it.",
    default=None,
    kind="int",
    low=1,
    unlimited="placed alike",
)
STATISTIC = Option(
    name="statistic",
    title="time taken from the file",
    help="Which of several times of a row counts, such as OSU's average, minimum and maximum over the processes. The "
    "maximum is when the last process is done, as SKaMPI measures. Of rows of a table that measured the same the "
    "median is taken instead of the mean.",
    default=None,
    kind="choice",
    choices=("max", "mean", "median", "min"),
    titles=("maximum", "mean", "median", "minimum"),
    unlimited="as suits the format",
)
SELECT = _hint(
    "select",
    "results that are meant",
    "FACET=VALUE,…",
    "Where files differ in a facet, take the results with this value of it, such as device=host; several separated "
    f"by commas. Facets are {', '.join(FACETS)}; 'info' lists their values.",
    unlimited="all, where they agree",
)
JOIN = _hint(
    "join",
    "put together",
    "FACET,…",
    "Facets in which results are put together although they differ, such as campaign; how far apart they are is said.",
    unlimited="none",
)
NUMBERS = _hint(
    "numbers",
    "algorithm numbers",
    "LIBRARY",
    "The library whose numbers the algorithms have, where they are named by numbers: openmpi-4.1, -5.0 or -6.0, "
    "intel-2019 to intel-2021.",
    unlimited="as the files tell",
)
SCHEDULER = _hint(
    "scheduler",
    "scheduler",
    "ADDRESS",
    "Address of a dask.distributed scheduler, such as tcp://head:8786, whose workers compute what is too large "
    "for this machine; results are in one Zarr store or netCDF file that all of them see.",
    unlimited="this machine",
)
#: What files do not say, what is meant of them, and who computes.
OPTIONS = (
    _hint(
        "pattern",
        "pattern of the file names",
        "PATTERN",
        "What the parts of each file's path stand for, such as '{collective}__{algorithm}__seg{segment_size}.sko'; * "
        "stands for anything.",
    ),
    _hint("algorithm", "algorithm", "NAME", "The algorithm that was measured; with the segment size it is the method."),
    _hint(
        "segment_size",
        "segment size",
        "BYTES",
        "Bytes that messages were cut into, such as 8192 or 8KiB; 0: they were sent whole.",
    ),
    _hint("comm_size", "processes", "P", "Processes that took part; OSU's and other outputs do not say it."),
    _hint(
        "message_size",
        "message size",
        "BYTES",
        "Bytes of all rows, where the files print no size, as those of SKaMPI 4 over processes.",
        flag="--bytes",
    ),
    _hint(
        "system",
        "name of the system",
        "NAME",
        "Name of the machine, for titles and for what is exported; also chooses among the systems in one file.",
    ),
    _hint("network", "network", "NAME", "Name of its network, likewise."),
    _hint(
        "library",
        "name of the library",
        "NAME",
        "The MPI library that was measured, such as Open MPI, for what is exported.",
    ),
    _hint("library_version", "library's version", "VERSION", "Its version, such as 5.0.6."),
    _hint("library_id", "number of the algorithm", "ID", "The library's own number of the algorithm."),
    _hint("nodes", "nodes", "N", "Nodes that took part: with the processes they say the processes per node."),
    _hint("device", "device", "NAME", "Where the buffers were, such as host or CUDA."),
    _hint("placement", "placement", "NAME", "How the processes were placed on the nodes."),
    _hint("campaign", "campaign", "NAME", "Which measurement campaign the files are of."),
    STATISTIC,
    NUMBERS,
    SELECT,
    JOIN,
    SCHEDULER,
)

BY_NAME = {option.name: option for option in (COLLECTIVE, PPN, *OPTIONS)}


def words(hints: Mapping[str, Any]) -> list[str]:
    """Hints of `loaders.open_results` as the commands take them."""
    typed: list[str] = []
    for name, value in hints.items():
        flag = BY_NAME[name].flags[-1] if name in BY_NAME else f"--{name}"
        if name == "columns":
            typed += [word for theirs, ours in value.items() for word in ("--column", f"{ours}={theirs}")]
        elif value is True:
            typed.append(flag)
        elif value not in (None, False):
            typed += [flag, str(value)]
    return typed


def chosen(values: Mapping[str, str | None]) -> dict[str, str]:
    """What is chosen for each facet as the hints of the loaders.

    Parameters
    ----------
    values
        By facet: one of its values, None = results of all of them together; those that are empty are not looked at.
    """
    select = ",".join(f"{name}={value}" for name, value in values.items() if value)
    join = ",".join(name for name, value in values.items() if value is None)
    return {name: text for name, text in (("select", select), ("join", join)) if text}
