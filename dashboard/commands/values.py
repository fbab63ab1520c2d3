"""Readers of the command's values: text to number or name, with what is allowed in the error."""

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Any


def count(text: str) -> int:
    """A whole number of at least 1."""
    return _integer(text, 1)


def counts(text: str) -> list[int]:
    """Whole numbers of at least 1, such as ``500,1000``, each once."""
    return list(dict.fromkeys(count(each.strip()) for each in text.split(",")))


def count_or_all(text: str) -> int | str:
    """A whole number of at least 1, or ``all``."""
    try:
        return "all" if text == "all" else _integer(text, 1)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, or all") from None


def one_ppn(text: str) -> int:
    """Processes per node of measurements that are looked at one number at a time."""
    if text == "all":
        raise argparse.ArgumentTypeError(
            "one number of processes per node is looked at here, such as --ppn 2; all of them together are what "
            "'colltune decide --ppn all' makes a tree for"
        )
    return count(text)


def folds(text: str) -> int:
    """A number of parts to hold out in turn."""
    return _integer(text, 2)


def port(text: str) -> int:
    """A port of this machine."""
    return _integer(text, 0, 65535)


def seed(text: str) -> int:
    """A seed of draws."""
    return _integer(text, 0, (1 << 31) - 1)


def processes(text: str) -> int:
    """A number of processes; 0 stands for one on each core."""
    return _integer(text, 0)


def _integer(text: str, lowest: int, highest: int | None = None) -> int:
    try:
        value = int(text)
    except ValueError:
        value = lowest - 1
    if value < lowest or (highest is not None and value > highest):
        bound = f"of at least {lowest}" if highest is None else f"from {lowest} to {highest}"
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {bound}")
    return value


def names(given: Sequence[str] | None) -> tuple[str, ...]:
    """Names of an option that may be repeated and may hold several, such as ``-c bcast,reduce -c scan``, each once."""
    return tuple(dict.fromkeys(name.strip() for text in given or () for name in text.split(",") if name.strip()))


class Names(argparse.Action):
    """Collects the names of an option as `names` does."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        _option: str | None = None,
    ) -> None:
        """Take what stands behind the option once more."""
        before = getattr(namespace, self.dest, None) or ()
        further = [values] if isinstance(values, str) else list(values or ())
        setattr(namespace, self.dest, list(names([*before, *further])))


def size(text: str) -> int:
    """Bytes, such as ``8192`` or ``8KiB``."""
    from dashboard.domain.units import parse_size

    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def sizes(text: str) -> tuple[int, int]:
    """Two sizes, the smaller first, such as ``8KiB-512KiB``."""
    low, dash, high = text.partition("-")
    ends = size(low), size(high) if dash else -1
    if ends[0] > ends[1]:
        raise argparse.ArgumentTypeError(f"{text!r}: expected two sizes, the smaller first, such as 8KiB-512KiB")
    return ends


def _number(text: str, allowed: Callable[[float], bool], wrong: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not allowed(value):
        raise argparse.ArgumentTypeError(f"{text!r}{wrong}")
    return value


def percent(text: str) -> float:
    """A number of at least 0."""
    return _number(text, lambda value: 0 <= value < math.inf, " is not a number of at least 0")


def level(text: str) -> float:
    """A level of a test: a probability such as 0.05."""
    return _number(text, lambda value: 0 < value < 1, " is not a number above 0 and below 1, such as 0.05")


def positive(text: str) -> float:
    """A number above 0."""
    return _number(text, lambda value: 0 < value < math.inf, ": allowed are numbers above 0")


def seconds(text: str) -> float:
    """A time limit: seconds, or such as ``30min`` and ``1:30:00``."""
    from dashboard.domain.units import parse_duration

    try:
        value = parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text!r}: allowed are seconds above 0, or such as 30min or 2h")
    return value


def pair(form: str, example: str) -> Callable[[str], tuple[str, str]]:
    """Reader of two words with ``=`` between them."""

    def read(text: str) -> tuple[str, str]:
        first, equals, second = text.partition("=")
        if not (first and equals and second):
            raise argparse.ArgumentTypeError(f"{text!r} is not of the form {form}, such as {example}")
        return first, second

    return read
