"""What C4.5 learns from, and the trees it gives, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dashboard.decisions.grown.c45.gain import log_table
from dashboard.domain.arrays import BoolArray, Float32, FloatArray, Int32, IntArray
from dashboard.domain.errors import DecisionError


class TrainingTable(NamedTuple):
    """Training cases, as kernels take them."""

    #: ``(attribute, case)`` float32; of a discrete attribute the position of the value, NaN = unknown.
    values: Float32
    #: ``(attribute,)`` number of values of a discrete attribute, 0 of a continuous one.
    declared: Int32
    #: ``(case,)`` int32.
    classes: Int32
    #: Number of classes, whether they occur or not.
    class_count: int
    #: ``(attribute,)`` the list sorted by a continuous attribute, -1 for a discrete one.
    list_of: Int32
    #: ``(list, case)`` known values ascending, then NaN.
    ascending: Float32
    #: `log_table` for as many cases.
    logs: FloatArray

    @classmethod
    def of(cls, values: Float32, declared: Int32, classes: Int32, class_count: int) -> TrainingTable:
        """Sort each continuous attribute's values, and check all that is said.

        Raises
        ------
        DecisionError
            When the shapes differ, there is no case or no attribute, or a class or discrete value is not a declared
            one.
        """
        if values.ndim != 2 or values.shape != (declared.size, classes.size):
            raise DecisionError(
                f"values of shape {values.shape}, expected {declared.size} attributes × {classes.size} cases"
            )
        if not values.size:
            raise DecisionError("no training case or no attribute; at least one of each is needed")
        if classes.min() < 0 or classes.max() >= class_count:
            raise DecisionError(f"classes {classes.min()} to {classes.max()}, expected 0 to {class_count - 1}")
        for number, (column, most) in enumerate(zip(values, declared.tolist(), strict=True)):
            known = column[~np.isnan(column)] if most else column[:0]
            if known.size and (known.min() < 0 or known.max() >= most or (known != np.floor(known)).any()):
                raise DecisionError(
                    f"attribute {number} has values {known.min()} to {known.max()}, "
                    f"expected whole numbers from 0 to {most - 1}"
                )
        continuous = declared == 0
        list_of = np.where(continuous, np.cumsum(continuous) - 1, -1).astype(np.int32)
        values, ascending = np.ascontiguousarray(values), np.sort(values[continuous], axis=1)
        return cls(values, declared, classes, class_count, list_of, ascending, log_table(classes.size))


class Level(NamedTuple):
    """The nodes of one level of a tree that grows, and their cases."""

    #: ``(node + 1,)`` where the cases of each node start in the lists.
    start: IntArray
    #: ``(list, case)`` cases of all nodes, in each list sorted by another attribute within the node.
    rows: Int32
    #: Likewise the share of each case that is at the node; no columns when every case is whole.
    weights: Float32
    #: ``(node,)`` the node above, among those of the level above.
    above: Int32
    #: ``(node, attribute)`` whether a discrete attribute was tested on the way.
    tested: BoolArray


class Trial(NamedTuple):
    """What is to be tried at the nodes of a level."""

    #: The training cases, and where they are.
    table: TrainingTable
    level: Level
    #: ``(node,)`` whether a test is wanted.
    is_open: BoolArray
    #: ``(node, class)``.
    counts: Float32
    #: ``(3, attribute, node)`` gain, split information and cut, to be filled.
    figures: Float32


class Nodes(NamedTuple):
    """A tree: its nodes, level by level, the root first."""

    #: Attribute that is tested, -1 at a leaf.
    attribute: Int32
    #: Of a continuous attribute: first branch where ``value <= cut``, else second.
    cut: Float32
    #: Position of the first branch, and number of branches, which follow one another; width 0 at a leaf.
    first: Int32
    width: Int32
    #: Class of the node: what a leaf is printed with.
    label: Int32
    #: Training cases at the node; 0 where no case came, then `counts` are those of the node above.
    cases: Float32
    #: Misclassified training cases; after pruning the number that is predicted for unseen cases.
    errors: Float32
    #: ``(node, class)``.
    counts: Float32
    #: ``(node, value)`` branch of each value of a discrete attribute, -1 for a value that cannot occur; no columns
    #: without value groups, when each value has its own branch.
    groups: Int32

    @property
    def size(self) -> int:
        """Number of nodes as C4.5 counts them: tests and leaves, empty leaves included."""
        return int(self.attribute.size)

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return int((self.width == 0).sum())

    @property
    def predicted_errors(self) -> float:
        """Errors at the root; of a pruned tree those predicted for as many unseen cases."""
        return float(self.errors[0])
