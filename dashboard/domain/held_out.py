"""What can be left out to judge by it, and what the penalties there are over, to be put beside them."""

from collections.abc import Mapping, Sequence
from typing import Any

from dashboard.domain.options import Option

#: Stands for leaving nothing out, of which `decisions.judged.folds` has no scheme.
NOTHING = "none"
HELD_OUT = Option(
    name="held_out",
    title="left out for judging",
    help="Every tree is grown again without some of the measurements, and judged by these (cross-validation; M. Stone, "
    "J. R. Stat. Soc. B 36, 1974): every N-th communicator and message size in turn (lines), only one of both, half of "
    "the repetitions, or none. It takes several times as long.",
    default=NOTHING,
    kind="choice",
    choices=("lines", "comm_size", "message_size", "repetitions", NOTHING),
    titles=(
        "communicator and message sizes",
        "communicator sizes",
        "message sizes",
        "half of the repetitions",
        "nothing",
    ),
)
CRITERION = Option(
    name="criterion",
    title="penalty",
    help="Which figure over the penalties of all cells trees are compared and recommended by. The penalty is the time "
    "lost against the best method, in percent of it (quadtree report, 2006).",
    default="mean",
    kind="choice",
    choices=("mean", "median", "p95", "max"),
    titles=("mean", "median", "95th percentile", "maximum"),
)
#: Of those by which a tree is recommended.
BETWEEN = "at sizes left out in turn, all of them between others"
#: Of those that ways of deciding are judged by.
EVERY = "at all sizes, left out in turn; the first and the last ones lie beyond those decided on"
#: What is left out that is no size.
_NO_SIZES = (None, "repetitions")


def title(table: Mapping[str, Any]) -> str:
    """What stands before what is said of a table of the recommended tree: ``left out``, and which table it is."""
    return " ".join(["left out", *(f"{name} {table[name]}" for name in ("collective", "ppn") if name in table)])


def sentences(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """How well the recommended tree does at left-out sizes, and what these are silent of: one for each table."""
    return [f"{title(table).capitalize()}: {table['said']}." for table in tables]


def over(scheme: str | None) -> str:
    """What the figures of a scheme of `decisions.judged.folds` are over; empty where no sizes are left out."""
    return "" if scheme in _NO_SIZES else EVERY
