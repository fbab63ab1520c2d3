"""Rules files and saved decisions that are kept to decide with: by the version that reads them, for what they hold."""

from pathlib import Path

import numpy as np
import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test, penalty, summarise
from dashboard.decisions.grown.given import GIVEN
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.errors import OptionError
from dashboard.export.rules.given import keep
from dashboard.export.rules.over import costs
from dashboard.export.targets.mpich.base import known
from tests.cubes import cube_of, named

SPARBIT = "1\n0\n1\n0\n1\n0 7 0 0\n"


def problem(collective: str) -> Problem:
    """One method, measured at one size."""
    return Problem.of(cube_of(np.ones((1, 1, 1)), [4], [64], collective=collective))


@pytest.mark.parametrize(("first", "lacks"), [("4.1", True), ("5.0", False)])
def test_rules_are_read_as_each_version_reads_them(first: str, *, lacks: bool) -> None:
    kept = keep("mine", "mine.conf", SPARBIT, first)
    assert kept is not None
    assert ("has no algorithm 7 in Open MPI 4.1" in kept.faults[0].text) == lacks
    decided = [GIVEN.get("mine").decide(problem("allgather"), version).methods[0] for version in ("4.1", "5.0")]
    assert [method.algorithm for method in decided] == ["unknown 7", "sparbit"]


def test_what_is_kept_has_its_name() -> None:
    keep("mine", "mine.conf", SPARBIT)
    assert (GIVEN.get("mine").name, GIVEN.get("mine").size) == ("mine.conf", len(SPARBIT))
    with pytest.raises(OptionError, match=r"mine\.conf has no rules for bcast; it has them for allgather"):
        GIVEN.get("mine").decide(problem("bcast"), "5.0")


def test_rules_are_of_the_two_sizes_only() -> None:
    time = np.ones((1, 1, 1, 2))
    cube = cube_of(time[..., 0], [4], [64], collective="allgather").drop_vars("time")
    cube = cube.assign(time=(("method", "comm_size", "message_size", "ppn"), time)).assign_coords(ppn=[1, 2])
    keep("mine", "mine.conf", SPARBIT)
    with pytest.raises(OptionError, match="a rules file decides over communicator and message size only"):
        GIVEN.get("mine").decide(Problem.of(cube, ppn="all"), "5.0")


def test_a_saved_decision_for_several_collectives_decides_each_and_no_other() -> None:
    methods = [Method("linear", "linear"), Method("binomial", "binomial")]
    tree = Split((Test("collective", 0),), (Leaf(0), Leaf(1)))
    saved = DecisionFunction("bcast+reduce", methods, tree, categories={"collective": ["bcast", "reduce"]})
    assert keep("both", "both.json", saved.to_json()) is None
    taken = {name: GIVEN.get("both").decide(problem(name), "5.0") for name in ("bcast", "reduce")}
    assert [each.methods[each.predict_one(4, 64)].label for each in taken.values()] == ["linear", "binomial"]
    with pytest.raises(OptionError, match=r"both\.json decides bcast, reduce, not allgather"):
        GIVEN.get("both").decide(problem("allgather"), "5.0")


@pytest.mark.parametrize(("version", "cost"), [("5.0.2", 0.0), ("3.4", 900.0), ("", 900.0)])
def test_what_an_mpich_s_own_file_says_is_judged_by_what_it_took_by_itself(version: str, cost: float) -> None:
    cube = named(cube_of(np.array([[[1e-6]], [[1e-5]]]), [2], [64]), ["default", "binomial"])
    cube = cube.assign_attrs(library="MPICH", library_version=version)
    own = known("5.0")
    assert own is not None
    rules = keep("own", "own.json", own)
    assert rules is not None
    (judged,), faults = costs(rules, {"bcast": cube}, "5.0")
    decided = GIVEN.get("own").decide(Problem.of(cube), "5.0")
    assert (judged.acted, faults) == (summarise(penalty(cube, decided)), [])
    assert judged.meant.mean == pytest.approx(cost)


def test_rules_that_are_listed_alone_say_what_else_they_go_by(samples: Path) -> None:
    keep("mine", "mine.conf", (samples / "nccl_tuner" / "nccl_tuner.conf").read_text())
    with pytest.raises(OptionError, match=r"are listed, not decided with: 8 of its 9 rules go by nodes, pipeline"):
        GIVEN.get("mine").decide(problem("allreduce"), "5.0")
    with pytest.raises(OptionError, match=r"no rules for scan; it has them for allreduce, bcast, allgather"):
        GIVEN.get("mine").decide(problem("scan"), "5.0")
