"""What a tuning can be told: declared once for the command ``tune`` and the page *Tune*."""

from dashboard.domain.jobs import RANKS
from dashboard.domain.options import Option
from dashboard.domain.units import parse_duration
from loaders.collectives import COLLECTIVES as KNOWN

#: Collectives that most programs call most.
COLLECTIVES = ("bcast", "reduce", "allreduce", "allgather", "alltoall")
MESSAGE_SIZES = "4-1MiB:x4"
BUDGET = "10min"
#: What rules are written as for the library that is there, and nothing else.
RULES = "rules"
#: Why a rule that was compared is left to the library, by its verdict.
COMPARED = {
    "same": "no faster beyond noise",
    "once": "faster beyond noise at first, but not when compared again",
    "own": "what the library does by itself",
}

OPTIONS: tuple[Option, ...] = (
    Option(
        "collectives",
        "collectives",
        "Operations to tune, in turns for as long as the budget lasts.",
        COLLECTIVES,
        "names",
        choices=tuple(KNOWN),
        flag="-c --collective",
    ),
    RANKS,
    Option(
        "budget",
        "budget",
        "Most time to spend on measuring, such as 60s or 2h; start, checks and proof come on top.",
        BUDGET,
        "name",
        check=parse_duration,
        metavar="TIME",
    ),
    Option(
        "message_sizes", "message sizes", "Bytes to choose from.", MESSAGE_SIZES, "name", flag="--sizes", metavar="GRID"
    ),
    Option(
        "comm_sizes",
        "communicator sizes",
        "Communicator sizes to choose from, such as 2-16 or 8,64; by default all up to 16, beyond that powers of "
        "two and those halfway.",
        "",
        "name",
        metavar="GRID",
    ),
    Option(
        "target",
        "written as well as",
        "What else to write the decision as, such as c; rules: nothing but the library's rules and what is preloaded.",
        RULES,
        "name",
    ),
    Option(
        "launches", "launches", "How often the ranks are started anew for each comparison.", 3, "int", low=1, high=99
    ),
    Option(
        "unchecked",
        "without safety check",
        "Do not call the methods in every way first; those that give wrong results then go unnoticed.",
        default=False,
        kind="flag",
    ),
)
