"""Parameters as one types them, of one model or of a set: ``alpha=5e-05,beta=8.5e-08``; s and s/B."""

from dataclasses import fields
from pathlib import Path
from typing import Any

from dashboard.domain.models import ModelName
from dashboard.models.errors import ParameterError
from dashboard.models.p2p import CLASSES, PointToPointModel, of_dict
from dashboard.models.parameter_set import ParameterSet, load_parameters
from dashboard.models.presets import MACHINES, machine

_LISTS = {"plogp": ("sizes", "gap", "send_overhead", "receive_overhead")}
#: Between the numbers of a list, such as ``sizes=0/1024``.
_BETWEEN = "/"
#: What stands between the parts of a set written on one line, and of an address.
_RESERVED = str.maketrans(dict.fromkeys(":|;?", " "))
_SHOWN = 40


def write_parameters(known: PointToPointModel) -> str:
    """Write parameters with six digits, sizes in full; gamma and delta only where they are not 0."""
    words = []
    for each in fields(known):
        value = getattr(known, each.name)
        if isinstance(value, tuple):
            words.append(f"{each.name}={_BETWEEN.join(map(_digits, value))}")
        elif value or each.name not in ("gamma", "delta"):
            words.append(f"{each.name}={_digits(value)}")
    return ",".join(words)


def _digits(value: float) -> str:
    return f"{value:.12g}" if float(value).is_integer() else f"{value:.6g}"


def as_written(known: PointToPointModel) -> PointToPointModel:
    """The same with the digits that `write_parameters` writes."""
    return read_parameters(write_parameters(known), known.name)


def read_parameters(text: str, model: ModelName | str) -> PointToPointModel:
    """Read what `write_parameters` wrote, or someone typed.

    Raises
    ------
    ParameterError
        When a word is no ``name=number``, the model takes others, or a number is outside its range.
    """
    given: dict[str, Any] = {"model": model}
    for word in text.split(","):
        name, _, value = (part.strip() for part in word.partition("="))
        several = name in _LISTS.get(model, ())
        try:
            numbers = [float(part) for part in value.split(_BETWEEN)] if several else [float(value)]
        except ValueError:
            expected = "numbers, as in sizes=0/1024" if several else "a number, as in alpha=5e-5,beta=8.5e-8"
            raise ParameterError(f"{name} is {value[:_SHOWN]!r}; expected {expected} (s and s/B)") from None
        given[name] = numbers if several else numbers[0]
    return of_dict(given)


def write_set(known: ParameterSet) -> str:
    """Write parameters on one line, as they stand in options and addresses.

    A published machine is its name. Others are written out, since nobody else knows them, with six digits and no
    provenance but the name: ``fitted: hockney alpha=0.0001,beta=8.5e-08|plogp latency=0.0001,sizes=0/1024,gap=…``.
    """
    if known.name in MACHINES and known.parameters == MACHINES[known.name].parameters:
        return known.name
    name = " ".join(known.name.translate(_RESERVED).split()) or "parameters"
    return f"{name}: " + "|".join(f"{model} {write_parameters(known.parameters[model])}" for model in known.models)


def read_set(text: str) -> ParameterSet:
    """Read what `write_set` wrote; no file is ever opened for it.

    Raises
    ------
    ParameterError
        When it is no machine and no such line, or a parameter is outside its range.
    """
    name, colon, rest = text.partition(":")
    if not colon:
        return machine(text.strip())
    parameters: dict[ModelName, PointToPointModel] = {}
    for part in rest.split("|"):
        model, _, numbers = part.strip().partition(" ")
        if model not in CLASSES:
            raise ParameterError(f"found {model[:40]!r} before parameters; expected one of {', '.join(CLASSES)}")
        single = read_parameters(numbers, model)
        parameters[single.name] = single
    return ParameterSet(name.strip(), parameters, {"how": "written out with six digits"})


def find_parameters(text: str, model: ModelName | str = "hockney") -> ParameterSet:
    """A published machine by name, a file, parameters typed in for one model, or what `write_set` wrote.

    Raises
    ------
    ParameterError
        When it is none of them; the message lists the machines.
    """
    return load_parameters(text) if _names_file(text) else typed_parameters(text, model)


def typed_parameters(text: str, model: ModelName | str) -> ParameterSet:
    """As `find_parameters`, but no file is ever opened: what comes from an address must not name one.

    Raises
    ------
    ParameterError
        When it is no machine, nor parameters; the message lists the machines.
    """
    if text.endswith(".json"):
        raise ParameterError(f"{text}: expected a machine or parameters written out; no file is opened for an address")
    if ": " in text or "=" not in text:
        return read_set(text)
    single = read_parameters(text, model)
    return ParameterSet(text, {single.name: single}, {"how": "typed in"})


def written_out(text: str) -> str:
    """Parameters as they are typed, those of a file written out."""
    return write_set(load_parameters(text)) if _names_file(text) else text


def _names_file(text: str) -> bool:
    return text not in MACHINES and ": " not in text and (text.endswith(".json") or Path(text).is_file())
