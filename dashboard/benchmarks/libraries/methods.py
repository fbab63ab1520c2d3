"""A method as a campaign measures it, and what a library must offer so that it can be switched."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.benchmarks.errors import PlanError
from dashboard.schedules.orthogonal import worded
from loaders.methods import MethodKey, method_label
from loaders.openmpi import TWO_PROCESSES

DEFAULT = "default"
#: Provider of the methods that the library itself has.
LIBRARY = "library"
_PROVIDER = "provider"
#: Libraries hold parameters in 32 bits.
_MOST = 2**31 - 1
#: Stands for every component of a library.
ALL_COMPONENTS = "all"


@dataclass(frozen=True)
class Method:
    """An algorithm with its parameters.

    Attributes
    ----------
    algorithm
        The library's own name; ``default`` is the library's own decision.
    segment_size
        Bytes; 0 = none.
    parameters
        Further parameters as ``(name, value)``, such as ``("fan_out", 4)``; a value may be a name.
    library_id
        The library's number; 0 for its own decision, None where it has no numbers.
    provider
        Who offers it: the library, or what runs over it. Among the parameters of a record where it is not the library.
    """

    algorithm: str
    segment_size: int = 0
    parameters: tuple[tuple[str, int | str], ...] = ()
    library_id: int | None = None
    provider: str = LIBRARY

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Method:
        """Read a method of a plan or of a point of a run; what else stands there is not looked at."""
        entries = {str(name): value for name, value in (record.get("parameters") or {}).items()}
        provider, parameters = entries.pop(_PROVIDER, LIBRARY), tuple(sorted(entries.items()))
        return cls(record["algorithm"], record.get("segment_size") or 0, parameters, record.get("library_id"), provider)

    @property
    def label(self) -> str:
        """As a cube names it: who offers it stands among its parameters."""
        provider = () if self.provider == LIBRARY else ((_PROVIDER, self.provider),)
        return method_label(MethodKey(self.algorithm, self.segment_size, tuple(sorted({*self.parameters, *provider}))))

    def to_json(self) -> dict[str, Any]:
        """As it stands in a plan and in each point of a run."""
        record: dict[str, Any] = {"algorithm": self.algorithm, "segment_size": self.segment_size}
        parameters = dict(self.parameters)
        if self.provider != LIBRARY:
            parameters[_PROVIDER] = self.provider
        if parameters:
            record["parameters"] = parameters
        if self.library_id is not None:
            record["library_id"] = self.library_id
        return record


@dataclass(frozen=True)
class Variants:
    """Values of the parameters that methods are made with."""

    #: Bytes, 0 = none; for algorithms that cut messages into segments.
    segment_sizes: tuple[int, ...] = (0, 1024, 8192, 65536)
    #: For trees and chains with a choosable number of children.
    fan_outs: tuple[int, ...] = (4,)
    #: For k-nomial trees.
    radixes: tuple[int, ...] = (4,)
    #: Of own methods: messages at once, 0 = no limit, and bytes; of none the values that the methods name.
    max_requests: tuple[int, ...] = ()
    first_segments: tuple[int, ...] = ()
    #: Parts of the library that answer calls by themselves, by name, or `ALL_COMPONENTS`.
    components: tuple[str, ...] = ()
    #: Grids such as ``2x4``, and algorithms inside of them; of none the collective's own choice.
    grids: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()
    #: Own methods that are wanted with parameters beside those, as `dashboard.schedules.orthogonal.worded` reads them.
    named: tuple[str, ...] = ()
    #: Whether each method has a launch of its own, so that there may be some that hold from the ranks' start on only.
    launched: bool = False
    #: Whether components are wanted of those collectives alone of which rules can name who answers.
    ruled: bool = False

    def __post_init__(self) -> None:
        for name, low, least in (
            ("segment_sizes", 0, 1),
            ("fan_outs", 1, 1),
            ("radixes", 2, 1),
            ("max_requests", 0, 0),
            ("first_segments", 0, 0),
        ):
            values = getattr(self, name)
            if len(values) < least or any(type(value) is not int or not low <= value <= _MOST for value in values):
                allowed = f"whole numbers from {low} to {_MOST}{', at least one' * least}"
                raise PlanError(f"{name}: {list(values)}; allowed are {allowed}")


def components_of(given: str | None, *, spread: bool) -> tuple[str, ...]:
    """Names of the library's parts, as `Variants` has them, from ``all``, ``none`` or a list; without, all if `spread`.

    Parameters
    ----------
    spread
        Whether the ranks are on several nodes.
    """
    words = given or (ALL_COMPONENTS if spread else "none")
    return () if words == "none" else tuple(dict.fromkeys(filter(None, map(str.strip, words.split(",")))))


class Library:
    """What a campaign must know of an MPI library, of each in a file of its own.

    What stands here is that of one which cannot be switched, counts nothing, has no parts and needs no variables.
    """

    #: Such as ``Open MPI``.
    name: str
    #: Such as ``5.0.11``.
    version: str
    #: Performance variables that count messages by peer; none where the library has no such.
    graph_counters: tuple[str, ...] = ()
    #: Parts that answer blocking collectives by themselves; none where the library has no such.
    components: tuple[str, ...] = ()
    #: Whether a method can be forced from the start of the ranks on only, so that each needs a launch.
    apart: bool = False

    @property
    def unheeded(self) -> str:
        """Why no rules act on this installation, in words; empty where they do."""
        return ""

    @property
    def strict(self) -> dict[str, int]:
        """Control variables with which a method that cannot work is refused, beside those of `settings`."""
        return {}

    def methods(self, collective: str, variants: Variants) -> list[Method]:
        """All methods of a collective, the library's own decision first."""
        return [Method(DEFAULT, library_id=0)]

    def forcing(self, collective: str, method: Method) -> dict[str, str] | None:
        """Environment variables with which ranks take the method from their start on; None where there are none."""
        return {}

    def settings(self, collective: str, method: Method) -> dict[str, int]:
        """Control variables that make new communicators take the method."""
        return {}

    def component(self, collective: str, method: Method) -> str:
        """Part of the library that is to answer a method's calls; empty: the one that it finds first."""
        return ""

    def environment(self, *, here: bool, graphs: bool) -> dict[str, str]:
        """Environment variables for ``mpiexec``."""
        return {}


@dataclass(frozen=True)
class Fixed(Library):
    """A library without a tool interface or of an unknown kind: only its own decision can be measured, and `why`."""

    name: str
    version: str
    why: str


def serves(method: Method, comm_size: int) -> bool:
    """Whether a method is for so many processes: a grid for the product of its factors only, some for two."""
    if method.provider == LIBRARY and method.algorithm == TWO_PROCESSES:
        return comm_size == 2
    grid = dict(method.parameters).get("grid")
    return grid is None or math.prod(map(int, str(grid).split("x"))) == comm_size


def is_named(method: Method, word: str) -> bool:
    """Whether a word names a method: its algorithm, with those parameters that matter: ``linear:provider=own``."""
    name, given = worded(word)
    values = {**dict(method.parameters), "segment_size": method.segment_size, _PROVIDER: method.provider}
    return method.algorithm == name and all(values.get(key) == value for key, value in given.items())
