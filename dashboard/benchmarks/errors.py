"""What can be wrong with a campaign: all are `ValueError`, split by what the user can do about them."""

from __future__ import annotations


class BenchError(ValueError):
    """A campaign cannot be planned, run or read; the message says what was found and what would be right."""


class PlanError(BenchError):
    """A plan asks for what cannot be measured."""


class NoMpiError(BenchError):
    """There is no MPI to measure with; the message says what to install."""


class CampaignError(BenchError):
    """A campaign is not in the state that the order needs."""


class NotLaunchedError(CampaignError):
    """A job could not be launched, and nothing of it runs."""
