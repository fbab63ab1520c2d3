"""What every export target looks like, and the error that it raises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dashboard.export.usage import Step, steps_of
from loaders.openmpi import series

if TYPE_CHECKING:
    import xarray as xr

    from dashboard.decisions import DecisionFunction, Method

#: What a writer is given, see `Target`.
Decisions: TypeAlias = "DecisionFunction | Sequence[DecisionFunction]"
Facts: TypeAlias = Mapping[str, Any] | None
Cubes: TypeAlias = "Mapping[str, xr.Dataset] | None"
Weights: TypeAlias = Mapping[str, Any] | None


class ExportError(ValueError):
    """The decision functions cannot be written as this target; the message says why."""


class LeftAloneError(ExportError):
    """All is left to the library's own decision, which needs no file."""


def series_of(version: str) -> str:
    """The series of an Open MPI that a file is written for; `ExportError` lists those there are."""
    try:
        return series(version)
    except ValueError as error:
        raise ExportError(str(error)) from None


def all_segments(_collective: str, _method: Method) -> bool:
    """A target says the segment size of every method."""
    return True


def no_segments(_collective: str, _method: Method) -> bool:
    """A target says that of none."""
    return False


@dataclass(frozen=True)
class Target:
    """Something that decision functions can be written as.

    Attributes
    ----------
    name
        As in ``colltune export --to``.
    title
        For people.
    extension
        Of a file, with the dot.
    write
        ``write(decisions, provenance=…)``: the text of the file, ASCII where it is none of JSON. `decisions` is one
        decision function, or one for each of several collectives; `provenance` what the comments tell of it
        (`dashboard.export.provenance.describe`). `ExportError` where it cannot be written; the message says why.
    options
        Names of further keyword arguments of `write`, all of which may be left out: ``cubes`` (measurements by
        collective: with them what the target lacks gets the substitute that costs least, or the best approximation,
        and the comments tell the penalty before and after), ``version`` (of the library), ``most_rules`` (at most so
        many for each collective; needs ``cubes`` where there are more), ``weights`` (workload by collective,
        ``(comm_size, message_size)``: what is best, and what it costs, is weighted by it), ``base`` (text of a file
        that is to be changed).
    use
        How a file is put to use, as `dashboard.export.usage.steps_of` fills it in.
    readable
        Whether ``colltune lint`` reads it.
    own_methods
        Whether it takes methods by names that are its own, and its writer refuses others, so that before it these are
        replaced by the best of its own (`dashboard.export.substitute`).
    says
        What of `dashboard.export.holds` a file says of where its decisions hold, such as ``device``.
    runs_own
        Of a target that runs methods of this project over the library, by schedules for the measured numbers of
        processes: the same method for some such number, to find out whether it can be run.
    segments
        ``segments(collective, method)``: whether the segment size of a method that has one can be said; it is one that
        the target lacks otherwise.
    names
        ``names(collective, version)``: what its library calls the algorithms of a collective; None where it takes any.
    once
        ``once(collective, method)``: name and value of a setting that a method needs and a file has but once, so that
        methods of different values are not said beside each other; an empty name where it needs none.
    comes_to
        ``comes_to(decision, cube, weights, version)``: of a file that is not read back the decision function that it
        comes to for one collective; None: nothing tells, or it says all of it.
    notes
        ``notes(decision, asked)``: what a file does not say of one collective as it was decided, in words; `asked` has
        what a file may be asked for by the names of `options`, all of them. None: its writer can say everything.
    unwritten
        ``unwritten(facts, methods)``: what is said of methods that its library was measured to have, and its files are
        written without; None: it has none.
    """

    name: str
    title: str
    extension: str
    write: Callable[..., str]
    options: tuple[str, ...] = ()
    use: Sequence[Step] = (Step("Use {name} as its first lines say."),)
    readable: bool = False
    own_methods: bool = False
    runs_own: Callable[[Any], Any] | None = None
    segments: Callable[[str, Method], bool] = all_segments
    says: tuple[str, ...] = ()
    names: Callable[[str, str | None], Sequence[str]] | None = None
    once: Callable[[str, Method], tuple[str, str]] | None = None
    comes_to: Callable[[DecisionFunction, xr.Dataset, Any, str], DecisionFunction] | None = None
    notes: Callable[[DecisionFunction, Mapping[str, Any]], Iterable[str]] | None = None
    unwritten: Callable[[Mapping[str, Any], str], str] | None = None

    def steps(self, name: str, collectives: Sequence[str]) -> list[Step]:
        """Tell how a file of this name, which decides some collectives, is used."""
        return steps_of(self.use, name, collectives)
