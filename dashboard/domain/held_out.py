"""What penalties at left-out sizes are over, to be put beside them: they differ with what is left out."""

#: Of those by which a tree is recommended.
BETWEEN = "at sizes left out in turn, all of them between others"
#: Of those that ways of deciding are judged by.
EVERY = "at all sizes, left out in turn; the first and the last ones lie beyond those decided on"
#: What is left out that is no size.
_NO_SIZES = (None, "repetitions")


def over(scheme: str | None) -> str:
    """What the figures of a scheme of `decisions.judged.folds` are over; empty where no sizes are left out."""
    return "" if scheme in _NO_SIZES else EVERY
