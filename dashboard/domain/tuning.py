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
        "Operations that are tuned, in turns for as long as the budget lasts.",
        COLLECTIVES,
        "names",
        choices=tuple(KNOWN),
        flag="-c --collective",
    ),
    RANKS,
    Option(
        "budget",
        "budget",
        "Time of measuring at most, such as 60s or 2h; start, checks and proof come on top.",
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
        "Processes to choose from, such as 2-16 or 8,64; without it all up to 16, of more powers of two and halfway.",
        "",
        "name",
        metavar="GRID",
    ),
    Option(
        "target",
        "written as well as",
        "What else the decision is written as, such as c; rules: the library's rules and what is preloaded, no more.",
        RULES,
        "name",
    ),
    Option(
        "launches", "launches", "Of each comparison: the ranks are started anew so often.", 3, "int", low=1, high=99
    ),
    Option(
        "unchecked",
        "without safety check",
        "Do not call the methods in every way first; what gives wrong results is then found by nobody.",
        default=False,
        kind="flag",
    ),
)
