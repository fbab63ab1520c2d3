"""Hints: what the user says of files that do not tell everything themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from loaders import facets, numbers
from loaders.collectives import POINT_TO_POINT
from loaders.errors import LoadError, MissingHintError
from loaders.facet_names import FACETS
from loaders.facets import Choice, untold
from loaders.names import SPELLED, block_of, collective_name, counts_blocks, meant
from loaders.nodes import on_nodes
from loaders.rows import coded
from loaders.sizes import parse_size
from loaders.source import Source

#: Hints that are columns of a table of rows, with their types.
FIELDS: Mapping[str, type] = {
    "collective": str,
    "algorithm": str,
    "segment_size": int,
    "comm_size": int,
    "message_size": int,
    "ppn": int,
    "library_id": int,
    # With the processes, how many share a node; with those that share one, the processes.
    "nodes": int,
}
#: Hints that hold for whole files.
ATTRIBUTES = ("system", "network", "library", "library_version", "device", "placement", "campaign")
_LIBRARY = ("library", "library_version")
_SIZES = frozenset({"message_size", "total_size", "vector_size"})
#: Hints for readers, for finding files, and for choosing among what they hold.
OPTIONS = ("pattern", "statistic", "columns", "recursive", "numbers", "select", "join", "scheduler")
#: File names of this form are understood without a pattern.
OWN_PATTERN = "{collective}__{algorithm}__seg{segment_size}.*"

#: What a name in braces stands for; a collective that is known goes before one that is not: ``reduce_scatter``, ``b``.
_FORMS: Mapping[object, str] = {int: r"[0-9]+[KMGkmg]?i?[Bb]?", str: r"[^/]+?", "collective": rf"(?i:{SPELLED})|[^/]+?"}
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a path pattern such as ``{collective}__{algorithm}__seg{segment_size}.sko``.

    The pattern is held against the end of the path; ``*`` stands for anything within one part of it,
    ``{_}`` for something to ignore. Names are those of `FIELDS` and `ATTRIBUTES`.

    Raises
    ------
    LoadError
        A name in braces is unknown, stands twice, or follows another with nothing to tell where it begins.
    """
    allowed = (*FIELDS, *ATTRIBUTES)
    seen: set[str] = set()
    parts: list[str] = []
    position, before = 0, ""
    for match in _PLACEHOLDER.finditer(pattern):
        name = match[1]
        joined = match.start() == position > 0
        # Collectives are known by their names, numbers by their digits.
        if joined and before != "collective" and FIELDS.get(before) is not int and FIELDS.get(name) is not int:
            raise LoadError(
                f"the pattern {pattern!r} has nothing between {{{before}}} and {{{name}}} to tell where one ends"
            )
        parts.append(_literal(pattern[position : match.start()]))
        position, before = match.end(), name
        if name == "_":
            parts.append(r"[^/]*?")
        elif name not in allowed:
            raise LoadError(f"the pattern {pattern!r} names {{{name}}}; possible are {', '.join(allowed)} and _")
        elif name in seen:
            raise LoadError(f"the pattern {pattern!r} names {{{name}}} twice")
        else:
            form = _FORMS.get(name) or _FORMS[FIELDS.get(name, str)]
            if name == "collective" and pattern.startswith("{", match.end()):
                form = rf"(?i:{SPELLED})"
            parts.append(f"(?P<{name}>{form})")
        seen.add(name)
    parts.append(_literal(pattern[position:]))
    return re.compile(r"(?:^|/)" + "".join(parts) + r"$")


def _literal(text: str) -> str:
    return re.escape(text).replace(r"\*", r"[^/]*")


_OWN = compile_pattern(OWN_PATTERN)


