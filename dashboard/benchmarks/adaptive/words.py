"""How far the choice of points is, in words: of command and pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def words_of(record: Mapping[str, Any]) -> list[str]:
    """Say what was chosen last and why, what the decision is expected to lose, and why it ended.

    Parameters
    ----------
    record
        As `dashboard.benchmarks.campaigns.campaign.Campaign.choices` gives it.

    Returns
    -------
    list of str
        Lines; none before anything is known.
    """
    known = record.get("loss", {})
    losses = [f"{name} {loss:.3g} %" for name, loss in known.items() if loss is not None]
    losses += [f"{name} unknown (nothing measured)" for name, loss in known.items() if loss is None and losses]
    why = [f"chosen last: {record['why']}"] if record.get("why") else []
    if not losses:
        return why
    ended = f"; ended: {record['ended']}" if record["ended"] else ""
    spent = f"after {record['spent']:.0f} s of measuring"
    return [*why, f"expected loss of the decision: {', '.join(losses)} {spent}{ended}"]
