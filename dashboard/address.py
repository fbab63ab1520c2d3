"""The view as names and values of an address, and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import param

from dashboard.choice import Choice, read_options, write_options

if TYPE_CHECKING:
    from dashboard.state import State

#: Names in an address with their params; a value is set after those that it depends on.
PARAMETERS = {
    "page": "page",
    "collective": "collective",
    "together": "together",
    "ppn": "ppn",
    "across": "across",
    "depth": "max_depth",
    "limit": "limit_depth",
    "threshold": "threshold",
    "tolerance": "tolerance",
    "ties": "ties",
    "tie_test": "tie_test",
    "without": "without",
    "outliers": "outliers",
    "interpolate": "interpolate",
    "workload": "workload",
    "tree": "family",
    "options": "options",
    "other": "other",
    "compare": "compare",
    "against": "against",
    "pinned": "pinned",
    "rows": "rows",
    "colors": "scheme",
    "models": "model_view",
    "campaign": "campaign",
    "target": "target",
    "version": "target_version",
    "rules": "most_rules",
    "export": "exported",
}
#: Between names of methods, which may have commas and blanks.
_BETWEEN = "|"
#: Characters of a filter of the table's rows; its field takes no more than some thousands.
_LONGEST_FILTER = 1000
#: Names of what treats the measurements before anything is decided, which may take long.
TREATMENT = ("ties", "tie_test", "outliers", "interpolate")


def to_query(state: State) -> dict[str, str]:
    """Write the view as names and values; what is at its default is left out."""
    told = {name: getattr(state, parameter) for name, parameter in PARAMETERS.items() if name != "options"}
    defaults = {name: state.param[PARAMETERS[name]].default for name in told}
    query = {name: _WRITE.get(name, str)(value) for name, value in told.items() if value != defaults[name]}
    options = write_options(Choice.of(state.family, state.options.get(state.family, {})).changed())
    return query | ({"options": options} if options else {})


def from_query(state: State, query: Mapping[str, Any]) -> list[str]:
    """Set the view to what an address tells; see `State.from_query`."""
    refused: list[str] = []
    with param.parameterized.batch_call_watchers(state):
        for name, parameter in PARAMETERS.items():
            if name in query:
                try:
                    _set(state, name, str(query[name]))
                except ValueError:
                    asked = str(query[name])[:40]
                    refused.append(f"The address asks for {name} = {asked!r}; {_allowed(state, name)}.")
            elif name != "collective":
                setattr(state, parameter, state.param[parameter].default)
    return refused


def _set(state: State, name: str, text: str) -> None:
    value = read_options(state.family, text) if name == "options" else _READ[name](text)
    if name == "options":
        value = {**state.options, state.family: value}
    if name == "pinned" and not state.measures(value):
        raise ValueError(text)
    if name in {"together", "export"} and not set(value) <= {each for each in state.param.collective.objects if each}:
        raise ValueError(text)
    if name == "without" and not set(value) <= state.selectable():
        raise ValueError(text)
    if name == "workload" and not state.knows_workload(value):
        raise ValueError(text)
    if name == "against" and value not in state.loaded:
        raise ValueError(text)
    setattr(state, PARAMETERS[name], value)
    if name == "collective":
        # What watches waits for the end of the batch; the values that follow must know the collective now.
        state.fit()


#: What is said of values that only the session can tell to be none.
_WANTING = {
    **dict.fromkeys(("options", "other"), "there is no such tree or option, or not with this value"),
    **dict.fromkeys(("together", "export"), "these results have no such collective"),
    "without": "these results have no such method",
    "workload": "this workload is not loaded here",
    "against": "that campaign was not loaded in this session",
}


def _allowed(state: State, name: str) -> str:
    parameter = state.param[PARAMETERS[name]]
    if isinstance(parameter, param.Selector):
        names = [str(each) for each in parameter.objects if each is not None]
        return f"possible are {', '.join(names)}" if names else "there is no choice with these results"
    if isinstance(parameter, param.Number) and not isinstance(parameter, param.Boolean):
        return f"possible are {parameter.bounds[0]} to {parameter.bounds[1]}"
    if isinstance(parameter, param.Boolean):
        return "possible are true and false"
    return _WANTING.get(name, "these results have no such cell")


def _fraction(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _filter(text: str) -> str:
    if len(text) > _LONGEST_FILTER:
        raise ValueError(text)
    return text


def _truth(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError(text)
    return text.lower() == "true"


def _cell(text: str) -> tuple[int, int]:
    comm_size, message_size = text.split(",")
    return int(comm_size), int(message_size)


def _choice(text: str) -> Choice:
    name, _, options = text.partition("?")
    return Choice.of(name, read_options(name, options))


def _choice_text(choice: Choice) -> str:
    options = write_options(choice.changed())
    return f"{choice.family}?{options}" if options else choice.family


def _lower(value: Any) -> str:
    return str(value).lower()


def _commas(values: Any) -> str:
    return ",".join(map(str, values))


_READ: dict[str, Callable[[str], Any]] = {
    "page": str,
    "collective": str,
    "together": lambda text: tuple(text.split(",")),
    "ppn": int,
    "across": _truth,
    "depth": int,
    "limit": _truth,
    "threshold": _fraction,
    "tolerance": _fraction,
    "ties": str,
    "tie_test": str,
    "without": lambda text: tuple(text.split(_BETWEEN)),
    "outliers": _truth,
    "interpolate": _truth,
    "workload": str,
    "tree": str,
    "other": _choice,
    "compare": str,
    "against": str,
    "pinned": _cell,
    "rows": _filter,
    "colors": str,
    "models": str,
    "campaign": str,
    "target": str,
    "version": str,
    "rules": int,
    "export": lambda text: tuple(text.split(",")),
}
_WRITE: dict[str, Callable[[Any], str]] = {
    "together": _commas,
    "across": _lower,
    "limit": _lower,
    "threshold": lambda value: f"{value:.6g}",
    "tolerance": lambda value: f"{value:.6g}",
    "without": _BETWEEN.join,
    "outliers": _lower,
    "interpolate": _lower,
    "other": _choice_text,
    "pinned": _commas,
    "export": _commas,
}
