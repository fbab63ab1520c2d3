"""The kernels against C4.5 written down plainly, on tables that hypothesis draws; and what must hold of any tree."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.decisions.grown.c45 import kernel
from dashboard.decisions.grown.c45.choose import Options
from dashboard.decisions.grown.c45.classify import classify
from dashboard.decisions.grown.c45.continuous import best_cuts
from dashboard.decisions.grown.c45.grow import grow
from dashboard.decisions.grown.c45.prune import prune
from dashboard.decisions.grown.c45.table import TrainingTable
from tests.decisions.c45.plain import Grower, Pruner, as_tuple

pytestmark = pytest.mark.slow


@st.composite
def tables(draw: st.DrawFn) -> TrainingTable:
    """Draw tables of few values, so that ties are common; the class leans on the attributes."""
    declared = np.array(draw(st.lists(st.sampled_from([0, 0, 2, 3, 5]), min_size=1, max_size=4)), dtype=np.int32)
    cases, classes = draw(st.integers(1, 90)), draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from([1.0, 1e-3, 2.0**20]))
    limits = np.where(declared > 0, declared, draw(st.integers(1, 20)))
    values = random.integers(0, limits[:, None], (declared.size, cases)).astype(np.float32)
    values[declared == 0] *= np.float32(scale)
    leaning = (values / np.maximum(values.max(axis=1), 1e-9)[:, None] * random.random((declared.size, 1))).sum(axis=0)
    own = np.minimum((leaning * classes / 2).astype(np.int32), classes - 1)
    noisy = random.random(cases) < draw(st.sampled_from([0.0, 0.1, 0.6]))
    own[noisy] = random.integers(0, classes, noisy.sum())
    return TrainingTable.of(values, declared, own.astype(np.int32), classes)


@given(tables(), st.integers(1, 6), st.booleans())
def test_growing_is_what_the_plain_program_does(table: TrainingTable, min_cases: int, gain_ratio: bool) -> None:
    tree = grow(table, Options(min_cases, gain_ratio, group_values=False))

    plain = Grower(table, min_cases, gain_ratio=gain_ratio).grow(np.arange(table.classes.size))
    assert as_tuple(tree) == plain.as_tuple()


@given(tables(), st.integers(1, 3), st.sampled_from([0.001, 1.0, 25.0, 70.0, 100.0]))
def test_pruning_is_what_the_plain_program_does(table: TrainingTable, min_cases: int, confidence: float) -> None:
    tree = prune(table, grow(table, Options(min_cases, gain_ratio=True, group_values=False)), confidence)

    grower = Grower(table, min_cases, gain_ratio=True)
    plain = grower.grow(np.arange(table.classes.size))
    Pruner(grower, confidence).prune(plain, np.arange(table.classes.size))
    assert as_tuple(tree) == plain.as_tuple()


@settings(max_examples=25)
@given(tables(), st.sampled_from([0.0, 0.2]), st.booleans(), st.sampled_from([1.0, 25.0]))
def test_interpreted_kernels_do_as_compiled_ones(
    table: TrainingTable, unknown: float, group_values: bool, confidence: float
) -> None:
    table.values[np.random.default_rng(1).random(table.values.shape) < unknown] = np.nan
    chosen = Options(2, gain_ratio=True, group_values=group_values)

    def trees() -> list[str]:
        fresh = TrainingTable.of(table.values, table.declared, table.classes, table.class_count)
        before = grow(fresh, chosen)
        after = prune(fresh, before, confidence)
        parts = (*before, *after, classify(after, fresh.values, fresh.declared))
        return [part.tobytes().hex() for part in parts]

    compiled = trees()
    with (
        mock.patch.object(kernel, "_compiled", return_value=False),
        mock.patch.object(kernel, "_spent", 0.0),
        kernel.interpreted_if_sooner(best_cuts, 0),
    ):
        assert kernel.run(best_cuts) is not best_cuts
        assert trees() == compiled


@given(tables(), st.integers(1, 6), st.booleans(), st.booleans())
def test_every_test_has_two_branches_of_enough_cases(
    table: TrainingTable, min_cases: int, gain_ratio: bool, group_values: bool
) -> None:
    nodes = grow(table, Options(min_cases, gain_ratio, group_values))

    for node in np.flatnonzero(nodes.width):
        branches = slice(nodes.first[node], nodes.first[node] + nodes.width[node])
        assert (nodes.cases[branches] >= min_cases).sum() >= 2
        assert nodes.cases[branches].sum() == nodes.cases[node]


@given(tables(), st.integers(1, 6), st.booleans())
def test_no_node_has_more_errors_than_a_leaf_and_cases_fall_where_the_tree_says(
    table: TrainingTable, min_cases: int, group_values: bool
) -> None:
    nodes = grow(table, Options(min_cases, True, group_values))

    full = nodes.cases > 0
    assert (nodes.errors <= np.where(full, nodes.cases - nodes.counts.max(axis=1), 0)).all()
    wrong = classify(nodes, table.values, table.declared) != table.classes
    assert wrong.sum() == nodes.errors[0] == nodes.errors[nodes.width == 0].sum()


@given(tables(), st.sampled_from([1.0, 25.0, 90.0]), st.booleans())
def test_pruning_makes_no_tree_larger_and_predicts_more_errors_than_were_seen(
    table: TrainingTable, confidence: float, group_values: bool
) -> None:
    before = grow(table, Options(2, True, group_values))
    after = prune(table, before, confidence)

    assert after.size <= before.size
    errors = (classify(after, table.values, table.declared) != table.classes).sum()
    assert after.predicted_errors >= errors
    assert after.cases[0] == table.classes.size
