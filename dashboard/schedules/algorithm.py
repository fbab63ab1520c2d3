"""An algorithm as data: what writes its schedule, its parameters, whom it serves, and where it comes from."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dashboard.schedules.call import Call
from dashboard.schedules.errors import NotApplicableError, ScheduleError
from dashboard.schedules.parts import power_below
from dashboard.schedules.rank import Rank

Requires = Literal["any", "power_of_two", "even"]
Order = Literal["", "rank order", "commutative"]


@dataclass(frozen=True)
class Parameter:
    """A parameter of an algorithm."""

    #: A name (an algorithm) or a whole number.
    name: str
    default: int | str
    #: Names allowed, or numbers of interest.
    values: tuple[int | str, ...]
    #: Smallest number allowed.
    least: int = 0

    def check(self, where: str, value: Any) -> None:
        """Raise `ScheduleError` when a value is not allowed."""
        if isinstance(self.default, str):
            if value not in self.values:
                raise ScheduleError(
                    f"{where}: {self.name} is {value!r}; expected one of {', '.join(map(str, self.values))}"
                )
        elif type(value) is not int or value < self.least:
            raise ScheduleError(f"{where}: {self.name} is {value!r}; expected a whole number of at least {self.least}")


#: What stands in `Algorithm.formula`: s, s/B (transfer, computing, copying), processes, bytes, radix, segments.
FORMULA = ("alpha", "beta", "gamma", "delta", "P", "m", "k", "n_s")
SEGMENT_SIZE = Parameter("segment_size", 0, (0, 1024, 8192, 65536))


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of a collective.

    Attributes
    ----------
    collective, name
        Names as everywhere in the project.
    write
        Writes the operations of one rank; never called for a single process.
    source
        Where it is described.
    parameters
        What can be chosen.
    requires
        Numbers of processes that it works on.
    least_count
        Elements that it needs at least, by the call and its parameters.
    order
        Of reductions: whether the operands stay in rank order, or the operation must commute.
    fallback
        Algorithm that serves where it does not.
    formula
        Of an algorithm without a model: how long it takes by Hockney's parameters, at whole powers of its radix and
        without segments where it has some; see `FORMULA`.
    also
        Raises `NotApplicableError` for what else it cannot serve, such as its parts.
    """

    collective: str
    name: str
    write: Callable[[Rank], None]
    source: str
    parameters: tuple[Parameter, ...] = ()
    requires: Requires = "any"
    least_count: Callable[[Call, Mapping[str, Any]], int] | None = None
    order: Order = ""
    fallback: str = ""
    formula: str = ""
    also: Callable[[Call, Mapping[str, Any]], object] | None = None

    @property
    def title(self) -> str:
        """Both names."""
        return f"{self.collective} {self.name}"

    def values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters, those not given by default.

        Raises
        ------
        ScheduleError
            When it has no such parameter, or the value is not allowed.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name, value in given.items():
            if name not in known:
                has = f"it has {', '.join(known)}" if known else "it has none"
                raise ScheduleError(f"{self.title} has no parameter {name!r}; {has}")
            known[name].check(self.title, value)
        return {name: given.get(name, parameter.default) for name, parameter in known.items()}

    def check(self, call: Call, values: Mapping[str, Any]) -> None:
        """Raise `NotApplicableError`, with the reason, when it cannot serve a call; one process is always served."""
        count = call.processes
        if count == 1:
            return
        if self.requires == "power_of_two" and count != power_below(count):
            raise NotApplicableError(f"{self.title} works on powers of two of processes; found {count}")
        if self.requires == "even" and count % 2:
            raise NotApplicableError(f"{self.title} works on even numbers of processes; found {count}")
        if self.order == "commutative" and not call.commutative:
            raise NotApplicableError(f"{self.title} changes the order of operands; the operation does not commute")
        if self.least_count is not None and call.elements < (least := self.least_count(call, values)):
            raise NotApplicableError(f"{self.title} needs {least} elements at least; found {call.elements}")
        for name, size in values.items():
            if name.endswith("segment_size") and 0 < size < call.element_size and call.elements > 1:
                raise NotApplicableError(
                    f"{name} is {size}; a segment holds an element of {call.element_size} B at least"
                )
        if self.also is not None:
            self.also(call, values)


def by_collective(algorithms: Iterable[Algorithm]) -> dict[str, dict[str, Algorithm]]:
    """Algorithms by collective, then name."""
    known: dict[str, dict[str, Algorithm]] = {}
    for each in algorithms:
        known.setdefault(each.collective, {})[each.name] = each
    return known
