"""What can be wrong with a schedule: all are `ValueError`, split by what the user can do about them."""


class ScheduleError(ValueError):
    """An algorithm, a parameter or a call is not as it must be; the message says what was given and what is allowed."""


class NotApplicableError(ScheduleError):
    """The algorithm cannot serve this call. All ranks find out alike, before the first message."""


class DeadlockError(ScheduleError):
    """Ranks wait for messages that never come; the message says who waits for what."""


class WrongResultError(ScheduleError):
    """A buffer does not hold what the collective promises; the message says which and where."""