@dataclass
class Hints:
    """The user's hints, checked.

    Raises
    ------
    LoadError
        A name is unknown or a value has the wrong type; the message lists the possible names.
    """

    #: By name: those of `FIELDS`, `ATTRIBUTES` and `OPTIONS`.
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = (*FIELDS, *ATTRIBUTES, *OPTIONS)
        values: dict[str, Any] = {}
        for name, value in self.values.items():
            if name not in known:
                raise LoadError(f"there is no hint {name!r}; possible are {', '.join(known)}")
            if value is not None:
                values[name] = _typed(name, value)
        self.values = values
        pattern = values.get("pattern")
        self._pattern = None if pattern is None else compile_pattern(pattern)
        self.choice = Choice.of(values.get("select"), values.get("join"))
        self.numbers: numbers.Numbering | None = None
        if "numbers" in values:
            try:
                self.numbers = numbers.Numbering.of(str(values["numbers"]))
            except ValueError as error:
                raise LoadError(f"numbers: {error}") from error

    def options(self) -> dict[str, Any]:
        """What a reader may look at."""
        return dict(self.values)

    def matches(self, path: PurePath) -> bool:
        """Whether the path is one that the pattern, if given, speaks of."""
        return self._pattern is None or self._pattern.search(path.as_posix()) is not None

    def without_pattern(self) -> Hints:
        """The same for files whose paths say nothing."""
        return Hints({name: value for name, value in self.values.items() if name != "pattern"})

    def of(self, path: PurePath) -> dict[str, Any]:
        """Values for one file: what the pattern says of its path, then what holds for all.

        Raises
        ------
        LoadError
            The path does not match the pattern, or says something else than a value given.
        """
        hints: dict[str, Any] = {}
        if self._pattern is not None:
            match = self._pattern.search(path.as_posix())
            if match is None:
                raise LoadError(f"the path does not match the pattern {self.values['pattern']!r}", path=path)
            hints = {name: _typed(name, text) for name, text in match.groupdict().items()}
        for name in (*FIELDS, *ATTRIBUTES):
            value = self.values.get(name)
            if value is None:
                continue
            if name in hints and hints[name] != value:
                raise LoadError(f"the pattern says {name} {hints[name]!r}, the hint {value!r}", path=path)
            hints[name] = value
        return hints

    def from_own_name(self, path: PurePath) -> dict[str, Any]:
        """What a file name of the form `OWN_PATTERN` says; empty for any other or where a pattern is given."""
        match = None if self._pattern is not None else _OWN.search(path.as_posix())
        if match is None or collective_name(match["collective"]) is None:
            return {}
        return {n: _typed(n, t) for n, t in match.groupdict().items()}


