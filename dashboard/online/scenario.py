"""Scenarios of simulations: what is called, what it really takes, and what disturbs the timings; as JSON or by name."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from dashboard.domain.errors import meant
from dashboard.models.parameter_text import find_parameters
from dashboard.online.errors import OnlineError
from dashboard.online.logics import LOGICS
from dashboard.online.noise import PATTERNS, PROFILES, Noise, Processes
from dashboard.online.selection import Calls
from dashboard.online.settings import Learning
from dashboard.online.table import AlgTable
from dashboard.online.truth import Formulas, Measured, Simulated, Truth
from loaders import disk
from loaders.online import METRICS

FOLDER = Path(__file__).with_name("scenarios")
#: Bound of sizes, and of calls, runs and iterations.
_MOST, _MOST_COUNT = 2**62, 1_000_000
_KEYS = {
    *("name", "about", "machine", "collectives", "application", "evaluate", "noise", "processes", "drift"),
    *("metric", "logic", "learning", "like"),
}
#: Of an application, and of the calls that choices are judged by.
_CALLED = ("nodes", "ppn", "calls", "runs")


@dataclass(frozen=True)
class Drift:
    """From an iteration on some methods take other times: factors by method, of a collective."""

    iteration: int
    factors: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class Scenario:
    """All of a simulation but its seed and length."""

    name: str
    #: Nodes, and cores per node.
    machine: tuple[int, int]
    #: By collective.
    truths: Mapping[str, Truth]
    #: By collective the calls that runs draw from, each as likely as the others, and those that choices are judged by.
    called: Mapping[str, Calls]
    judged: Mapping[str, Calls]
    #: Calls of a run, and runs of an iteration.
    calls: int = 400
    runs: int = 5
    noise: Noise = field(default_factory=Noise)
    processes: Processes = field(default_factory=Processes)
    drift: Drift | None = None
    #: What is taken for the time of a call: see `loaders.online.METRICS`.
    metric: str = "max"
    #: How methods are chosen while they are tried, one of `dashboard.online.logics.LOGICS`.
    logic: str = "tuning"
    learning: Learning = field(default_factory=Learning)

    @cached_property
    def table(self) -> AlgTable:
        """The methods of all collectives."""
        return AlgTable("simulated", self.name, {name: truth.methods for name, truth in self.truths.items()})

    def times(self, collective: str, calls: Calls, iteration: int) -> npt.NDArray[np.float64]:
        """``(call, method)`` true seconds in an iteration, from 1."""
        times = self.truths[collective].times(calls)
        if np.isnan(times).all(axis=1).any():
            raise OnlineError(f"{collective}: there are calls for which no method has a time")
        if self.drift is not None and iteration >= self.drift.iteration:
            factors = self.drift.factors.get(collective, {})
            labels = [method.label for method in self.truths[collective].methods]
            times = times * np.array([factors.get(label, 1.0) for label in labels], dtype=np.float64)
        return times

    def default(self, collective: str, calls: Calls, iteration: int) -> npt.NDArray[np.float64]:
        """``(call,)`` true seconds of what the library decides by itself, likewise; NaN where that is not known."""
        return self.truths[collective].default(calls, self.times(collective, calls, iteration))

    @property
    def in_sample(self) -> bool:
        """Whether choices are judged by the very calls that runs draw from."""
        return self.judged is self.called


def names() -> list[str]:
    """Scenarios that are known by name."""
    return sorted(file.stem for file in FOLDER.glob("*.json"))


def file_data(name: str) -> dict[str, Any]:
    """What the file of a scenario that is known by name says; empty for others."""
    data: dict[str, Any] = _complete(disk.read_json(FOLDER / f"{name}.json")) if name in names() else {}
    return data


def _complete(data: Any) -> Any:
    """What a file says, and where it says nothing what the known scenario says that it is like."""
    if not isinstance(data, dict) or "like" not in data:
        return data
    return {**file_data(_one_of("like", data["like"], tuple(names()))), **data}


def read(name: str, cubes: Mapping[str, xr.Dataset] | None = None) -> Scenario:
    """Read a scenario.

    Parameters
    ----------
    name
        One of `names`, or a file.
    cubes
        Measurements by collective, for scenarios that ask for them.

    Raises
    ------
    OnlineError
        There is none, or something in it is wrong; the message names it.
    """
    file = FOLDER / f"{name}.json"
    if name not in names():
        file = Path(name)
        if not file.is_file():
            named = f"neither a file nor one of {', '.join(names())}{meant(name, names())}"
            raise OnlineError(f"there is no scenario {name!r}, {named}")
    try:
        data = disk.read_json(file)
    except (OSError, ValueError) as error:
        raise OnlineError(f"{file}: the scenario cannot be read: {error}") from None
    try:
        return scenario_of(_complete(data), cubes)
    except OnlineError as error:
        raise OnlineError(f"{file.name}: {error}") from None


def scenario_of(data: Any, cubes: Mapping[str, xr.Dataset] | None = None) -> Scenario:
    """Make a scenario of JSON data; see the named ones for what may stand there.

    Raises
    ------
    OnlineError
        Something is missing, unknown or out of its range.
    """
    if not isinstance(data, dict):
        raise OnlineError("a scenario is a JSON object")
    if unknown := sorted(set(data) - _KEYS):
        raise OnlineError(f"there is no {unknown[0]!r} in a scenario, expected some of {', '.join(sorted(_KEYS))}")
    try:
        return _scenario(data, cubes or {})
    except KeyError as error:
        raise OnlineError(f"{error} is missing") from None
    except (TypeError, AttributeError, ValueError, OverflowError) as error:
        raise OnlineError(str(error)) from None


def _scenario(data: Mapping[str, Any], cubes: Mapping[str, xr.Dataset]) -> Scenario:
    application, processes = data.get("application", {}), Processes(**data.get("processes", {}))
    for what in ("application", "evaluate"):
        _known(what, data.get(what, {}), _CALLED)
    _one_of("arrivals", processes.arrivals, PATTERNS)
    for profile in processes.profiles.values():
        _one_of("profile", profile, PROFILES)
    if data["collectives"] == "measured":
        if not cubes:
            raise OnlineError("this scenario replays measurements: name them with --results")
        every = {name: Measured(cube) for name, cube in cubes.items() if cube.sizes["method"] > 1}
        measured = {name: truth for name, truth in every.items() if truth.cells}
        if not measured:
            raise OnlineError(f"of {', '.join(cubes)} no two methods were measured at one size: nothing can be chosen")
        truths: dict[str, Truth] = dict(measured)
        called = {name: truth.calls() for name, truth in measured.items()}
        judged = called
        nodes, ppn = (max(int(getattr(each, axis).max()) for each in called.values()) for axis in ("nodes", "ppn"))
    elif not data["collectives"]:
        raise OnlineError("collectives are none, expected at least one, or 'measured'")
    else:
        nodes, ppn = int(data["machine"]["nodes"]), int(data["machine"]["ppn"])
        truths = {name: _truth(name, entry["truth"]) for name, entry in data["collectives"].items()}
        sizes = {name: entry["sizes"] for name, entry in data["collectives"].items()}
        called = {name: _calls(application, each) for name, each in sizes.items()}
        judged = {name: _calls(data["evaluate"], each) for name, each in sizes.items()}
    methods = {name: [method.label for method in truth.methods] for name, truth in truths.items()}
    _known("processes: profiles", processes.profiles, [each for labels in methods.values() for each in labels])
    return Scenario(
        name=str(data["name"]),
        machine=(nodes, ppn),
        truths=truths,
        called=called,
        judged=judged,
        calls=_count("calls", application.get("calls", 400)),
        runs=_count("runs", application.get("runs", 5)),
        noise=Noise(**data.get("noise", {})),
        processes=processes,
        drift=_drift(data["drift"], methods) if data.get("drift") else None,
        metric=_one_of("metric", data.get("metric", "max"), METRICS),
        logic=_one_of("logic", data.get("logic", "tuning"), tuple(LOGICS)),
        learning=Learning.of(data.get("learning", {})),
    )


def _drift(entry: Mapping[str, Any], methods: Mapping[str, Collection[str]]) -> Drift:
    drift = Drift(**entry)
    _count("drift: iteration", drift.iteration)
    _known("drift", drift.factors, methods)
    for name, factors in drift.factors.items():
        _known(f"drift of {name}", factors, methods[name])
        for label, factor in factors.items():
            if not 0 < factor < np.inf:
                raise OnlineError(f"drift of {name}: {label} is {factor!r}, expected a factor above 0")
    return drift


def _truth(collective: str, entry: Mapping[str, Any]) -> Truth:
    if "formulas" in entry:
        return Formulas(dict(entry["formulas"]), dict(entry.get("constants", {})), str(entry.get("default", "1")))
    if "methods" in entry:
        model = str(entry.get("model", "loggp"))
        return Simulated(collective, entry["methods"], find_parameters(str(entry["parameters"]), model).of(model))
    raise OnlineError(f"the truth of {collective} has neither formulas nor methods of the models")


def _calls(entry: Mapping[str, Any], sizes: list[int]) -> Calls:
    """All combinations of nodes, processes per node and sizes; what stands twice is twice as likely."""
    lists = {"nodes": entry["nodes"], "ppn": entry["ppn"], "sizes": sizes}
    for name, values in lists.items():
        if not values or not all(type(each) is int and 0 < each < _MOST for each in values):
            raise OnlineError(f"{name} are {values!s:.60}, expected whole numbers from 1")
    nodes, ppn, size = np.meshgrid(*lists.values(), indexing="ij")
    return Calls.even(size.ravel(), nodes.ravel(), ppn.ravel())


def _known(what: str, given: Iterable[str], allowed: Collection[str]) -> None:
    if unknown := [each for each in given if each not in allowed]:
        raise OnlineError(f"{what} has no {unknown[0]!r}, expected some of {', '.join(allowed)}")


def _one_of(what: str, value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise OnlineError(f"{what} is {value!r}, expected one of {', '.join(allowed)}")
    return str(value)


def _count(what: str, value: Any) -> int:
    if type(value) is not int or not 1 <= value <= _MOST_COUNT:
        raise OnlineError(f"{what} is {value!r}, expected a whole number of 1 to {_MOST_COUNT:,}")
    return value
