"""JSON with the line of every value and key, in their order, keys that come twice included."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from dashboard.export.rules.fault import RulesError

MOST_DEEP = 100
_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\n]+)|(?P<string>"(?:[^"\\\x00-\x1f]|\\.)*")"""
    r"""|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"""
    r"""|(?P<word>true|false|null)|(?P<sign>[{}\[\]:,])"""
)
_WORDS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True)
class At:
    """A value and its line. Objects are tuples of `Pair`, arrays lists of `At`."""

    value: Any
    line: int

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of an object; none of anything else."""
        return self.value if isinstance(self.value, tuple) else ()

    def get(self, key: str) -> At | None:
        """The value of a key, of several the first."""
        return next((pair.value for pair in self.pairs if pair.key == key), None)


@dataclass(frozen=True)
class Pair:
    """A key with its line and its value."""

    key: str
    line: int
    value: At


def parse(text: str, *, lenient: bool = False) -> At:
    """Parse JSON; `lenient` as Open MPI 6 does, which takes a comma after the last of a list or object.

    Raises
    ------
    RulesError
        When it is none; the message names the line.
    """
    return _Parser(text, lenient=lenient).document()


class _Parser:
    def __init__(self, text: str, *, lenient: bool) -> None:
        self._lenient = lenient
        self._tokens: list[tuple[str, str, int]] = []
        place, line = 0, 1
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                raise RulesError(f"line {line}: not JSON: {text[place : place + 20]!r} is no value, key or sign")
            if match.lastgroup != "blank":
                self._tokens.append((str(match.lastgroup), match[0], line))
            line += match[0].count("\n")
            place = match.end()
        self._tokens.append(("end", "the end of the file", line))
        self._next = 0

    def document(self) -> At:
        value = self._value(0)
        kind, text, line = self._take()
        if kind != "end":
            raise RulesError(f"line {line}: not JSON: {text} after the end of the document")
        return value

    def _take(self) -> tuple[str, str, int]:
        token = self._tokens[self._next]
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def _value(self, depth: int) -> At:
        kind, text, line = self._take()
        if depth > MOST_DEEP:
            raise RulesError(f"line {line}: nested more than {MOST_DEEP} levels deep")
        if kind == "string":
            return At(_string(text, line), line)
        if kind == "number":
            return At(_number(text), line)
        if kind == "word":
            return At(_WORDS[text], line)
        if text == "{" and kind == "sign":
            return At(tuple(self._items("}", depth, keyed=True)), line)
        if text == "[" and kind == "sign":
            return At(self._items("]", depth, keyed=False), line)
        raise RulesError(f"line {line}: not JSON: {text}, expected a value")

    def _items(self, end: str, depth: int, *, keyed: bool) -> list[Any]:
        elements: list[Any] = []
        if self._tokens[self._next][:2] == ("sign", end):
            self._take()
            return elements
        while True:
            elements.append(self._pair(depth) if keyed else self._value(depth + 1))
            kind, text, line = self._take()
            if kind == "sign" and text == end:
                return elements
            if (kind, text) != ("sign", ","):
                raise RulesError(f"line {line}: not JSON: {text}, expected ',' or '{end}'")
            if self._tokens[self._next][:2] == ("sign", end):
                if not self._lenient:
                    raise RulesError(f"line {line}: not JSON: a comma before '{end}'")
                self._take()
                return elements

    def _pair(self, depth: int) -> Pair:
        kind, text, line = self._take()
        if kind != "string":
            raise RulesError(f"line {line}: not JSON: {text}, expected a key in double quotes")
        colon = self._take()
        if colon[:2] != ("sign", ":"):
            raise RulesError(f"line {colon[2]}: not JSON: {colon[1]}, expected ':' after the key {text}")
        return Pair(_string(text, line), line, self._value(depth + 1))


def _string(text: str, line: int) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        raise RulesError(f"line {line}: not JSON: {text[:40]} has an escape that there is not") from None


def _number(text: str) -> int | float:
    if text.lstrip("-").isdigit() and len(text) < 40:
        return int(text)
    return float(text)
