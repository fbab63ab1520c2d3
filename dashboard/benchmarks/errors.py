"""What can be wrong with a campaign: all are `ValueError`, split by what the user can do about them."""

import errno
from pathlib import Path

#: What the system refuses for want of room.
ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


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


def unwritable(path: str | Path, error: OSError, kept: str, then: str) -> CampaignError:
    """The error that a file or folder cannot be written: why, what is kept, and what to do `then`."""
    stays = f"; {kept} is kept" if kept else ""
    remedy = "make room" if error.errno in ROOM else "see that it can be"
    return CampaignError(f"{path} cannot be written: {error.strerror or error}{stays} ({remedy}, then {then})")
