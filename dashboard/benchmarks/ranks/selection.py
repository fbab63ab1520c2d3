"""Who answers collective calls, by the library's own word: what it says when it makes a communicator.

Open MPI says so to standard error where it was started with ``coll_base_verbose``; a launch of its own listens, before
anything is timed. Under mpiexec; mpi4py is not imported here.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dashboard.benchmarks.campaigns.confined import own_path
from dashboard.benchmarks.campaigns.plan import Plan, placed
from dashboard.export.components import HAN, HINT, answers, preference
from loaders import disk

NAME = "components.json"
#: With these the library says whom it selects.
ENVIRONMENT: Mapping[str, str] = {"OMPI_MCA_coll_base_verbose": "10"}
_SELECTED = re.compile(r"selecting\s+(?P<name>\w+), priority\s+-?\d+, Enabled")
_VERBOSE = re.compile(r"\bcoll:\w+:|\bmca: base: (?:components_|close:)|: no underlying reduce; disqualifying myself")
_MADE = "coll:base:comm_select: new communicator"
_STDERR = 2
#: With these HAN says of every call which rule it found, and whether it could follow it.
EVERY_CALL: Mapping[str, str] = {"OMPI_MCA_coll_han_verbose": "100"}
_SEARCHED = r"HAN searched (?:a rule )?for collective \d+ \({collective}\)(?P<what>.*)"
_RULE = re.compile(r"on topological level 2 .* Found a rule .* : component \d+ \((?P<name>\w+)\)")
_ALGORITHM = r"coll:han:get_algorithm {collective} size:\d+ algorithm:[1-9]\d* (?P<name>\w+)"
_LACKING = r"(?:any valid module for|this module cannot handle this) collective.*{collective}.*level 2 "


def is_verbose(line: str) -> bool:
    """Whether a line of a log is what the library says because of `ENVIRONMENT`."""
    return _VERBOSE.search(line) is not None


def parse(output: str) -> list[str]:
    """Components of a communicator in the order in which they were selected; the last one answers first.

    Of several that were made, as of groups and then between them, those of the last one.
    """
    return [match["name"] for match in _SELECTED.finditer(output.rpartition(_MADE)[2])]


def answered(output: str, collective: str) -> tuple[str, str]:
    """Component that a call was given to, and why that one did not answer it; empty: HAN was not asked, or it did.

    Of HAN with the algorithm that it was told to take, as its rules say it: ``han @simple``.

    Parameters
    ----------
    output
        What HAN said meanwhile on a process, where `EVERY_CALL` is set.
    collective
        That was called. Calls inside of it are not looked at.
    """
    searched = re.search(_SEARCHED.format(collective=collective), output)
    if searched is None:
        return "", ""
    rule = _RULE.search(searched["what"])
    name = rule["name"] if rule else HAN
    if name == HAN and (own := re.search(_ALGORITHM.format(collective=collective), output)):
        name = f"{HAN} @{own['name']}"
    lacking = re.search(_LACKING.format(collective=collective), output)
    return name, f"{name} is not selected for this communicator, so HAN falls back to another one" if lacking else ""


def heard(make: Callable[[], Any]) -> tuple[Any, str]:
    """What something makes, and what this process wrote to standard error meanwhile, libraries too."""
    with tempfile.TemporaryFile() as aside:
        kept = os.dup(_STDERR)
        os.dup2(aside.fileno(), _STDERR)
        try:
            made = make()
        finally:
            os.dup2(kept, _STDERR)
            os.close(kept)
        aside.seek(0)
        return made, aside.read().decode(errors="replace")


@dataclass(frozen=True)
class Selection:
    """Components that were selected for communicators."""

    #: By communicator size, processes per node (None: as placed) and the component that was preferred (empty: none).
    selected: Mapping[tuple[int, int | None, str], Sequence[str]] = field(default_factory=dict)

    def who(self, collective: str, comm_size: int, ppn: int | None, preferred: str) -> str:
        """Component that answers; empty: not known."""
        return answers(self.selected.get((comm_size, ppn, preferred), ()), collective)

    def save(self, folder: Any) -> None:
        """Write it into a campaign's folder."""
        disk.write_text(own_path(folder, NAME), json.dumps([[*key, list(each)] for key, each in self.selected.items()]))

    @classmethod
    def read(cls, folder: Any) -> Selection:
        """Read what `save` wrote; nothing is known where there is no such file."""
        try:
            rows = disk.read_json(own_path(folder, NAME))
            return cls({(size, ppn, name): tuple(each) for size, ppn, name, each in rows})
        except (OSError, ValueError, TypeError):
            return cls()


def preferring(comm: Any, component: str) -> Any:
    """A duplicate of a communicator whose calls a part of the library is to answer, if it can; collective.

    Parameters
    ----------
    component
        Its name; empty: as the library finds.
    """
    if not component:
        return comm.Dup()
    info = comm.Get_info()
    try:
        info.Set(HINT, preference(component))
        return comm.Dup_with_info(info)
    finally:
        info.Free()


def places(plan: Plan) -> Iterable[tuple[int, int | None]]:
    """Communicator size and processes per node of all cells of a plan."""
    return dict.fromkeys((cell.comm_size, cell.ppn) for cell in plan.cells())


def listen(mpi: Any, plan: Plan, nodes: Sequence[str]) -> Selection:
    """Make a communicator of each size and each component, and listen; collective.

    Parameters
    ----------
    nodes
        Name of each rank's node.
    """
    world = mpi.COMM_WORLD
    selected: dict[tuple[int, int | None, str], Sequence[str]] = {}
    for size, ppn in places(plan):
        members = placed(nodes, size, ppn) or []
        comm = world.Split(0 if world.Get_rank() in members else mpi.UNDEFINED, world.Get_rank())
        for name in ("", *plan.components):
            if comm == mpi.COMM_NULL:
                continue
            made, output = heard(partial(preferring, comm, name))
            made.Free()
            if comm.Get_rank() == 0:
                selected[size, ppn, name] = parse(output)
        if comm != mpi.COMM_NULL:
            comm.Free()
    gathered = world.gather(selected)
    return Selection({key: each for part in gathered or [selected] for key, each in part.items()})
