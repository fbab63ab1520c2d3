"""C4.5 as one would write it down, case by case and node by node: slow, for whole cases only, to compare with."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dashboard.decisions.grown.c45.predicted import extra_errors, squared_quantile
from dashboard.decisions.grown.c45.table import Nodes, TrainingTable

single = np.float32
ZERO = single(0)
NONE = single(-1e-3)


@dataclass
class Plain:
    """A node."""

    label: int
    counts: np.ndarray
    cases: np.float32
    errors: np.float32
    attribute: int = -1
    cut: np.float32 = ZERO
    branches: list[Plain] = field(default_factory=list)

    def as_tuple(self) -> tuple:
        """Everything about the tree, to be compared."""
        below = tuple(branch.as_tuple() for branch in self.branches)
        counts = tuple(self.counts.tolist())
        return (self.label, counts, float(self.cases), float(self.errors), self.attribute, float(self.cut), below)


def as_tuple(nodes: Nodes, node: int = 0) -> tuple:
    """Give the same of the arrays."""
    branches = range(nodes.first[node], nodes.first[node] + nodes.width[node])
    return (
        int(nodes.label[node]),
        tuple(nodes.counts[node].tolist()),
        float(nodes.cases[node]),
        float(nodes.errors[node]),
        int(nodes.attribute[node]),
        float(nodes.cut[node]),
        tuple(as_tuple(nodes, branch) for branch in branches),
    )


def log2(n: float) -> float:
    return math.log(n) / 0.69314718055994530942 if n > 0 else 0.0


def total(counts: np.ndarray) -> np.float32:
    number = parts = single(0)
    for n in counts:
        parts = single(float(parts) + float(n) * log2(float(n)))
        number = number + single(n)
    return single(float(number) * log2(float(number)) - float(parts))


class Grower:
    """Grows trees from one table by one setting."""

    def __init__(self, table: TrainingTable, min_cases: int, *, gain_ratio: bool) -> None:
        self.table, self.min_cases, self.gain_ratio = table, min_cases, gain_ratio

    def counts(self, rows: np.ndarray) -> np.ndarray:
        return np.bincount(self.table.classes[rows], minlength=self.table.class_count).astype(single)

    def grow(self, rows: np.ndarray, used: frozenset[int] = frozenset(), above: Plain | None = None) -> Plain:
        if not rows.size:
            assert above is not None
            return Plain(above.label, above.counts, single(0), single(0))
        counts = self.counts(rows)
        node = Plain(int(counts.argmax()), counts, single(rows.size), single(rows.size) - counts.max())
        if counts.max() == rows.size or rows.size < 2 * self.min_cases:
            return node
        best = self.best(rows, used)
        if best is None:
            return node
        leaf_errors = node.errors
        node.attribute, node.cut = best
        tested = used | {node.attribute} if self.table.declared[node.attribute] else used
        node.branches = [self.grow(part, tested, node) for part in self.parts(node, rows)]
        node.errors = single(0)
        for branch in node.branches:
            node.errors = node.errors + branch.errors
        if float(node.errors) >= float(leaf_errors) - 0.001:
            return Plain(node.label, node.counts, node.cases, leaf_errors)
        return node

    def parts(self, node: Plain, rows: np.ndarray) -> list[np.ndarray]:
        values = self.table.values[node.attribute, rows]
        if self.table.declared[node.attribute]:
            return [rows[values == value] for value in range(self.table.declared[node.attribute])]
        return [rows[values <= node.cut], rows[values > node.cut]]

    def best(self, rows: np.ndarray, used: frozenset[int]) -> tuple[int, np.float32] | None:
        declared = self.table.declared
        tests = [
            (self.discrete if declared[a] else self.continuous)(a, rows) if a not in used else (NONE, NONE, NONE)
            for a in range(declared.size)
        ]
        many = declared >= 0.3 * self.table.classes.size
        counted = [
            g for (g, _, _), left_out in zip(tests, many, strict=True) if g > -1e-3 and (many.all() or not left_out)
        ]
        average = single(0)
        for gain in counted:
            average = average + gain
        average = average / single(len(counted)) if counted else single(1e6)
        chosen, most = None, NONE
        for attribute, (gain, info, cut) in enumerate(tests):
            worth = NONE
            if gain > -1e-3 and self.gain_ratio:
                worth = gain / info if float(gain) >= float(average) - 0.001 and info > 0.001 else NONE
            elif gain > -1e-3 and info > 0:
                worth = gain
            if worth > most:
                chosen, most = (attribute, cut), worth
        return chosen

    def continuous(self, attribute: int, rows: np.ndarray) -> tuple[np.float32, np.float32, np.float32]:
        cases, m = rows.size, self.min_cases
        if cases < 2 * m:
            return NONE, NONE, NONE
        least = single(0.10 * cases / self.table.class_count)
        least = single(m) if least <= m else min(least, single(25))
        rows = rows[np.argsort(self.table.values[attribute, rows], kind="stable")]
        values = self.table.values[attribute, rows]
        base = total(self.counts(rows)) / single(cases)
        tried = []
        for low in range(1, cases):
            enough = low >= least and low <= single(cases) - least
            if enough and float(values[low - 1]) < float(values[low]) - 1e-5:
                gain = NONE
                if low >= m and cases - low >= m:
                    left = total(self.counts(rows[:low])) + total(self.counts(rows[low:]))
                    gain = base - left / single(cases)
                tried.append((low, gain))
        penalty = single(log2(len(tried)) / cases)
        low, gain = max(tried, key=lambda cut: cut[1] - penalty, default=(0, NONE))
        if gain - penalty <= 0:
            return NONE, NONE, NONE
        info = total(np.array([0, low, cases - low], dtype=single)) / single(cases)
        middle = (values[low - 1] + values[low]) / single(2)
        everywhere = self.table.values[attribute]
        return gain - penalty, info, everywhere[everywhere <= middle].max()

    def discrete(self, attribute: int, rows: np.ndarray) -> tuple[np.float32, np.float32, np.float32]:
        values, cases = self.table.values[attribute, rows], single(rows.size)
        parts = [rows[values == value] for value in range(self.table.declared[attribute])]
        if sum(part.size >= self.min_cases for part in parts) < 2:
            return NONE, NONE, NONE
        summed = sum(float(n) * log2(float(n)) for n in self.counts(rows))
        base = single((float(cases) * log2(float(cases)) - summed) / float(cases))
        left = single(0)
        for part in parts:
            left = left + total(self.counts(part))
        info = total(np.array([0, *(part.size for part in parts)], dtype=single)) / cases
        return base - left / cases, info, single(0)


class Pruner:
    """Prunes what a grower grew; changes the tree."""

    def __init__(self, grower: Grower, confidence: float) -> None:
        self.grower = grower
        self.share = single(single(confidence) / single(100))
        self.squared = squared_quantile(self.share)

    def leaf(self, counts: np.ndarray) -> np.float32:
        cases = counts.sum()
        errors = cases - counts.max()
        return errors + extra_errors(cases, errors, self.share, self.squared)

    def estimate(self, node: Plain, rows: np.ndarray) -> np.float32:
        if not node.branches:
            return self.leaf(self.grower.counts(rows))
        errors = single(0)
        for branch, part in zip(node.branches, self.grower.parts(node, rows), strict=True):
            if part.size:
                errors = errors + self.estimate(branch, part)
        return errors

    def prune(self, node: Plain, rows: np.ndarray) -> np.float32:
        node.counts, node.cases = self.grower.counts(rows), single(rows.size)
        if node.counts.max() > node.counts[node.label]:
            node.label = int(node.counts.argmax())
        leaf = node.errors = self.leaf(node.counts)
        if not node.branches:
            return leaf
        parts, tree = self.grower.parts(node, rows), single(0)
        for branch, part in zip(node.branches, parts, strict=True):
            if part.size:
                tree = tree + self.prune(branch, part)
        largest = max(range(len(parts)), key=lambda branch: (parts[branch].size, branch))
        raised = self.estimate(node.branches[largest], rows)
        if float(leaf) <= float(raised) + 0.1 and float(leaf) <= float(tree) + 0.1:
            node.attribute, node.cut, node.branches = -1, single(0), []
        elif float(raised) <= float(tree) + 0.1:
            vars(node).update(vars(node.branches[largest]))
            return self.prune(node, rows)
        else:
            node.errors = tree
        return node.errors
