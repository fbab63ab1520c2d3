"""Parameters of one network under several models, with where they come from; saved as JSON and loaded back."""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dashboard.domain.models import MODEL_NAMES, MODEL_TITLES, ModelName
from dashboard.models.errors import ModelError, NotApplicableError, ParameterError
from dashboard.models.p2p import CLASSES, LogGP, PointToPointModel, of_dict
from loaders import disk

FORMAT = "colltune parameters"
VERSION = 1


@dataclass(frozen=True)
class ParameterSet:
    """What is known of one network."""

    #: For people.
    name: str
    #: By model; each is what `dashboard.models.p2p` takes.
    parameters: Mapping[ModelName, PointToPointModel]
    #: Where they come from: ``how`` they were got, from which ``sources``, what was ``assumed``, …; anything that JSON
    #: takes.
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.parameters:
            raise ParameterError(f"{self.name or 'the parameter set'} has parameters of no model")
        for name, each in self.parameters.items():
            if each.name != name:
                raise ParameterError(f"parameters of {each.name} stand under {name!r}")

    @property
    def models(self) -> tuple[ModelName, ...]:
        """Models that there are parameters of, none of them converted, in the usual order."""
        return tuple(name for name in MODEL_NAMES if name in self.parameters)

    @cached_property
    def every(self) -> Mapping[ModelName, PointToPointModel]:
        """By model, in the usual order: its own, and PLogP's as LogGP's give them (Table 4.1) where it has none."""
        known = dict(self.parameters)
        loggp = known.get("loggp")
        if "plogp" not in known and isinstance(loggp, LogGP):
            with contextlib.suppress(ModelError):
                known["plogp"] = loggp.to_plogp()
        return {name: known[name] for name in MODEL_NAMES if name in known}

    def conversion(self, model: ModelName | str = "plogp") -> str:
        """That a model's parameters are those of another one, as a sentence; empty where they are its own."""
        if model in self.parameters or model not in self.every:
            return ""
        return "PLogP is converted from LogP / LogGP (Table 4.1), so it has no vote of its own."

    def of(self, model: ModelName | str) -> PointToPointModel:
        """Parameters of one model, if need be converted.

        Raises
        ------
        ParameterError
            When there is no such model.
        NotApplicableError
            When the set has none of it.
        """
        if model not in MODEL_NAMES:
            raise ParameterError(f"there is no model {model!r}; expected one of {', '.join(MODEL_NAMES)}")
        parameters = next((each for name, each in self.every.items() if name == model), None)
        if parameters is None:
            there = ", ".join(MODEL_TITLES[name] for name in self.models)
            title = next(title for name, title in MODEL_TITLES.items() if name == model)
            raise NotApplicableError(f"{self.name} has no {title} parameters; there are {there}")
        return parameters

    def undetermined(self, model: ModelName | str) -> frozenset[str]:
        """Names of what the fit of a model did not determine, as its file remembers; empty of what is not fitted."""
        known: Any = self.provenance
        for name in ("fits", model, "intervals"):
            known = known.get(name) if isinstance(known, Mapping) else None
        intervals = known.items() if isinstance(known, Mapping) else ()
        return frozenset(name for name, ends in intervals if isinstance(ends, list) and None in ends)

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "parameters": {name: self.parameters[name].to_dict() for name in self.models},
            "provenance": dict(self.provenance),
        }

    def to_json(self) -> str:
        """Everything as the text of a file."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write it as JSON."""
        disk.write_text(path, self.to_json())


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
    parameters = {model: of_dict({"model": model, **given[model]}) for model in MODEL_NAMES if model in given}
    return ParameterSet(str(known.get("name", name)), parameters, provenance)


def load_parameters(path: str | Path) -> ParameterSet:
    """Read a file of parameters.

    Raises
    ------
    ParameterError
        When it cannot be read, is no JSON or holds no parameters; the message names the file.
    """
    return set_of_text(text_of(path), str(path))


def text_of(path: str | Path) -> str:
    """The text of a file of parameters; `ParameterError` where it cannot be read."""
    try:
        return disk.read_text(path, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path}: {getattr(error, 'strerror', None) or 'not a text file in UTF-8'}") from error


def set_of_text(text: str, path: str) -> ParameterSet:
    """Read the text of a file of parameters; errors as of `load_parameters`."""
    try:
        return set_of_dict(disk.json_of(text), Path(path).stem)
    except json.JSONDecodeError as error:
        made = f"colltune model parameters {path} -o {Path(path).with_suffix('.json')}"
        # What begins as an object is a damaged file of parameters, all else may be a table of times.
        remedy = "" if text.lstrip().startswith("{") else f"; of a table of times parameters are made first: {made}"
        raise ParameterError(f"{path}:{error.lineno}: not JSON ({error.msg}){remedy}") from error
    except (ModelError, ValueError) as error:
        raise ParameterError(f"{path}: {error}") from error
