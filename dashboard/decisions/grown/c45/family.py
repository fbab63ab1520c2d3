"""C4.5 as way of deciding: training cases are the measured cells, classes the methods."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from dashboard.decisions.function.attributes import TESTED
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.family import Family, Progress
from dashboard.decisions.measured.problem import APART, Problem
from dashboard.domain.options import Option

PATH_MIN_CASES = (256, 128, 64, 40, 20, 12, 8, 6, 4, 3, 2)
PATH_CONFIDENCES = (1.0, 5.0, 15.0, 25.0)


def c45(problem: Problem, *, progress: Progress | None = None, **options: Any) -> DecisionFunction:
    """Learn a tree as C4.5 Release 8 does.

    Parameters
    ----------
    problem
        What to decide on. C4.5 weighs all cells alike: a workload changes nothing.
    **options
        See `FAMILY`: ``min_cases`` (-m), ``confidence`` (-c), ``attributes``, ``gain_ratio`` (else -g),
        ``group_values`` (-s), ``pruned``.

    Returns
    -------
    DecisionFunction
        Decides every cell as C4.5 classifies it. ``provenance["c45"]`` has what C4.5 reports: the number of
        ``cases``, and ``before`` and ``after`` pruning ``size`` (tests and leaves), ``leaves`` and ``errors``
        (cells), after it ``predicted_error`` (among as many unseen cells, not whole).

    Raises
    ------
    OptionError
        When an option is outside its range.
    DecisionError
        When an attribute is not known of these results.

    Notes
    -----
    C4.5 calculates with float32, whose whole numbers end at 2^24: larger sizes (of ``total_size``) are rounded
    before they are compared. A cut here is C4.5's own, or the largest measured size that C4.5 rounds down to it,
    so that all measured cells are decided alike.
    """
    return c45_many(problem, [options], progress=progress)[0]


def c45_many(
    problem: Problem, settings: Sequence[dict[str, Any]], *, progress: Progress | None = None
) -> list[DecisionFunction]:
    """Learn one tree for each of several settings; those that differ in pruning only are grown once."""
    checked = [FAMILY.checked(options) for options in settings]
    if progress is not None:
        progress(0.0, "preparing; compiles for some seconds the first time on a machine")
    from dashboard.decisions.grown.c45.learn import learn  # noqa: PLC0415 - the compiler takes a while to import

    return learn(problem, checked, progress)


def _path(problem: Problem) -> Iterator[dict[str, Any]]:
    """Ever fewer cells that a branch needs, each with ever less pruning; the last tree is not pruned."""
    cells = sum(int((part.labels >= 0).sum()) for part in problem.slices)
    for min_cases in PATH_MIN_CASES:
        if 4 * min_cases <= cells or min_cases == PATH_MIN_CASES[-1]:
            for confidence in PATH_CONFIDENCES:
                yield {"min_cases": min_cases, "confidence": confidence}
    yield {"min_cases": 1, "pruned": False}


FAMILY = Family(
    name="c45",
    title="C4.5",
    source="J. R. Quinlan: C4.5: Programs for Machine Learning, 1993, Release 8; dissertation 5.4, 6.3",
    options=(
        Option(
            "min_cases",
            "fewest cells (-m)",
            "At least two branches of each test must hold this many cells.",
            2,
            "int",
            1,
            flag="-m",
        ),
        Option(
            "confidence",
            "confidence level (-c, %)",
            "Level of the upper limit of the error that is expected at a leaf; a lower one prunes more.",
            25.0,
            "float",
            0.001,
            100,
            log=True,
        ),
        replace(TESTED, help="What may be tested; earlier ones win ties."),
        Option(
            "gain_ratio",
            "gain ratio",
            "Choose tests by gain ratio rather than by information gain (-g).",
            default=True,
            kind="flag",
        ),
        Option(
            "group_values",
            "group values (-s)",
            "Tests may ask for groups of values of an attribute such as the collective.",
            default=False,
            kind="flag",
        ),
        Option("pruned", "pruned", "Take the tree after pruning.", default=True, kind="flag"),
    ),
    grow=c45,
    path=_path,
    grow_many=c45_many,
    labels=True,
    tells=tuple(APART),
)
