"""Decision functions that are given rather than grown, such as rules files: kept by a key, a family like all others."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.improve import improved
from dashboard.decisions.grown.family import Family, Progress
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.errors import OptionError
from dashboard.domain.options import Option

KIND = "rules"
MOST, MOST_BYTES = 256, 64 << 20
"""So many, of so many bytes in all, are kept in a process; the one not asked for longest is forgotten."""
READ_BY = ("4.1", "5.0", "6.0")


@dataclass(frozen=True)
class Given:
    """A rules file, or another decision that was not made from the measurements."""

    #: For people, such as the file's name.
    name: str
    #: ``decide(problem, version)``: what it decides over these measurements, its methods those measured where they are
    #: the same; `version` is that of the Open MPI that reads it. Raises `OptionError` where it says nothing of the
    #: collective.
    decide: Callable[[Problem, str], DecisionFunction]
    #: Bytes of the file.
    size: int = 0


class _Kept:
    def __init__(self) -> None:
        self._kept: OrderedDict[str, Given] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, key: str, given: Given) -> None:
        with self._lock:
            self._kept[key] = given
            self._kept.move_to_end(key)
            while len(self._kept) > 1 and (len(self._kept) > MOST or self._size() > MOST_BYTES):
                self._kept.popitem(last=False)

    def _size(self) -> int:
        return sum(given.size for given in self._kept.values())

    def get(self, key: str) -> Given | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)


GIVEN = _Kept()


def _name(key: str) -> str:
    given = GIVEN.get(key)
    return key if given is None else given.name


def grow(
    problem: Problem, *, progress: Progress | None = None, file: str = "", improve: bool = False, read_by: str = "5.0"
) -> DecisionFunction:
    """Take the decision that was given, or improve it over the measurements.

    Raises
    ------
    OptionError
        When there is no such file here, or it says nothing of the collective.
    """
    if progress is not None:
        progress(0.0, "reading rules")
    rules = GIVEN.get(file)
    if rules is None:
        raise OptionError(
            f"the rules file {file} is not loaded here; check it again on the page Export"
            if file
            else "no rules file is chosen; on the command line --file names one, on the page Export it is checked"
        )
    decision = rules.decide(problem, read_by)
    if improve:
        decision = improved(problem, decision)
    options = {"file": file, "improve": improve, "read_by": read_by}
    changed = {name: value for name, value in options.items() if value != FAMILY.option(name).default}
    return decision.changed(kind=KIND, options=changed, provenance={**problem.provenance, "rules": rules.name})


FAMILY = Family(
    name=KIND,
    title="Rules file",
    source="rules of a library, or a saved decision function",
    options=(
        Option(
            name="file",
            title="file",
            help="Rules file of Open MPI, MPICH, Intel MPI or UCC, or saved decision function.",
            default="",
            kind="name",
            known_as=_name,
        ),
        Option(
            name="improve",
            title="best method in each region",
            help="Keep where the rules begin and end, but take in each region the method that costs least there.",
            default=False,
            kind="flag",
        ),
        Option(
            name="read_by",
            title="read by Open MPI",
            help="Version of Open MPI that reads classic rules: what these mean depends on it.",
            default="5.0",
            kind="choice",
            choices=READ_BY,
        ),
    ),
    grow=grow,
    # Which files there are, only a frontier's `further` settings can tell.
    path=lambda _problem: [],
)
