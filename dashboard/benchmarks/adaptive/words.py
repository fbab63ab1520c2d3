"""How far the choice of points is, in words: of command and pages."""

from collections.abc import Mapping
from typing import Any

_MORE = "; by what was measured again there is more to measure: resume it"


def words_of(record: Mapping[str, Any]) -> list[str]:
    """Say what was chosen last and why, what the decision is expected to lose, and why it ended.

    Until it has ended the loss is by all times, those that cannot be trusted included, which may be measured again.

    Parameters
    ----------
    record
        As `dashboard.benchmarks.campaigns.campaign.Campaign.choices` gives it.

    Returns
    -------
    list of str
        Lines; none before anything is known.
    """
    known, decided = record.get("loss", {}), bool(record.get("decided"))
    nothing = "no time can be trusted" if decided else "nothing measured"
    losses = [f"{name} {loss:.3g} %" for name, loss in known.items() if loss is not None]
    losses += [f"{name} unknown ({nothing})" for name, loss in known.items() if loss is None and (losses or decided)]
    why = [f"chosen last: {record['why']}"] if record.get("why") else []
    if not losses:
        return why
    ended = f"; ended: {record['ended']}" if record["ended"] else _MORE if decided else ""
    spent = f"after {record['spent']:.0f} s of measuring"
    which = "" if decided else " by all times" if record["ended"] else " by all times so far"
    return [*why, f"expected loss of the decision{which}: {', '.join(losses)} {spent}{ended}"]
