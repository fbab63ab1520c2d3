"""The families: each found by name, each giving decision functions that hold what they promise."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.decisions import DecisionError, DecisionFunction, OptionError
from dashboard.decisions.grown.families import FAMILIES, GIVEN, PLACES, Families, check_tables, family
from dashboard.decisions.grown.family import Cancelled
from dashboard.decisions.measured.problem import Problem
from tests.conftest import ROOT
from tests.cubes import DEGENERATE, cube_of, opposed_cubes, synthetic_cube

HEAVY = {"sklearn", "scipy", "numba", "pystreed"}
QUICK = {"search": {"seconds": 0.2}}


@pytest.fixture(params=[name for name in PLACES if name not in GIVEN])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def grow(name: str, problem: Problem, **options: Any) -> DecisionFunction:
    return FAMILIES[name].grow(problem, **{**QUICK.get(name, {}), **options})


def test_they_are_those_of_the_design() -> None:
    grown = ["quadtree", "exact", "octree", "c45", "cart", "optimal", "intervals", "search", "recommended"]
    assert list(PLACES) == [*grown, "default", "rules"]
    assert set(FAMILIES) >= set(PLACES)
    assert "bush" not in FAMILIES


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(OptionError, match=r"no tree 'quadtre', known are quadtree, .*; did you mean quadtree\?"):
        family("quadtre")
    with pytest.raises(KeyError):
        FAMILIES["bush"]


def test_importing_them_all_imports_nothing_heavy() -> None:
    code = "import sys; from dashboard.decisions.grown.families import FAMILIES; dict(FAMILIES); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True, check=True)
    assert not HEAVY & {module.partition(".")[0] for module in done.stdout.split()}


def test_a_family_is_imported_when_it_is_asked_for() -> None:
    lazy = Families({"quadtree": "quadtree_family", "lost": "no_such_module"})
    assert list(lazy) == ["quadtree", "lost"]
    assert lazy["quadtree"].name == "quadtree"
    with pytest.raises(ModuleNotFoundError):
        lazy["lost"]


def test_it_says_what_it_is(name: str) -> None:
    family = FAMILIES[name]
    assert family.name == name
    assert family.title
    assert family.source
    for option in family.options:
        assert option.title
        assert option.help
        assert option.checked(option.default) == option.default


def test_decisions_remember_family_options_and_origin(name: str) -> None:
    problem = Problem.of(synthetic_cube(5, 7, 4, 1, missing=0.2))
    decision = grow(name, problem)
    assert decision.kind == name
    assert set(decision.options) <= {option.name for option in FAMILIES[name].options}
    assert {key: decision.provenance[key] for key in problem.provenance} == problem.provenance
    assert decision.methods == problem.methods
    assert DecisionFunction.from_json(decision.to_json()) == decision


def test_paths_hold_settings_that_can_be_grown(name: str) -> None:
    problem = Problem.of(synthetic_cube(4, 6, 3, 2))
    path = list(FAMILIES[name].path(problem))
    assert path
    for options in path:
        FAMILIES[name].checked(options)
    last = grow(name, problem, **path[-1])
    assert last.leaves >= grow(name, problem, **path[0]).leaves


@pytest.mark.slow
def test_many_at_once_are_each_by_itself(name: str) -> None:
    family = FAMILIES[name]
    problem = Problem.of(synthetic_cube(5, 7, 4, 3))
    path = list(family.path(problem))[: 6 if family.grow_many else 2]
    many = family.grow_many or (lambda problem, path: [family.grow(problem, **options) for options in path])
    assert many(problem, path) == [family.grow(problem, **options) for options in path]


def test_unknown_options_are_refused(name: str) -> None:
    with pytest.raises((OptionError, TypeError)):
        grow(name, Problem.of(synthetic_cube(3, 4, 2, 1)), bushiness=3)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("c45", {"min_cases": 0}, "min_cases is 0, expected a whole number from 1"),
        ("c45", {"confidence": 0}, "confidence is 0, expected a number from 0.001 to 100"),
        ("c45", {"confidence": 101}, "confidence is 101, expected a number from 0.001 to 100"),
        ("c45", {"attributes": ["speed"]}, "attributes is speed, expected some of comm_size"),
        ("cart", {"max_depth": -1}, "max_depth is -1"),
        ("cart", {"max_leaves": 0}, "max_leaves is 0"),
        ("cart", {"min_cases": 0}, "min_cases is 0"),
        ("cart", {"pruning": -0.1}, "pruning is -0.1"),
        ("cart", {"criterion": "twoing"}, "criterion is 'twoing'"),
        ("cart", {"criterion": "entropy", "cost_sensitive": True}, "criterion is 'entropy', expected gini"),
        ("octree", {"max_depth": -1}, "max_depth is -1"),
        ("octree", {"threshold": 1.5}, "threshold is 1.5"),
        ("search", {"max_depth": 13}, "max_depth is 13"),
        ("search", {"max_leaves": 0}, "max_leaves is 0"),
        ("search", {"seconds": -1}, "seconds is -1"),
    ],
)
def test_options_outside_their_range_are_named(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        grow(name, Problem.of(synthetic_cube(2, 2, 2, 0)), **options)


def test_a_search_can_be_stopped(name: str) -> None:
    def stop(_share: float, what: str) -> None:
        assert what
        raise Cancelled

    with pytest.raises(Cancelled):
        FAMILIES[name].grow(Problem.of(synthetic_cube(5, 7, 4, 3)), progress=stop)


@pytest.mark.parametrize("cube", DEGENERATE.values(), ids=DEGENERATE)
def test_poor_data_give_a_decision(name: str, cube: Any) -> None:
    problem = Problem.of(cube)
    summary = problem.summary(grow(name, problem))
    assert summary.cells == len(problem.cases())
    assert summary.min >= 0


@settings(max_examples=8)
@given(st.integers(0, 100))
def test_no_tree_beats_the_optimum_of_as_many_leaves(seed: int) -> None:
    problem = Problem.of(synthetic_cube(4, 6, 4, seed, noise=0.5))
    for other in ("quadtree", "c45", "cart"):
        for options in list(FAMILIES[other].path(problem))[::3]:
            decision = FAMILIES[other].grow(problem, **options)
            best = FAMILIES["optimal"].grow(problem, leaves=decision.leaves)
            assert problem.summary(best).mean <= problem.summary(decision).mean + 1e-9


@pytest.mark.parametrize("apart", ["ppn", "collective"])
def test_they_say_truly_which_tables_their_trees_tell_apart(name: str, apart: str) -> None:
    cubes = opposed_cubes()
    several = Problem.of(cubes["bcast"], ppn="all") if apart == "ppn" else Problem.of(cubes, ppn=1)
    if apart in FAMILIES[name].tells:
        check_tables(FAMILIES[name], several)
        assert grow(name, several).needs == (apart,)
        return
    with pytest.raises(OptionError, match=r"2 tables .*a tree that tests these: .*c45, cart, search, recommended"):
        check_tables(FAMILIES[name], several)
    with pytest.raises(OptionError):
        grow(name, several)


@pytest.mark.parametrize(
    ("name", "options"),
    [("c45", {"min_cases": 1}), ("cart", {}), ("cart", {"cost_sensitive": True}), ("search", {"max_depth": 2})],
)
def test_one_tree_decides_several_collectives_and_processes_per_node(name: str, options: dict[str, Any]) -> None:
    several = Problem.of(opposed_cubes(), ppn="all")
    decision = grow(name, several, **options)
    assert decision.options["attributes"] == ["comm_size", "message_size", "ppn", "collective"]
    assert {"ppn", "collective"} <= set(decision.attributes)
    assert name != "search" or decision.leaves == 4
    assert several.summary(decision).max == 0
    same = [decision.predict(4, 8, ppn=ppn, collective=name) for ppn, name in ((1, "reduce"), (2, "bcast"))]
    assert same[0] == same[1]
    with pytest.raises(DecisionError, match="ppn"):
        grow(name, Problem.of(synthetic_cube(2, 2, 2, 0)), attributes=("ppn",))


@pytest.mark.parametrize("name", ["cart", "search", "optimal"])
def test_sizes_that_32_bits_cannot_tell_apart_are_told_apart(name: str) -> None:
    sizes = 2**53 - 4 + np.arange(4)
    best = np.arange(4) % 2
    time = np.where(best == np.arange(2)[:, None], 1.0, 2.0)[:, None, :]
    assert grow(name, Problem.of(cube_of(time, [2], sizes))).predict(2, sizes).tolist() == best.tolist()


@pytest.mark.parametrize("name", ["c45", "cart", "search", "optimal"])
def test_cuts_are_measured_sizes(name: str) -> None:
    problem = Problem.of(synthetic_cube(9, 12, 5, 3, noise=0.3))
    for rule in grow(name, problem).rules():
        for size, (_, high) in rule.bounds.items():
            assert high == np.inf or high in problem.slices[0].cube[size].values
