"""A machine of formulas in place of MPI: what campaigns measure there, and what proofs see."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.benchmarks.adaptive.chooser import Chooser, Todo
from dashboard.benchmarks.campaigns.campaign import Campaign, write_json
from dashboard.benchmarks.campaigns.plan import missing
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import DEFAULT
from dashboard.benchmarks.libraries.mpich import Mpich
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from dashboard.benchmarks.proof.prove import Wish
from dashboard.benchmarks.proof.regions import regions_of
from dashboard.benchmarks.proof.verdict import Proof, State, Taken, Verdict
from dashboard.benchmarks.tune_check import TUNED, MpichWithRules, WithRules
from dashboard.decisions.grown.default import is_default
from dashboard.export.components import VARIANT
from dashboard.export.form import form_of
from dashboard.export.rules import RulesFile
from dashboard.export.rules.given import read_beside
from dashboard.export.rules.lint import read_rules
from dashboard.tuning import Asked, Folder, Work, measure, rules
from loaders import RunWriter

LIBRARY = OpenMpi(
    "5.0.11",
    {
        "bcast": {1: "basic_linear", 3: "pipeline", 6: "binomial"},
        "allreduce": {1: "basic_linear", 3: "recursive_doubling", 4: "ring"},
    },
    {
        "coll_tuned_priority": 30,
        "coll_tuned_bcast_algorithm": 0,
        "coll_tuned_bcast_algorithm_segmentsize": 0,
        "coll_tuned_allreduce_algorithm": 0,
        "coll_han_use_bcast_algorithm": 0,
        "coll_han_bcast_segsize": 65536,
    },
)
INSTALLATION = Installation(Path("/nowhere/mpiexec"), LIBRARY)
#: The same with the components that answer across nodes.
WITH_HAN = replace(INSTALLATION, library=replace(LIBRARY, components=("basic", "tuned", "adapt", "han")))
MPICH = Mpich(
    "5.0.2",
    {"bcast": {1: "binomial", 2: "scatter_ring_allgather"}, "allreduce": {1: "recursive_doubling", 2: "ring"}},
    {"BCAST_INTRA_ALGORITHM": 0, "ALLREDUCE_INTRA_ALGORITHM": 0},
    {},
)
ALONE, SEVERAL_NODES = LocalLauncher(("/nowhere/mpiexec",)), LocalLauncher(("/nowhere/mpiexec", "--hostfile", "hosts"))
#: Seconds of an algorithm, of HAN which of its own, at a communicator and message size.
Times = Callable[[str, str, int, int], float]


def better(collective: str, algorithm: str, comm_size: int, message_size: int) -> float:
    """The library's own decision is the best for small messages of bcast only; ring is, for large ones of allreduce."""
    size = 1e-6 * comm_size * (1 + message_size / 4096)
    if collective == "bcast":
        factor = {DEFAULT: 1.0, "binomial": 1.2, "basic_linear": 3.0, "pipeline": 0.4 if message_size > 65536 else 4.0}
    else:
        factor = {DEFAULT: 1.5, "ring": 1.0 if message_size > 16384 else 5.0, "recursive_doubling": 1.4}
    return size * factor.get(algorithm, 6.0)


def default_best(collective: str, algorithm: str, comm_size: int, message_size: int) -> float:
    """Nothing is faster than the library's own decision."""
    return 1e-6 * comm_size * (1 + message_size / 4096) * (1.0 if algorithm == DEFAULT else 2.0)


