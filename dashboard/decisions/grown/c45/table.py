"""What C4.5 learns from, and the trees it gives, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dashboard.decisions.grown.c45.gain import log_table
from dashboard.decisions.grown.c45.kernel import run
from dashboard.domain.arrays import BoolArray, Float32, FloatArray, Int32, IntArray
from dashboard.domain.errors import DecisionError


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Training cases.

    Attributes
    ----------
    values
        ``(attribute, case)`` float32; of a discrete attribute the position of the value, NaN = unknown.
    declared
        ``(attribute,)`` number of values of a discrete attribute, 0 of a continuous one.
    classes
        ``(case,)`` int32.
    class_count
        Number of classes, whether they occur or not.

    Raises
    ------
    DecisionError
        When the shapes differ, there is no case or no attribute, or a class or discrete value is not a declared one.
    """

    values: Float32
    declared: Int32
    classes: Int32
    class_count: int

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape != (self.declared.size, self.classes.size):
            raise DecisionError(
                f"values of shape {self.values.shape}, expected {self.declared.size} attributes "
                f"× {self.classes.size} cases"
            )
        if not self.values.size:
            raise DecisionError("no training case or no attribute; at least one of each is needed")
        if self.classes.min() < 0 or self.classes.max() >= self.class_count:
            raise DecisionError(
                f"classes {self.classes.min()} to {self.classes.max()}, expected 0 to {self.class_count - 1}"
            )
        for number, (column, declared) in enumerate(zip(self.values, self.declared.tolist(), strict=True)):
            known = column[~np.isnan(column)] if declared else column[:0]
            if known.size and (known.min() < 0 or known.max() >= declared or (known != np.floor(known)).any()):
                raise DecisionError(
                    f"attribute {number} has values {known.min()} to {known.max()}, "
                    f"expected whole numbers from 0 to {declared - 1}"
                )

    def __len__(self) -> int:
        return int(self.classes.size)

    @cached_property
    def prepared(self) -> Cases:
        """The table as kernels take it, with each continuous attribute's values sorted."""
        continuous = np.flatnonzero(self.declared == 0)
        list_of = np.full(self.declared.size, -1, dtype=np.int32)
        list_of[continuous] = np.arange(continuous.size)
        values = np.ascontiguousarray(self.values, dtype=np.float32)
        return Cases(
            values,
            np.asarray(self.declared, dtype=np.int32),
            np.ascontiguousarray(self.classes, dtype=np.int32),
            list_of,
            np.sort(values[continuous], axis=1),
            run(log_table)(len(self)),
        )


class Cases(NamedTuple):
    """The training table as kernels take it.

    Attributes
    ----------
    values, declared, classes
        As in `TrainingTable`.
    list_of
        ``(attribute,)`` the list sorted by a continuous attribute, -1 for a discrete one.
    ascending
        ``(list, case)`` known values ascending, then NaN.
    logs
        `log_table` for as many cases.
    """

    values: Float32
    declared: Int32
    classes: Int32
    list_of: Int32
    ascending: Float32
    logs: FloatArray


class Trial(NamedTuple):
    """What is to be tried at the nodes of a level.

    Attributes
    ----------
    values, classes, list_of, ascending, logs
        As in `Cases`.
    start, rows, weights
        As in `dashboard.decisions.grown.c45.choose.Level`.
    is_open
        ``(node,)`` whether a test is wanted.
    counts
        ``(node, class)``.
    figures
        ``(3, attribute, node)`` gain, split information and cut, to be filled.
    """

    values: Float32
    classes: Int32
    list_of: Int32
    ascending: Float32
    logs: FloatArray
    start: IntArray
    rows: Int32
    weights: Float32
    is_open: BoolArray
    counts: Float32
    figures: Float32


class Nodes(NamedTuple):
    """The nodes of a tree, level by level, the root first.

    Attributes
    ----------
    attribute
        Attribute that is tested, -1 at a leaf.
    cut
        Of a continuous attribute: first branch where ``value <= cut``, else second.
    first, width
        Position of the first branch, and number of branches, which follow one another; width 0 at a leaf.
    label
        Class of the node: what a leaf is printed with.
    cases
        Training cases at the node; 0 where no case came, then `counts` are those of the node above.
    errors
        Misclassified training cases; after pruning the number that is predicted for unseen cases.
    counts
        ``(node, class)``.
    groups
        ``(node, value)`` branch of each value of a discrete attribute, -1 for a value that cannot occur; no
        columns without value groups, when each value has its own branch.
    """

    attribute: Int32
    cut: Float32
    first: Int32
    width: Int32
    label: Int32
    cases: Float32
    errors: Float32
    counts: Float32
    groups: Int32


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree that C4.5 made."""

    nodes: Nodes

    @property
    def size(self) -> int:
        """Number of nodes as C4.5 counts them: tests and leaves, empty leaves included."""
        return int(self.nodes.attribute.size)

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return int((self.nodes.width == 0).sum())

    @property
    def depth(self) -> int:
        """Levels below the root."""
        depth, start, end = 0, 0, 1
        while (inner := self.nodes.width[start:end]).any():
            start, end, depth = end, end + int(inner.sum()), depth + 1
        return depth

    @property
    def predicted_errors(self) -> float:
        """Errors at the root; of a pruned tree those predicted for as many unseen cases."""
        return float(self.nodes.errors[0])
