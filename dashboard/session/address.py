"""The view as names and values of an address, and back: written and read by what each param of the state is."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import param

from dashboard.domain.errors import OptionError
from dashboard.session.choice import RECOMMENDED, Choice, read_options, write_options
from dashboard.session.samples import SAMPLES
from dashboard.session.treatment import OPTIONS, UNCERTAINTY

#: The name of the results that it was made with.
DATA = "data"
#: The name of campaign B.
AGAINST = "against"
#: Tabs of pages, the first of which is open unless an address names another.
TABS = {
    "Decisions": ("Sweeps", "Generated source", "Table", "Rules", "Noise", "Between the sizes"),
    "Export": ("Write a file", "Check a rules file", "Prove and compare with the default", "Write a report"),
}
#: Names in an address with their params; a value is set after those that it depends on.
PARAMETERS = {
    "page": "page",
    "tab": "tab",
    "collective": "collective",
    "together": "together",
    "ppn": "ppn",
    "across": "across",
    "depth": "max_depth",
    "limit": "limit_depth",
    "threshold": "threshold",
    **{option.name: option.name for option in OPTIONS},
    "without": "without",
    "workload": "workload",
    "tree": "family",
    "options": "options",
    "other": "other",
    "compare": "compare",
    AGAINST: "against",
    "common": "common",
    "pinned": "pinned",
    "rows": "rows",
    "colors": "scheme",
    UNCERTAINTY.name: UNCERTAINTY.name,
    "models": "model_view",
    "campaign": "campaign",
    "measure": "campaign_asked",
    "tuning": "tuning",
    "tune": "tuning_asked",
    "online": "online",
    "held_out": "held_out",
    "criterion": "criterion",
    "target": "target",
    "version": "version",
    "base": "base",
    "rules": "most_rules",
    "export": "exported",
}
#: Names of what treats the measurements before anything is decided, which may take long.
TREATMENT = tuple(option.name for option in OPTIONS)
#: What an address says of a tree; options alone are the quadtree's.
_OF_TREES = {"tree", "options", "depth", "limit", "threshold"}
#: Characters of a filter of the table's rows; its field takes no more than some thousands.
_LONGEST_FILTER = 1000
#: Between names of methods, which may have commas and blanks; other names have none.
_BETWEEN = {"without": "|"}


class Linked(Protocol):
    """Choices that an address tells, and what the session knows of their values; `session.state.State` is it."""

    param: Any
    family: str
    options: dict[str, Any]
    loaded: dict[str, str]

    def fit(self) -> None:
        """Take back what the collective does not allow."""

    def measures(self, cell: Sequence[int]) -> bool:
        """Whether a cell is among those of the collective."""

    def selectable(self) -> set[str]:
        """Names that methods can be left out by."""

    def knows_workload(self, digest: str) -> bool:
        """Whether a workload is loaded."""


def to_query(state: Linked) -> dict[str, str]:
    """Write the view as names and values; what is at its default is left out, but for the tree."""
    values = {name: getattr(state, parameter) for name, parameter in PARAMETERS.items() if name != "options"}
    if values["tab"] not in TABS.get(values["page"], ()):
        # Of another page.
        del values["tab"]
    query = {
        name: text_of(value, _BETWEEN.get(name, ","))
        for name, value in values.items()
        # An address without a tree is one that says nothing: see `opening`.
        if name == "tree" or value != state.param[PARAMETERS[name]].default
    }
    options = write_options(Choice.of(state.family, state.options.get(state.family, {})).changed())
    return query | ({"options": options} if options else {})


def opening(query: Mapping[str, Any]) -> dict[str, Any]:
    """What an address asks for: as of a command, the recommended tree where it says nothing of one."""
    return dict(query) if _OF_TREES & set(query) else {**query, "tree": RECOMMENDED}


def unknown_names(query: Mapping[str, Any]) -> list[str]:
    """Names of a query that are none of an address, as a sentence that they are passed over; none: nothing."""
    unknown = sorted(set(query) - {*PARAMETERS, DATA})
    return [f"{', '.join(each[:40] for each in unknown)}: no name of an address, passed over."] if unknown else []


def from_query(state: Linked, query: Mapping[str, Any]) -> list[str]:
    """Set the view to what an address tells; see `State.from_query`."""
    refused: list[str] = []
    with param.parameterized.batch_call_watchers(state):
        for name, parameter in PARAMETERS.items():
            value, wrong = value_of(state, name, query)
            refused += wrong
            if (not wrong or name == "tree") and (name in query or name != "collective"):
                setattr(state, parameter, value)
                if name == "collective":
                    # What watches waits for the end of the batch; the values that follow must know it now.
                    state.fit()
    return refused


def value_of(state: Linked, name: str, query: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """The value that an address has for a name, or its default; and a sentence if it cannot be used."""
    parameter = state.param[PARAMETERS[name]]
    if name not in query:
        return parameter.default, []
    # A tree that there is not leaves the one that an address without a tree asks for.
    fallback = RECOMMENDED if name == "tree" else parameter.default
    asked = text_of(query[name], _BETWEEN.get(name, ","))
    try:
        value = _read(state, name, asked)
        if hasattr(parameter, "_validate"):
            parameter._validate(value)  # noqa: SLF001 - param has no public way to ask whether a value fits
    except OptionError as error:
        return fallback, [f"The address asks for {name} = {asked[:40]!r}; {error}."]
    except ValueError:
        return fallback, [f"The address asks for {name} = {asked[:40]!r}; {_allowed(state, name)}."]
    return value, []


def text_of(value: Any, between: str = ",") -> str:
    """A value as it stands in an address: numbers to the last digit, `between` names."""
    if isinstance(value, Choice):
        options = write_options(value.changed())
        return f"{value.family}?{options}" if options else value.family
    if isinstance(value, tuple):
        return between.join(map(str, value))
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(state: Linked, name: str, text: str) -> Any:
    """The value of a param, by what the param is.

    Raises
    ------
    ValueError
        It is none, or none that this session can show.
    """
    if name == "options":
        return {**state.options, state.family: Choice.of(state.family, read_options(state.family, text)).changed()}
    if name == "other":
        family, _, options = text.partition("?")
        return Choice.of(family, read_options(family, options))
    if name == "ppn":
        return int(text)
    value = read_as(state.param[PARAMETERS[name]], text, _BETWEEN.get(name, ","))
    return _known(state, name, tuple(map(int, value)) if name == "pinned" else value)


def read_as(parameter: param.Parameter, text: str, between: str = ",") -> Any:
    """A flag, a number, names or a name, as the param is; of a name that can be chosen, capitals do not matter.

    Raises
    ------
    ValueError
        It is none.
    """
    if isinstance(parameter, param.Boolean):
        return text.lower() == "true" if text.lower() in {"true", "false"} else _refuse(text)
    if isinstance(parameter, param.Integer):
        return int(text)
    if isinstance(parameter, param.Number):
        return float(text) if math.isfinite(float(text)) else _refuse(text)
    if isinstance(parameter.default, tuple) or isinstance(parameter, param.Tuple):
        return tuple(filter(None, text.split(between)))
    if isinstance(parameter, param.Selector) and text not in parameter.objects:
        return next((each for each in parameter.objects if str(each).casefold() == text.casefold()), text)
    return text


def _known(state: Linked, name: str, value: Any) -> Any:
    """The value, if the session has what it names."""
    known = {
        "pinned": lambda: len(value) == 2 and state.measures(value),
        "together": lambda: set(value) <= {each for each in state.param.collective.objects if each},
        "export": lambda: set(value) <= {each for each in state.param.collective.objects if each},
        "without": lambda: set(value) <= state.selectable(),
        "workload": lambda: state.knows_workload(value),
        AGAINST: lambda: value in state.loaded or value in SAMPLES,
        "rows": lambda: len(value) <= _LONGEST_FILTER,
    }
    return value if name not in known or known[name]() else _refuse(value)


def _refuse(value: Any) -> Any:
    raise ValueError(value)


#: What is said of values that only the session can tell to be none.
_WANTING = {
    **dict.fromkeys(("options", "other"), "there is no such tree or option, or not with this value"),
    "rows": f"a filter has at most {_LONGEST_FILTER:,} characters",
    **dict.fromkeys(("together", "export"), "these results have no such collective"),
    "without": "these results have no such method",
    "workload": "this workload is not loaded here; load it on the page Decisions, or name it with --weights",
    AGAINST: "that campaign is no sample and is not loaded here; load it on the page Data and open the address again",
}


def _allowed(state: Linked, name: str) -> str:
    return possible(state.param[PARAMETERS[name]]) or _WANTING.get(name, "these results have no such cell")


def possible(parameter: param.Parameter) -> str:
    """Which values a param takes, in words; empty where it does not say so by itself."""
    if isinstance(parameter, param.Selector):
        names = [str(each) for each in parameter.objects if each not in (None, "")]
        return f"possible are {', '.join(names)}" if names else "there is no choice with these results"
    if isinstance(parameter, param.Number) and not isinstance(parameter, param.Boolean):
        low, high = parameter.bounds
        return f"possible are {low:,.15g} {'or more' if high is None else f'to {high:,.15g}'}"
    if isinstance(parameter, param.Boolean):
        return "possible are true and false"
    return ""