@dataclass
class Machine:
    """Stands in for MPI."""

    #: When methods are measured.
    times: Times = better
    #: When rules are compared with the library's own decision; None: the same.
    fresh: Times | None = None
    #: Standard deviation of the logarithm of a repetition, and of what a launch does to one method.
    noise: float = 0.01
    #: Whether the library does as rules ask.
    proves: bool = True
    #: Whether rules ask for anything else than it does by itself.
    differs: bool = True
    #: Collectives and algorithms that it does not run where rules ask for them.
    disobeys: frozenset[tuple[str, str]] = frozenset()
    #: Collectives and what of them, rules or the library's own decision, cannot be called when they are compared.
    refuses: frozenset[tuple[str, str]] = frozenset()
    #: Folders of those that measured anything, each time that they did.
    campaigns: list[str] = field(default_factory=list)
    #: Names of stages, measure or compare, whose next campaign ends half-way.
    fails: list[str] = field(default_factory=list)
    #: What ranks say of where they run.
    header: dict[str, Any] = field(default_factory=dict)
    #: Whether the library is slower beside rules, so that what it decides takes the times of ``with rules``.
    harms: bool = False
    #: Whether each communicator size is a job of its own, as of an array.
    array: bool = False

    def finished(
        self, campaign: Campaign, _launcher: Any, installation: Installation, _seconds: float, _tell: Any, **_: Any
    ) -> None:
        """Measure what is missing of a campaign, as `dashboard.tuning.measure.finished`."""
        self._measure(campaign, installation)
        if self.array and campaign.results.exists():
            lines = campaign.results.read_text(encoding="utf-8").splitlines()
            for index, size in enumerate(campaign.plan().comm_sizes):
                own = [line for line in lines if json.loads(line).get("comm_size", size) == size]
                campaign.part(index).results.write_text("\n".join([*own, ""]), encoding="utf-8")
            campaign.results.unlink()

    def _measure(self, campaign: Campaign, installation: Installation) -> None:
        plan, library = campaign.plan(), installation.library
        if plan.goal is not None:
            self._adaptively(campaign)
            return
        todo = missing(plan, campaign.done().all)
        if not todo:
            return
        self.campaigns.append(campaign.folder.name)
        assert isinstance(library, WithRules | MpichWithRules)
        decisions = rules_at(library.rules, getattr(library, "han", None)).decisions

        def seconds(collective: str, algorithm: str, comm_size: int, message_size: int) -> float:
            if algorithm == TUNED:
                decision = decisions[collective]
                chosen = decision.methods[decision.predict_one(comm_size, message_size)]
                algorithm = chosen.parameters.get(VARIANT, chosen.algorithm)
                algorithm = "with rules" if algorithm in ("han", DEFAULT) and self.harms else algorithm
            return (self.fresh or self.times)(collective, algorithm, comm_size, message_size)

        if "compare" in self.fails:
            self.fails.remove("compare")
            self._write(campaign, todo[: len(todo) // 2], seconds)
            raise CampaignError("the node is gone")
        self._write(campaign, todo, seconds)

    def _adaptively(self, campaign: Campaign) -> None:
        chooser, steps = Chooser(campaign.plan()), 0
        while True:
            chooser.read(campaign.results)
            todo, ended = chooser.next()
            record = {"goal": asdict(chooser.goal), "spent": chooser.spent, "loss": chooser.loss(), "ended": ended}
            write_json(campaign.chosen, record)
            if not todo:
                return
            if not steps:
                self.campaigns.append(campaign.folder.name)
            steps += 1
            self._write(campaign, todo, self.times)
            if steps == 3 and "measure" in self.fails:
                self.fails.remove("measure")
                raise CampaignError("the node is gone")

    def _write(self, campaign: Campaign, todo: Todo, times: Times) -> None:
        attrs = {"library": LIBRARY.name, "library_version": LIBRARY.version, "benchmark": "colltune bench, skampi"}
        attrs |= self.header
        with RunWriter(campaign.results, attrs) as writer:
            for cell, methods in todo:
                for method in methods:
                    sizes = cell.comm_size, cell.message_size
                    name = [*method.algorithm.encode(), *cell.collective.encode()]
                    random = np.random.default_rng([*sizes, cell.launch, *name])
                    scatter = self.noise * random.standard_normal() + self.noise * random.standard_normal(12)
                    algorithm = str(dict(method.parameters).get(VARIANT, method.algorithm))
                    samples = times(cell.collective, algorithm, *sizes) * np.exp(scatter)
                    point = {"collective": cell.collective, **method.to_json(), "comm_size": sizes[0]}
                    refused = campaign.plan().goal is None and (cell.collective, method.algorithm) in self.refuses
                    came = {"error": "refused: MPI_ERR_OP"} if refused else {"samples": samples.tolist()}
                    point |= {"message_size": sizes[1], "seconds": 0.1, **came}
                    writer.append(point if cell.launch == 1 else {**point, "launch": cell.launch})

    def prove(self, wish: Wish, _progress: Any) -> Proof:
        """See what is asked for in every region, or something else, as `dashboard.benchmarks.proof.prove.prove`."""
        state: State = "proven" if self.proves else "other"
        decisions = [each for each in rules_at(wish.rules, wish.han).decisions.values() if not is_default(each)]
        regions = [region for each in decisions for region in regions_of(each, wish.ranks, wish.memory)]
        named = [(region.collective, region.method.algorithm) for region in regions]
        states: list[State] = ["other" if each in self.disobeys else state for each in named]
        verdicts = tuple(
            Verdict(region, "not run" if region.why_not else came) for region, came in zip(regions, states, strict=True)
        )
        taken: Taken = "no" if not self.proves else "yes" if self.differs else "no difference"
        return Proof(str(wish.rules), "", LIBRARY.name, "", wish.ranks, taken, verdicts)

    def put(self, monkeypatch: pytest.MonkeyPatch) -> Machine:
        """Take the place of MPI; what it measured need not outlive a power cut."""
        monkeypatch.setattr(os, "fsync", lambda _: None)
        monkeypatch.setattr(measure, "finished", self.finished)
        monkeypatch.setattr(rules, "prove", self.prove)
        return self


def rules_at(file: str | Path, han: str | Path | None) -> RulesFile:
    """Rules, with HAN's where there are any."""
    if han:
        return read_beside(Path(file), Path(han))[1]
    text = Path(file).read_text(encoding="utf-8")
    return form_of(MPICH.name, MPICH.version).read(text) if text.startswith("{") else read_rules(Path(file))


def across_nodes(folder: Path, **asked: Any) -> Work:
    """The same work on several nodes."""
    return replace(work_in(folder, **asked), installation=WITH_HAN, launcher=SEVERAL_NODES)


def work_in(folder: Path, **asked: Any) -> Work:
    """Ask for two collectives of six ranks, where nothing else is."""
    given = {"collectives": ["bcast", "allreduce"], "ranks": 6, "seconds": 60.0, "message_sizes": "64-1MiB:x8"}
    kept = Folder(folder)
    return Work(kept, Asked.of(kept.asked() or given, asked), INSTALLATION, ALONE)


def summary(folder: Path) -> dict[str, Any]:
    """What a bundle says of its tuning."""
    return dict(json.loads((folder / "bundle" / "summary.json").read_text(encoding="utf-8")))
