"""C4.5 as way of deciding: problems in, decision functions out."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import DecisionFunction
from dashboard.decisions.grown.c45 import FAMILY, c45, c45_many
from dashboard.decisions.grown.c45.choose import Options
from dashboard.decisions.grown.c45.classify import classify, leaf_classes
from dashboard.decisions.grown.c45.convert import to_node, training_table
from dashboard.decisions.grown.c45.grow import grow
from dashboard.decisions.grown.c45.prune import prune
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.measured.cases import Cases
from dashboard.decisions.measured.problem import Problem
from tests.cubes import cube_of, synthetic_cube

SIZES_ONLY = ("comm_size", "message_size")
COMPOSITE = (*SIZES_ONLY, "total_size", "even", "power_of_two")


def map_of(best: np.ndarray, comm_size: list[int], message_size: list[int], methods: int, **attrs: str) -> xr.Dataset:
    """Give a cube in which method ``best[row, column]`` is fastest, -1 where nothing is measured."""
    times = np.full((methods, *best.shape), 2e-5)
    np.put_along_axis(times, np.maximum(best, 0)[None], 1e-5, axis=0)
    return cube_of(np.where(best < 0, np.nan, times), comm_size, message_size, **attrs)


def decided(decision: DecisionFunction, cases: Cases) -> np.ndarray:
    """What a decision function decides for cases."""
    return decision.predict(**{name: cases.values[:, place] for place, name in enumerate(cases.attributes)})


@pytest.mark.parametrize(("name", "attributes"), [("bcast27", SIZES_ONLY), ("allgat27c", COMPOSITE)])
@pytest.mark.parametrize(("m", "c", "extra"), [(2, 25, ""), (2, 25, "-g"), (8, 5, ""), (40, 5, "")])
def test_decides_the_reference_maps_as_release_8(
    samples: Path, name: str, attributes: tuple[str, ...], m: int, c: int, extra: str
) -> None:
    folder = samples.parent / "c45" / name
    facts = json.loads((folder / f"{name}_m{m}_c{c}{extra}.json").read_text())
    rows = [line.split(",") for line in (folder / f"{name}.data").read_text().splitlines()]
    comm, message = (sorted({int(row[place]) for row in rows}) for place in (0, 1))
    best = np.full((len(comm), len(message)), -1)
    for row in rows:
        best[comm.index(int(row[0])), message.index(int(row[1]))] = facts["classes"].index(row[-1].strip())
    problem = Problem.of(map_of(best, comm, message, len(facts["classes"])))

    decision = c45(problem, min_cases=m, confidence=c, attributes=attributes, gain_ratio=not extra)

    wanted = [facts["classes"].index(text) for text in facts["predictions"]]
    sizes = [(int(row[0]), int(row[1])) for row in rows]
    assert decision.predict(*zip(*sizes, strict=True)).tolist() == wanted
    assert (decision.nodes, decision.leaves, decision.depth) == (facts["size"], facts["leaves"], facts["depth"])
    assert decision.provenance["c45"] == {
        "cases": facts["cases"],
        "before": {"size": facts["size_before"], "leaves": facts["leaves_before"], "errors": facts["errors_before"]},
        "after": {
            "size": facts["size"],
            "leaves": facts["leaves"],
            "errors": facts["errors"],
            "predicted_error": facts["predicted_errors"],
        },
    }


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Draw noisy maps, of one or of three collectives, with gaps."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    methods = draw(st.integers(1, 5))
    comm = sorted(draw(st.sets(st.integers(1, 70), min_size=1, max_size=12)))
    message = sorted(draw(st.sets(st.integers(0, 2**31), min_size=1, max_size=12)))
    cubes = {}
    for name in ("bcast", "reduce", "scan")[: draw(st.sampled_from([1, 3]))]:
        rows, columns = np.mgrid[: len(comm), : len(message)]
        best = (rows * random.integers(0, 3) + columns + random.integers(0, 3)) // 5 % methods
        best = np.where(random.random(best.shape) < 0.3, random.integers(0, methods, best.shape), best)
        best[random.random(best.shape) < 0.1] = -1
        best[0, 0] = 0
        cubes[name] = map_of(best, comm, message, methods, collective=name)
    return Problem.of(cubes if len(cubes) > 1 else cubes["bcast"])


@pytest.mark.slow
@given(problems(), st.integers(1, 4), st.booleans(), st.booleans(), st.sets(st.sampled_from(COMPOSITE), min_size=1))
def test_decides_every_cell_as_c45_classifies_it(
    problem: Problem, min_cases: int, group_values: bool, pruned: bool, names: set[str]
) -> None:
    chosen = (*sorted(names), *(["collective"] if len(problem.slices) > 1 else []))
    decision = c45(problem, min_cases=min_cases, group_values=group_values, attributes=chosen, pruned=pruned)

    cases = problem.cases(chosen)
    table = training_table(cases)
    before = grow(table, Options(min_cases, gain_ratio=True, group_values=group_values))
    tree = prune(table, before, 25.0) if pruned else before
    classes = classify(tree, table.values, table.declared)
    sizes = problem.cases(SIZES_ONLY).values
    given = {"collective": cases.values[:, -1]} if "collective" in chosen else {}
    assert decision.predict(sizes[:, 0], sizes[:, 1], **given).tolist() == classes.tolist()
    report = decision.provenance["c45"]["after" if pruned else "before"]
    assert report["errors"] == (classes != cases.best).sum()


@given(problems(), st.integers(1, 4))
def test_every_leaf_of_a_tree_of_sizes_has_a_cell(problem: Problem, min_cases: int) -> None:
    decision = c45(problem, min_cases=min_cases, attributes=SIZES_ONLY, pruned=False)

    cases = problem.cases(SIZES_ONLY)
    depths = decision.predict_depth(cases.values[:, 0], cases.values[:, 1])
    assert len(decision.rules()) == decision.leaves
    assert depths.max() == decision.depth
    regions = decision.regions()
    inside = [
        ((cases.values > [low, left]) & (cases.values <= [high, right])).all(axis=1).any()
        for low, high, left, right in regions[["comm_low", "comm_high", "message_low", "message_high"]].to_numpy()
    ]
    assert all(inside)


def test_a_tied_leaf_decides_the_first_method_whatever_its_label() -> None:
    """C4.5 prints a raised leaf with the class it had before, yet classifies by the first of equal classes."""
    best = np.random.default_rng(46).integers(0, 3, (6, 6))  # one map of many that has such a leaf
    cases = Problem.of(map_of(best, [2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6], 3)).cases()
    table = training_table(cases)
    tree = prune(table, grow(table, Options(1, gain_ratio=True, group_values=False)), 60.0)
    leaves = tree.width == 0
    tied = leaves & (leaf_classes(tree) != tree.label)
    assert tied.any()
    assert (np.sort(tree.counts[tied])[:, -1] == np.sort(tree.counts[tied])[:, -2]).all()

    decision = DecisionFunction("bcast", cases.methods, to_node(tree, table, cases))

    assert decided(decision, cases).tolist() == classify(tree, table.values, table.declared).tolist()


@pytest.mark.slow
def test_sizes_that_float32_rounds_are_decided_as_c45_sees_them() -> None:
    """Both sides of a cut must hold for whole numbers; 2^24 + 1 is 2^24 as float32, 2^24 + 3 is 2^24 + 4."""
    message = [2**24 - 1, 2**24, 2**24 + 1, 2**24 + 2, 2**24 + 3, 2**24 + 4, 2**24 + 5, 2**24 + 7]
    for pattern in itertools.product([0, 1], repeat=len(message)):
        problem = Problem.of(map_of(np.tile(pattern, (4, 1)), [2, 3, 4, 5], message, 2))
        decision = c45(problem, min_cases=1, pruned=False)
        cases = problem.cases()
        table = training_table(cases)
        tree = grow(table, Options(1, gain_ratio=True, group_values=False))
        assert decided(decision, cases).tolist() == classify(tree, table.values, table.declared).tolist()


def test_one_method_one_cell_and_equal_times_give_one_leaf() -> None:
    for cube in (
        cube_of(np.full((1, 3, 3), 1e-5), [2, 3, 4], [1, 2, 3]),
        cube_of(np.full((4, 1, 1), 1e-5), [2], [1]),
        cube_of(np.full((4, 5, 6), 1e-5), [2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
    ):
        decision = c45(Problem.of(cube))

        assert (decision.nodes, decision.predict(7, 7)) == (1, 0)
        assert decision.provenance["c45"]["before"]["errors"] == 0


def test_cells_that_contradict_each_other_are_no_obstacle() -> None:
    cubes = {name: map_of(np.full((4, 4), label), [2, 3, 4, 5], [1, 2, 3, 4], 2) for label, name in enumerate("ab")}

    decision = c45(Problem.of(cubes), attributes=SIZES_ONLY, min_cases=1, pruned=False)

    assert decision.nodes == 1
    assert decision.provenance["c45"]["before"]["errors"] == 16


def test_the_path_leads_from_small_trees_to_large_ones() -> None:
    problem = Problem.of(synthetic_cube(20, 30, 8, 5, noise=0.4))

    settings = list(FAMILY.path(problem))
    leaves = [tree.leaves for tree in c45_many(problem, settings)]

    assert FAMILIES["c45"] is FAMILY
    assert leaves[0] == min(leaves)
    assert leaves[-1] == max(leaves)
    # Of 600 cells a branch needs a quarter at most; the last tree has a branch for each cell that differs.
    assert list(dict.fromkeys(each["min_cases"] for each in settings)) == [128, 64, 40, 20, 12, 8, 6, 4, 3, 2, 1]
    assert settings[-1] == {"min_cases": 1, "pruned": False}
    few = [each["min_cases"] for each in FAMILY.path(Problem.of(synthetic_cube(3, 4, 2, 5)))]
    assert list(dict.fromkeys(few)) == [3, 2, 1]


def test_progress_is_told() -> None:
    problem = Problem.of(synthetic_cube(20, 30, 8, 5, noise=0.4))
    shares: list[float] = []
    c45_many(problem, [{}, {"min_cases": 4}], progress=lambda share, _words: shares.append(share))
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] == 1
