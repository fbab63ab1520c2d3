"""The families: each found by name, each giving decision functions that hold what they promise."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.decisions import DecisionFunction, OptionError
from dashboard.decisions.grown.families import FAMILIES, GIVEN, PLACES, Families, check_tables, family
from dashboard.decisions.grown.family import Cancelled
from dashboard.decisions.measured.problem import Problem
from tests.conftest import ROOT
from tests.cubes import cube_of, opposed_cubes, synthetic_cube

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


def test_a_search_can_be_stopped(name: str) -> None:
    def stop(_share: float, what: str) -> None:
        assert what
        raise Cancelled

    with pytest.raises(Cancelled):
        FAMILIES[name].grow(Problem.of(synthetic_cube(5, 7, 4, 3)), progress=stop)


@pytest.mark.parametrize(
    "cube",
    [
        cube_of(np.ones((1, 3, 4)), [2, 3, 4], [1, 2, 4, 8]),
        cube_of(np.ones((3, 3, 4)), [2, 3, 4], [1, 2, 4, 8]),
        cube_of([[[1.0]], [[2.0]]], [4], [8]),
        cube_of([[[1.0, 2.0, 3.0]], [[3.0, 2.0, 1.0]]], [4], [8, 16, 32]),
        cube_of([[[np.nan], [2.0]], [[1.0], [np.nan]]], [4, 8], [8]),
    ],
    ids=["one method", "constant times", "one cell", "one row", "gaps"],
)
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


@settings(max_examples=10)
@given(st.integers(0, 100))
def test_the_exact_map_costs_nothing(seed: int) -> None:
    problem = Problem.of(synthetic_cube(4, 6, 4, seed, missing=0.3))
    assert problem.summary(FAMILIES["exact"].grow(problem)).max == 0


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
