"""Parameters of one network under several models, with where they come from; saved as JSON and loaded back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dashboard.models.errors import ModelError, NotApplicableError, ParameterError
from dashboard.models.p2p import CLASSES, MODEL_NAMES, MODEL_TITLES, ModelName, PointToPointModel, of_dict
from dashboard.models.presets import MACHINES, Machine, machine

FORMAT = "colltune parameters"
VERSION = 1


@dataclass(frozen=True)
class ParameterSet:
    """What is known of one network.

    Attributes
    ----------
    name
        For people.
    parameters
        By model; each is what `dashboard.models.p2p` takes.
    provenance
        Where they come from: ``how`` they were got, from which ``sources``, what was ``assumed``, …; anything that
        JSON takes.
    """

    name: str
    parameters: Mapping[ModelName, PointToPointModel]
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.parameters:
            raise ParameterError(f"{self.name or 'the parameter set'} has parameters of no model")
        for name, each in self.parameters.items():
            if each.name != name:
                raise ParameterError(f"parameters of {each.name} stand under {name!r}")

    @property
    def models(self) -> tuple[ModelName, ...]:
        """Models that there are parameters of, in the usual order."""
        return tuple(name for name in MODEL_NAMES if name in self.parameters)

    def of(self, model: ModelName | str) -> PointToPointModel:
        """Parameters of one model.

        Raises
        ------
        ParameterError
            When there is no such model.
        NotApplicableError
            When the set has none of it.
        """
        if model not in MODEL_NAMES:
            raise ParameterError(f"there is no model {model!r}; expected one of {', '.join(MODEL_NAMES)}")
        found = next((each for name, each in self.parameters.items() if name == model), None)
        if found is None:
            there = ", ".join(MODEL_TITLES[name] for name in self.models)
            title = next(title for name, title in MODEL_TITLES.items() if name == model)
            raise NotApplicableError(f"{self.name} has no {title} parameters; there are {there}")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "parameters": {name: self.parameters[name].to_dict() for name in self.models},
            "provenance": dict(self.provenance),
        }

    def save(self, path: str | Path) -> None:
        """Write it as JSON."""
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False)
        Path(path).write_text(text + "\n", encoding="utf-8")


def of_machine(known: Machine) -> ParameterSet:
    """A published machine as a parameter set."""
    provenance = {"how": "published", "sources": [known.source], **({"note": known.note} if known.note else {})}
    return ParameterSet(known.name, {name: known.parameters(name) for name in known.models}, provenance)


def set_of_dict(known: Any, name: str = "parameters") -> ParameterSet:
    """Read what `ParameterSet.to_dict` wrote, or the parameters of one model as `p2p` writes them.

    Raises
    ------
    ParameterError
        When something is missing or wrong; the message names it.
    """
    if not isinstance(known, Mapping):
        raise ParameterError(f"found {type(known).__name__}; expected an object with parameters")
    if "model" in known:
        single = of_dict(known)
        return ParameterSet(name, {single.name: single}, {"how": "typed in"})
    if known.get("format") != FORMAT:
        raise ParameterError(f"format is {known.get('format')!r}; expected {FORMAT!r}, or an object with a 'model'")
    if known.get("version") != VERSION:
        raise ParameterError(f"version is {known.get('version')!r}; this colltune reads version {VERSION}")
    given, provenance = known.get("parameters"), known.get("provenance", {})
    if not isinstance(given, Mapping) or not isinstance(provenance, Mapping):
        raise ParameterError("parameters and provenance must be objects")
    for model, each in given.items():
        if model not in CLASSES or not isinstance(each, Mapping):
            raise ParameterError(f"parameters has {model!r}; expected objects by {', '.join(CLASSES)}")
    found = {model: of_dict({"model": model, **given[model]}) for model in MODEL_NAMES if model in given}
    return ParameterSet(str(known.get("name", name)), found, provenance)


def load_parameters(path: str | Path) -> ParameterSet:
    """Read a file of parameters.

    Raises
    ------
    ParameterError
        When it cannot be read, is no JSON or holds no parameters; the message names the file.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path}: {getattr(error, 'strerror', None) or 'not a text file in UTF-8'}") from error
    try:
        return set_of_dict(json.loads(text), Path(path).stem)
    except json.JSONDecodeError as error:
        raise ParameterError(f"{path}:{error.lineno}: not JSON ({error.msg})") from error
    except ModelError as error:
        raise ParameterError(f"{path}: {error}") from error


def typed_in(text: str, model: ModelName | str) -> ParameterSet:
    """Parameters as one types them, in s and s/B: ``alpha=5e-5,beta=8.5e-8``.

    Raises
    ------
    ParameterError
        When a word is no ``name=number``, or the model takes others.
    """
    known: dict[str, Any] = {"model": model}
    for word in text.split(","):
        name, _, value = word.partition("=")
        known[name.strip()] = _number(name.strip(), value)
    return set_of_dict(known, text)


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise ParameterError(f"{name} is {text!r}; expected a number, as in alpha=5e-5,beta=8.5e-8 (s and s/B)")
    return value


def find_parameters(text: str, model: ModelName | str = "hockney") -> ParameterSet:
    """A published machine by name, a file, or parameters typed in for one model.

    Raises
    ------
    ParameterError
        When it is none of them; the message lists the machines.
    """
    if text in MACHINES:
        return of_machine(MACHINES[text])
    if text.endswith(".json") or Path(text).is_file():
        return load_parameters(text)
    if "=" in text:
        return typed_in(text, model)
    return of_machine(machine(text))
