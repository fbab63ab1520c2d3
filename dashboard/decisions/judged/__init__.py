"""What decisions cost, in sample and held out, and against each other."""

__all__ = [
    "as_tuned",
    "compare",
    "folds",
    "frontier",
    "gain",
    "heldout",
    "improvement",
    "penalty",
    "portability",
    "recommend",
    "reproduced",
]
