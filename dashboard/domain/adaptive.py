"""What a campaign that chooses its points itself can be told: declared once for ``bench`` and the page *Measure*."""

from dashboard.domain.options import Option
from dashboard.domain.units import parse_duration


def budget_seconds(text: str | None) -> float | None:
    """Seconds of a budget as it is typed; None where there is none.

    Raises
    ------
    ValueError
        It is no time above 0.
    """
    if not text:
        return None
    seconds = parse_duration(text)
    if not seconds > 0:
        raise ValueError(f"{text!r} is not a time above 0")
    return seconds


ADAPTIVE = Option(
    "adaptive",
    "adaptive",
    "Choose from the grid what can still change the decision, until the budget or the expected loss is reached.",
    default=False,
    kind="flag",
)
BUDGET = Option(
    "budget",
    "budget",
    "Most time to spend on measuring, such as 60s or 2h; for an array, in each job.",
    "",
    "name",
    check=budget_seconds,
    metavar="TIME",
)
UNTIL = Option(
    "until",
    "until expected loss [%]",
    "Stop once the mean expected loss of the decision is below this, in percent.",
    default=None,
    kind="float",
    low=0.01,
    high=100.0,
    unlimited="none",
    log=True,
    metavar="PCT",
)
OPTIONS = (ADAPTIVE, BUDGET, UNTIL)
