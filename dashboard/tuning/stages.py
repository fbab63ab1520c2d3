"""The stages from nothing to a bundle: each says what it depends on, and is done when that has changed."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboard.benchmarks.launchers.launch import Launcher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.own_settings import allocated_nodes
from dashboard.tuning.asked import Asked
from dashboard.tuning.folder import Folder, Result, digest

#: Told the stage, how far it is (0 to 1, None: it has ended), and in words.
Tell = Callable[[str, float | None, str], None]
#: Writes a report on collectives of results into a file; given by who may draw.
Report = Callable[[Sequence[Path], Sequence[str], Path], None]


def _silent(_stage: str, _share: float | None, _words: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, eq=False)
class Work:
    """What stages work with.

    Attributes
    ----------
    folder, asked
        Of the tuning.
    installation
        The MPI.
    launcher
        Where it runs.
    tell
        Told how far it is.
    report
        Writes the report of the bundle; None: there is none.
    """

    folder: Folder
    asked: Asked
    installation: Installation
    launcher: Launcher
    tell: Tell = _silent
    report: Report | None = None

    def at(self, stage: str, share: float, words: str) -> None:
        """Tell and note how far a stage is."""
        self.folder.note(stage, share, words)
        self.tell(stage, share, words)

    def facts(self, name: str) -> dict[str, Any]:
        """What an earlier stage came to."""
        return self.folder.facts(name)

    def room(self, name: str) -> Path:
        """Folder of a stage, made if need be."""
        path = self.folder.path / name
        path.mkdir(exist_ok=True)
        return path

    @property
    def across(self) -> bool:
        """Whether ranks are on several nodes, where HAN answers before tuned and both are told by rules."""
        return self.asked.across(self.installation.library, nodes=self.nodes)

    @property
    def nodes(self) -> int:
        """Nodes that the ranks are on; 2 where there are several and nothing says how many."""
        ranks, ppn = self.asked.ranks, self.launcher.ppn
        return self.launcher.nodes(ranks) or (math.ceil(ranks / ppn) if ppn else max(2, allocated_nodes()))

    @property
    def nodes_assumed(self) -> bool:
        """Whether nothing says how many nodes the ranks are on."""
        return not (self.launcher.nodes(self.asked.ranks) or self.launcher.ppn or allocated_nodes() > 1)


@dataclass(frozen=True)
class Stage:
    """One stage.

    Attributes
    ----------
    name
        Of the stage.
    run
        Does it; may raise `BenchError` and its like, after which the same command goes on.
    after
        Stages whose outputs it depends on.
    asks
        What was asked that it depends on, by the names of `Asked`.
    always
        Whether it is done at every call: what it looks at may have changed.
    """

    name: str
    run: Callable[[Work], Result]
    after: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    always: bool = False

    def inputs(self, work: Work) -> str:
        """Digest of all that it depends on."""
        asked = work.asked.to_json()
        return digest(
            [{name: asked[name] for name in self.asks}, {name: work.folder.output(name) for name in self.after}]
        )


def run(work: Work, stages: Sequence[Stage], until: str = "") -> dict[str, bool]:
    """Run what is missing or has changed, one stage after the other.

    Parameters
    ----------
    until
        The last one; empty: all.

    Returns
    -------
    dict
        For each stage whether it was done now.

    Raises
    ------
    BenchError
        A stage cannot be done; what was done before stays.
    """
    done: dict[str, bool] = {}
    for stage in stages:
        inputs = stage.inputs(work)
        done[stage.name] = stage.always or not work.folder.stands(stage.name, inputs)
        if done[stage.name]:
            _do(work, stage, inputs)
        else:
            work.tell(stage.name, None, "nothing has changed")
        if stage.name == until:
            break
    return done


def _do(work: Work, stage: Stage, inputs: str) -> None:
    began = time.monotonic()
    if not stage.always:
        work.folder.begin(stage.name, inputs)
    work.at(stage.name, 0.0, "")
    try:
        result = stage.run(work)
    except KeyboardInterrupt:
        work.folder.fail(stage.name, inputs, "interrupted", "interrupted", time.monotonic() - began)
        raise
    except Exception as error:
        work.folder.fail(stage.name, inputs, "failed", str(error), time.monotonic() - began)
        raise
    work.folder.finish(stage.name, inputs, result, time.monotonic() - began)
    work.tell(stage.name, None, said(work.folder.state()[stage.name]))


def said(record: Mapping[str, Any]) -> str:
    """What a stage says of itself at its end, in one line."""
    return str(record.get("noted", {}).get("said") or record.get("facts", {}).get("said", ""))
