"""Parameters of one model as one types them: ``alpha=5e-05,beta=8.5e-08``; s and s/B, lists as ``sizes=0/1024``."""

from dataclasses import fields
from typing import Any

from dashboard.domain.models import ModelName
from dashboard.models.errors import ParameterError
from dashboard.models.p2p import PointToPointModel, of_dict

_LISTS = {"plogp": ("sizes", "gap", "send_overhead", "receive_overhead")}
_BETWEEN = "/"
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
