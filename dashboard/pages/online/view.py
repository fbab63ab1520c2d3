"""What the page *Online* shows, on one line as it stands in an address, and back; and how it is typed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dashboard.domain.errors import OptionError
from dashboard.domain.options import Option
from dashboard.online.selection import Blocked
from dashboard.online.settings import OPTIONS
from dashboard.session.choice import names_outside, read_values, write_options
from dashboard.session.recipes import opened
from dashboard.session.registry import Origin

SCENARIO, FOLDER = "scenario", "folder"
MOST_ITERATIONS = 100
_OPTIONS = {option.name: option for option in OPTIONS}
_MOST = (1 << 63) - 1
#: What an address says beside the settings of the learning.
_OWN = (
    *(Option(name, name, "", "", "name") for name in (FOLDER, SCENARIO, "collective")),
    *(Option(name, name, "", (), "words") for name in ("blocked", "methods")),
    *(Option(name, name, "", 1, "int", low=1, high=_MOST) for name in ("nodes", "ppn")),
    Option("size", "message size", "", 0, "int", low=0, high=_MOST),
    Option("seed", "seed", "", 1, "int", low=0, high=(1 << 31) - 1),
    Option("iterations", "iterations", "", 8, "int", low=1, high=MOST_ITERATIONS),
)


@dataclass(frozen=True)
class Pictured:
    """What of a course the pictures are of; None: what they begin with."""

    #: One of its collectives.
    collective: str | None = None
    #: Nodes, and processes on each.
    place: tuple[int, int] | None = None
    #: Bytes.
    message_size: int | None = None
    #: Labels of those whose regressions are drawn.
    methods: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Shown:
    """What is asked for."""

    #: `SCENARIO` or `FOLDER`, and which; no name: as it begins.
    kind: str = SCENARIO
    name: str = ""
    #: Of a simulation.
    seed: int = 1
    iterations: int = 8
    #: Settings that are not those of the scenario or the folder.
    learning: Mapping[str, Any] = field(default_factory=dict)
    #: Methods of a folder that are never to be chosen, ``collective:method``; None: as the folder has them.
    blocked: tuple[str, ...] | None = None
    #: What of it is drawn.
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
    usual, pictured = Shown(), shown.pictured
    names = [name for name in ("seed", "iterations", "blocked") if getattr(shown, name) != getattr(usual, name)]
    chosen = {shown.kind: shown.name} if shown.name else {}
    nodes, ppn = pictured.place or (None, None)
    drawn = {"collective": pictured.collective, "nodes": nodes, "ppn": ppn, "size": pictured.message_size}
    drawn = {name: value for name, value in {**drawn, "methods": pictured.methods}.items() if value is not None}
    return write_options({**chosen, **{name: getattr(shown, name) for name in names}, **shown.learning, **drawn})


def read_view(text: str) -> tuple[Shown, str]:
    """Read what `write_view` wrote, and what of it cannot be used, in sentences."""
    given: dict[str, Any] = {}
    options = {option.name: option for option in (*_OWN, *OPTIONS)}
    unknown = names_outside(options, text)
    notices = [f"The page Online knows no {', '.join(unknown)}, passed over."] if unknown else []
    for option in options.values():
        try:
            given |= read_values([option], text)
        except OptionError as error:
            notices.append(f"The address asks the page Online for something else: {error}.")
    kind = FOLDER if FOLDER in given else SCENARIO
    place = (given["nodes"], given["ppn"]) if {"nodes", "ppn"} <= given.keys() else None
    pictured = Pictured(given.get("collective"), place, given.get("size"), given.get("methods"))
    learning = {name: value for name, value in given.items() if name in _OPTIONS}
    usual = {name: given[name] for name in ("seed", "iterations", "blocked") if name in given}
    return Shown(kind, given.get(kind, ""), learning=learning, pictured=pictured, **usual), " ".join(notices)


def recipes(shown: Shown, root: Path, results: Origin | None) -> tuple[str, str]:
    """The command and the Python that give the figures on show.

    Parameters
    ----------
    root
        Folder of the folders.
    results
        Where the measurements came from, for a scenario that replays them.
    """
    settings = [word for name, value in shown.learning.items() for word in _OPTIONS[name].typed(value)]
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