def _typed(name: str, value: Any) -> Any:
    if FIELDS.get(name) is int:
        try:
            number = parse_size(value) if isinstance(value, str) else int(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise LoadError(f"the hint {name} must be a whole number, not {value!r}") from error
        if isinstance(value, bool) or (not isinstance(value, str) and number != value):
            raise LoadError(f"the hint {name} must be a whole number, not {value!r}")
        lowest = 1 if name in ("comm_size", "ppn", "nodes") else 0
        if not lowest <= number < 2**62:
            raise LoadError(f"the hint {name} must be at least {lowest}, not {value!r}")
        return number
    if name in (*FIELDS, *ATTRIBUTES, "pattern", "statistic") and not isinstance(value, str):
        raise LoadError(f"the hint {name} must be text, not {value!r}")
    if name == "algorithm" and not value.strip():
        raise LoadError("the hint algorithm must be a name, not empty")
    if name == "collective":
        plain = collective_name(value)
        if plain is None:
            near = f"; {asked}" if (asked := meant(value)) else ""
            raise LoadError(f"no collective is called {value!r}; write a name such as bcast or MPI_Bcast{near}")
        return plain
    return value


class FileHints:
    """Applies the hints to the tables of one file, and finds contradictions and gaps."""

    def __init__(self, hints: Hints, source: Source) -> None:
        self._source = source
        self._numbers = hints.numbers
        self._given = hints.of(source.path)
        self._nodes = self._given.pop("nodes", None)
        self._own = hints.from_own_name(source.path)
        self._used: set[str] = set()
        self._against: dict[str, object] = {}
        self._told: dict[str, dict[str, None]] = {}
        self.needs: set[str] = set()

    def apply(self, table: pd.DataFrame) -> pd.DataFrame:
        """Fill in what the table lacks; rows of another system, library, … than the one hinted are left out.

        What is still lacking afterwards is collected in `needs`.
        """
        table = self._as_hinted(table)
        lacking = {name: self._value(name, table) for name in FIELDS if name not in table and name != "nodes"}
        for name in FIELDS:
            if name in table:
                self._compare(name, table)
        lacking["segment_size"] = lacking.get("segment_size") or 0
        if filled := {n: v for n, v in lacking.items() if v is not None and n not in table}:
            table = table.assign(**filled)
        table = self._named(on_nodes(table, self._nodes, self._source))
        self.needs.update(name for name in ("collective", "algorithm", "comm_size") if name not in table)
        if not _SIZES & set(table):
            self._no_message_size(table)
        return _by_convention(table) if {"vector_size", "collective", "comm_size"} <= set(table) else table

    def finish(self) -> None:
        """Check after the last table.

        Raises
        ------
        MissingHintError
            Something is lacking that a hint must say.
        LoadError
            A hint contradicts the file.
        """
        for name, contrary in self._against.items():
            if name not in self._used:
                raise self._source.fail(f"the hint says {name} {self._given[name]!r}, the file says {contrary!r}")
        for name, words in self._told.items():
            self._of_rows(name, list(words))
        for name in ATTRIBUTES:
            attribute, given = self._source.attrs.get(name), self._given.get(name)
            if given is None:
                continue
            if attribute is not None and str(attribute).casefold() != given.casefold():
                raise self._source.fail(f"the hint says {name} {given!r}, the file says {attribute!r}")
            self._source.attrs.setdefault(name, given)
        if self.needs:
            raise missing(self.needs, self._source)

    def _compare(self, name: str, table: pd.DataFrame) -> None:
        if name not in self._given:
            return
        column = table[name]
        if name != "collective" and "collective" in table:
            # A ping-pong of two is no collective; both often stand in one folder.
            column = column[(table["collective"] != POINT_TO_POINT).to_numpy()]
        if (column == self._given[name]).any():
            self._used.add(name)
        elif len(column):
            self._against[name] = column.tolist()[0]

    def _value(self, name: str, table: pd.DataFrame) -> Any:
        value = self._given.get(name, self._own.get(name))
        if value is None or (name == "message_size" and _SIZES & set(table)):
            return None
        self._used.add(name)
        if name not in self._given:
            self._source.note(f"{name} taken from the file name")
        return value

    def _of_rows(self, name: str, words: list[str]) -> None:
        """Take what rows tell for the file where all tell the same, or those that were hinted."""
        given = self._given.get(name)
        if given is not None:
            same = (word for word in words if word.casefold() == given.casefold())
            spelled = next(same, given if "" in words else None)
            if spelled is None:
                raise self._source.fail(f"holds no results of the {name} {given!r}, but of {', '.join(words)}")
            if "" in words and spelled in words:
                raise self._source.fail(
                    f"some of its rows are of the {name} {spelled!r}, others do not tell theirs: select "
                    f"{name}={spelled} takes the first alone"
                )
            words = [spelled]
        if len(words) > 1:
            self._source.several[name] = [word or untold(name) for word in words]
        elif words[0]:
            self._source.attrs[name] = words[0]

    def _named(self, table: pd.DataFrame) -> pd.DataFrame:
        """Names for numbers: of the library that is asked for, else of the one that rows, file or hint tell."""
        if self._numbers is not None:
            return numbers.named(table, self._numbers, self._source)
        parts = []
        for facts, part in facets.of_rows(table, _LIBRARY):
            library, version = (facts.get(n) or self._given.get(n) or self._source.attrs.get(n) for n in _LIBRARY)
            parts.append(numbers.named(part, numbers.numbering_of(library, version), self._source))
        return pd.concat(parts) if len(parts) > 1 else parts[0] if parts else table

    def _no_message_size(self, table: pd.DataFrame) -> None:
        if "collective" in table and (table["collective"] == "barrier").all():
            table["message_size"] = 0
        else:
            self.needs.add("message_size")

    def _as_hinted(self, table: pd.DataFrame) -> pd.DataFrame:
        """The rows of the system, library, … that hints name, where rows tell theirs; else those that tell none."""
        for name in dict.fromkeys((*ATTRIBUTES, *FACETS.values())):
            if name not in table:
                continue
            parts = {facts[name]: part for facts, part in facets.of_rows(table, [name])}
            if (wanted := self._given.get(name)) is None:
                self._told.setdefault(name, {}).update(dict.fromkeys(parts))
                continue
            kept = next((word for word in parts if word.casefold() == wanted.casefold()), "")
            for word, part in parts.items():
                if word != kept:
                    self._source.exclude(len(part), f"of another {name} ({word})")
            self._told.setdefault(name, {}).update(dict.fromkeys(word for word in parts if word or not kept))
            table = parts.get(kept, table.iloc[:0]).drop(columns=name)
        return table


def _by_convention(table: pd.DataFrame) -> pd.DataFrame:
    """The block per process of collectives that count blocks, for vectors (bytes) as others count them."""
    vector, comm_size = (table[name].to_numpy(dtype=np.int64) for name in ("vector_size", "comm_size"))
    blocks = table["collective"].isin(list(filter(counts_blocks, coded(table["collective"])[1]))).to_numpy()
    sizes = np.where(blocks, block_of(vector, comm_size), np.where(table["collective"] == "barrier", 0, vector))
    return table.drop(columns="vector_size").assign(message_size=sizes, total_size=np.where(blocks, vector, 0))


#: What may be said where a file does not say it; of message sizes which column of the table holds them.
EXAMPLES = {"collective": "bcast", "algorithm": "default", "comm_size": "16", "message_size": "1024"}
#: What stands for the name of a column of a table.
THEIRS = "THEIRS"


def missing(needs: set[str], source: Source) -> MissingHintError:
    """The error for a file that does not tell everything, with examples of what to give."""
    names = sorted(needs)
    usual = {name: f"{name} = {value}" for name, value in EXAMPLES.items()}
    usual["algorithm"] += ", the library's own choice"
    if source.unused:
        usual["message_size"] = f"--column message_size={THEIRS}, a column in bytes"
    values = ", ".join(usual[name] for name in names)
    pattern = "_".join(f"{{{name}}}" for name in names)
    return MissingHintError(
        f"the file does not say {' and '.join(names)}; give hints ({values}) or a pattern over the path "
        f"such as '{pattern}{source.path.suffix or '.out'}'",
        hints=names,
        path=source.path,
    )


def hinted(source: Source, name: str) -> Any:
    """What hints say of this file, as a value or by the pattern over its path; None if nothing.

    Raises
    ------
    LoadError
        The path does not match the pattern.
    """
    return Hints(source.options).of(source.path).get(name)
