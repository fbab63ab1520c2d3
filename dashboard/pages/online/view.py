"""What the page *Online* shows, on one line as it stands in an address, and back; and how it is typed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dashboard.domain.errors import OptionError
from dashboard.online.selection import Blocked
from dashboard.online.settings import OPTIONS
from dashboard.session.choice import names_outside, read_values, write_options
from dashboard.session.recipes import opened
from dashboard.session.registry import Origin

SCENARIO, FOLDER = "scenario", "folder"
MOST_ITERATIONS = 100
_PICTURED = ("collective", "place", "size", "methods")
_MOST = (1 << 63) - 1
_OPTIONS = {option.name: option for option in OPTIONS}


@dataclass(frozen=True)
class Pictured:
    """What of a course the pictures are of; None: what they begin with.

    Attributes
    ----------
    collective
        One of its collectives.
    place
        Nodes, and processes on each.
    message_size
        Bytes.
    methods
        Labels of those whose regressions are drawn.
    """

    collective: str | None = None
    place: tuple[int, int] | None = None
    message_size: int | None = None
    methods: tuple[str, ...] | None = None

    def written(self) -> list[str]:
        """What was chosen, as it stands in an address."""
        listed = None if self.methods is None else "|".join(self.methods)
        place = None if self.place is None else "x".join(map(str, self.place))
        chosen = zip(_PICTURED, (self.collective, place, self.message_size, listed), strict=True)
        return [f"{name}:{value}" for name, value in chosen if value is not None]

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Pictured:
        """Read what `written` wrote; `OptionError` where it is no such thing."""
        place = size = None
        if "place" in given:
            nodes, _, ppn = given["place"].partition("x")
            place = _integer("nodes", nodes, 1, _MOST), _integer("processes per node", ppn, 1, _MOST)
        if "size" in given:
            size = _integer("size", given["size"], 0, _MOST)
        return cls(given.get("collective"), place, size, _listed(given, "methods"))


@dataclass(frozen=True)
class Shown:
    """What is asked for.

    Attributes
    ----------
    kind, name
        `SCENARIO` or `FOLDER`, and which; no name: as it begins.
    seed, iterations
        Of a simulation.
    learning
        Settings that are not those of the scenario or the folder.
    blocked
        Methods of a folder that are never to be chosen, ``collective:method``; None: as the folder has them.
    pictured
        What of it is drawn.
    """

    kind: str = SCENARIO
    name: str = ""
    seed: int = 1
    iterations: int = 8
    learning: Mapping[str, Any] = field(default_factory=dict)
    blocked: tuple[str, ...] | None = None
    pictured: Pictured = Pictured()

    @property
    def key(self) -> tuple[Any, ...]:
        """Of what it gives."""
        settings = tuple(sorted((name, str(value)) for name, value in self.learning.items()))
        return self.kind, self.name, self.seed, self.iterations, settings, self.blocked

    def blocks(self) -> list[Blocked]:
        """Methods that are never to be chosen."""
        pairs = [each.partition(":") for each in self.blocked or ()]
        return [Blocked(collective, method) for collective, _, method in pairs]


def write_view(shown: Shown) -> str:
    """Write it; what is usual is left out."""
    usual, parts = Shown(), {}
    if shown.name:
        parts[shown.kind] = shown.name
    for name in ("seed", "iterations"):
        if getattr(shown, name) != getattr(usual, name):
            parts[name] = str(getattr(shown, name))
    entries = [f"{name}:{value}" for name, value in parts.items()]
    if shown.blocked is not None:
        entries.append(f"blocked:{'|'.join(shown.blocked)}")
    learning = write_options(dict(shown.learning))
    return ";".join([*entries, *([learning] if learning else []), *shown.pictured.written()])


def read_view(text: str) -> tuple[Shown, str]:
    """Read what `write_view` wrote, and what of it cannot be used, as a sentence."""
    given = {key: value for key, _, value in (part.partition(":") for part in text.split(";")) if key}
    kind = FOLDER if FOLDER in given else SCENARIO
    unknown = names_outside({FOLDER, SCENARIO, "seed", "iterations", "blocked", *_PICTURED, *_OPTIONS}, text)
    notice = f"The page Online knows no {', '.join(unknown)}, passed over." if unknown else ""
    try:
        learning = read_values(OPTIONS, text)
        seed = _integer("seed", given.get("seed", "1"), 0, (1 << 31) - 1)
        iterations = _integer("iterations", given.get("iterations", "8"), 1, MOST_ITERATIONS)
        pictured = Pictured.read(given)
    except OptionError as error:
        return Shown(kind, given.get(kind, "")), f"The address asks the page Online for something else: {error}."
    return Shown(kind, given.get(kind, ""), seed, iterations, learning, _listed(given, "blocked"), pictured), notice


def _listed(given: Mapping[str, str], name: str) -> tuple[str, ...] | None:
    return tuple(filter(None, given[name].split("|"))) if name in given else None


def _integer(name: str, text: str, low: int, high: int) -> int:
    value = int(text) if text.isdecimal() else -1
    if not low <= value <= high:
        raise OptionError(f"{name} is {text[:20]!r}, expected a whole number from {low} to {high}")
    return value


def learning_words(learning: Mapping[str, Any]) -> list[str]:
    """Settings of the learning as they are typed."""
    return [word for name, value in learning.items() for word in _OPTIONS[name].typed(value)]


def recipes(shown: Shown, root: Path, results: Origin | None) -> tuple[str, str]:
    """The command and the Python that give the figures on show.

    Parameters
    ----------
    root
        Folder of the folders.
    results
        Where the measurements came from, for a scenario that replays them.
    """
    settings = learning_words(shown.learning)
    given = f"Learning.of({{**KNOWN.to_dict(), **{dict(shown.learning)!r}}})"
    if shown.kind == FOLDER:
        words = ["--course", *settings]
        for each in shown.blocked or ():
            words += ["--block", each]
        command = shlex.join(["colltune", "online", "show", str(root / shown.name), *words, "--json"])
        blocked = "folder.blocked" if shown.blocked is None else repr(shown.blocks())
        python = [
            "from pathlib import Path",
            "from dashboard.online.course import Kept",
            *([] if shown.blocked is None else ["from dashboard.online.selection import Blocked"]),
            "from dashboard.online.settings import Learning",
            "from dashboard.online.state import Folder",
            "",
            f"folder = Folder.open(Path({str(root / shown.name)!r}))",
            f"learning = {given.replace('KNOWN', 'folder.learning')}",
            f"Kept.of(folder).course(learning, {blocked}).to_dict()",
        ]
        return command, "\n".join(python)
    words = ["--scenario", shown.name, "--seed", str(shown.seed), "--iterations", str(shown.iterations), *settings]
    words += ["--results", *results.words()] if results else []
    python = [
        "from dataclasses import replace",
        "from dashboard.online.course import simulated",
        "from dashboard.online.scenario import read",
        "from dashboard.online.settings import Learning",
        *(["from loaders import open_results"] if results else []),
        "",
        *([f"results = {opened(results)}"] if results else []),
        f"scenario = read({shown.name!r}"
        + (", {name: node.to_dataset() for name, node in results.children.items()})" if results else ")"),
        f"scenario = replace(scenario, learning={given.replace('KNOWN', 'scenario.learning')})",
        f"simulated(scenario, {shown.seed}, {shown.iterations}).to_dict()",
    ]
    return shlex.join(["colltune", "online", "simulate", *words, "--json"]), "\n".join(python)
