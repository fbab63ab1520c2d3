"""Trees, cuts, errors and predictions equal to those of C4.5 Release 8, to the last bit."""

import os
from pathlib import Path

import numpy as np
import pytest

from dashboard.decisions.grown.c45.choose import Options
from dashboard.decisions.grown.c45.classify import classify
from dashboard.decisions.grown.c45.grow import grow
from dashboard.decisions.grown.c45.prune import prune
from dashboard.decisions.grown.c45.table import Nodes, TrainingTable
from tests.conftest import ROOT
from tests.decisions.c45.files import Reference, as_reference, read_reference

FOLDER = Path(os.environ.get("COLLTUNE_SHARED", ROOT.parent / "shared")) / "data" / "c45"
FILES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.json"))


@pytest.fixture(params=FILES or ["no reference files"])
def reference(request: pytest.FixtureRequest, samples: Path) -> Reference:
    return read_reference(samples.parent / "c45" / request.param)


def options_of(reference: Reference) -> Options:
    return Options(reference.min_cases, reference.gain_ratio, reference.group_values)


def test_the_tree_before_pruning_is_release_8s(reference: Reference) -> None:
    tree = grow(reference.data.table, options_of(reference))

    output = reference.output
    assert as_reference(tree, reference.data) == output["tree_before"]
    assert (tree.size, tree.leaves) == (output["size_before"], output["leaves_before"])
    assert misclassified(reference.data.table, tree) == output["errors_before"]


def test_the_tree_after_pruning_is_release_8s(reference: Reference) -> None:
    table = reference.data.table
    tree = prune(table, grow(table, options_of(reference)), reference.confidence)

    output = reference.output
    assert as_reference(tree, reference.data) == output["tree"]
    assert (tree.size, tree.leaves) == (output["size"], output["leaves"])
    assert tree.predicted_errors == output["predicted_errors"]
    assert round(100 * tree.predicted_errors / table.classes.size, 1) == output["predicted_error_pct"]
    assert misclassified(table, tree) == output["errors"]
    predictions = classify(tree, table.values, table.declared)
    assert [reference.data.classes[label] for label in predictions] == output["predictions"]


def test_the_order_of_the_rows_does_not_matter(reference: Reference) -> None:
    table = reference.data.table
    order = np.random.default_rng(8).permutation(table.classes.size)
    shuffled = TrainingTable.of(table.values[:, order], table.declared, table.classes[order], table.class_count)

    tree = prune(shuffled, grow(shuffled, options_of(reference)), reference.confidence)

    assert as_reference(tree, reference.data) == reference.output["tree"]


def misclassified(table: TrainingTable, tree: Nodes) -> int:
    return int((classify(tree, table.values, table.declared) != table.classes).sum())
