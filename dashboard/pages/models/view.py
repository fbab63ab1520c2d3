"""The view of the page *Models* on one line, as it stands in an address, and back."""

from collections.abc import Mapping
from urllib.parse import quote, unquote

from dashboard.models import MODEL_NAMES, MODELS
from dashboard.models.family import read_trust
from dashboard.models.parameter_text import read_set, write_set
from dashboard.pages.models.choice import FIRST_MACHINE, ModelChoice
from dashboard.session.address import possible, read_as, text_of

_CHOICES = (
    *("collective", "axis", "variant", "case", "by", "trust", "encode", "comm_size", "message_size", "tab"),
    *("log", "fill", "models", "candidates"),
)
#: Names in the text with the params they stand for; the others have their own.
_SHORT = {"comm_size": "p", "message_size": "m"}
_PARAMETERS, _METHODS, _OWN = "parameters", "methods", "own"


def write_view(choice: ModelChoice, own: Mapping[str, str] | None = None) -> str:
    """Write collective, sizes, methods, models, formulas, parameters, how they decide, and a tab's `own` choices."""
    settings = {name: text_of(getattr(choice, name)) for name in _CHOICES}
    settings[_METHODS] = ",".join(each.label for each in choice.methods)
    settings[_PARAMETERS] = write_set(choice.current())
    if own:
        settings[_OWN] = "|".join(f"{name}={quote(value, safe=' /(),.+*-')}" for name, value in own.items())
    defaults = {name: choice.param[name].default for name in _CHOICES}
    always = ("collective", "comm_size", "message_size")
    kept = {
        name: value
        for name, value in settings.items()
        if name in always or name not in defaults or getattr(choice, name) != defaults[name]
    }
    return ";".join(f"{_SHORT.get(name, name)}:{value}" for name, value in kept.items())


def read_view(choice: ModelChoice, text: str) -> list[str]:
    """Set a choice to what `write_view` wrote; what is not named goes to its default.

    Returns
    -------
    list of str
        One sentence for each value that cannot be used. The others are used all the same.
    """
    long = {short: name for name, short in _SHORT.items()}
    parts = [part.partition(":") for part in text.split(";") if part]
    given = {long.get(name, name): value for name, _, value in parts}
    refused = []
    names = (*_CHOICES, _METHODS, _PARAMETERS, _OWN)
    refused += [f"The address tells {name!r} of the models, which there is not." for name in given if name not in names]
    for name in names:
        try:
            if name in given:
                _set(choice, name, given[name])
            elif name == "collective":
                choice.show_first()
            elif name == _PARAMETERS:
                choice.take(FIRST_MACHINE)
            else:
                setattr(choice, name, choice.param[name].default)
        except (ValueError, TypeError) as error:
            # What a param says of itself names the program's own parts.
            why = possible(choice.param[name]) if name in choice.param else ""
            refused.append(f"The address asks the models for {name} = {given[name][:40]!r}: {why or error}.")
    choice.fit_to_results()
    return refused


def _set(choice: ModelChoice, name: str, text: str) -> None:
    if name == _OWN:
        choice.own = {key: unquote(value) for key, _, value in (part.partition("=") for part in text.split("|"))}
    elif name == "collective":
        if text not in MODELS:
            raise ValueError(f"expected one of {', '.join(MODELS)}")
        choice.show(text)
    elif name == _METHODS:
        _set_methods(choice, text)
    elif name == _PARAMETERS:
        _set_parameters(choice, text)
    else:
        value = read_as(choice.param[name], text)
        if name == "trust":
            read_trust(value)
        if name == "models":
            if not set(value) <= set(MODEL_NAMES):
                raise ValueError(f"expected {', '.join(MODEL_NAMES)}")
            value = tuple(each for each in MODEL_NAMES if each in value)
        setattr(choice, name, value)


def _set_methods(choice: ModelChoice, text: str) -> None:
    known = {each.label: each for each in choice.offered()}
    labels = [label for label in text.split(",") if label]
    choice.methods = tuple(known[label] for label in labels if label in known)
    missing = [label for label in labels if label not in known]
    if missing:
        raise ValueError(f"there is no model of {', '.join(missing)} here")


def _set_parameters(choice: ModelChoice, text: str) -> None:
    read = read_set(text)
    choice.sets.setdefault(read.name, read)
    choice.take(read.name)
    choice.parameters = dict(read.parameters)
