"""The decision function: the one object every way of deciding gives and every exporter takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dashboard.decisions.function import saved
from dashboard.decisions.function.attributes import (
    COLLECTIVE,
    COMM_SIZE,
    MESSAGE_SIZE,
    SIZES,
    attribute,
    compute,
    compute_one,
    integers,
    required,
)
from dashboard.decisions.function.bounds import bounded_levels, opened
from dashboard.decisions.function.flat import FlatTree
from dashboard.decisions.function.nodes import Leaf, Method, Node, Rule, Split, Test
from dashboard.decisions.function.restrict import remembered, restrict
from dashboard.decisions.function.simplify import simplify
from dashboard.decisions.function.table import SizeTable
from dashboard.decisions.function.text import Counts, draw
from dashboard.domain.arrays import IntArray
from dashboard.domain.errors import DecisionError, DecisionFormatError
from dashboard.domain.units import format_count
from loaders import disk

__all__ = ["DecisionFunction", "Leaf", "Method", "Node", "Rule", "Split", "Test"]


class DecisionFunction:
    """A tree of tests on the sizes of a call, with a method at each leaf; not to be changed once made.

    Parameters
    ----------
    collective
        Name of the collective.
    methods
        The methods that leaves point to.
    root
        The tree, as `Node` or as `FlatTree`.
    kind
        How it was decided, such as ``quadtree``.
    options
        The options of that, such as ``{"max_depth": 3, "threshold": 1.0}``.
    provenance
        Where it comes from: system, digest of the data, measured range, …
    categories
        For attributes of named values, the names by position.

    Raises
    ------
    DecisionError
        When a leaf points to no method, an attribute is unknown or a cut is not a number.

    Notes
    -----
    A test is ``attribute <= cut``. Whatever the sizes, some leaf is reached: the outermost rules
    hold beyond the measured range (the border rule of the quadtree report, section 3.4).
    """

    def __init__(
        self,
        collective: str,
        methods: Sequence[Method],
        root: Node | FlatTree,
        *,
        kind: str = "tree",
        options: Mapping[str, Any] | None = None,
        provenance: Mapping[str, Any] | None = None,
        categories: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.collective = collective
        self.methods = tuple(methods)
        self.tree = root if isinstance(root, FlatTree) else FlatTree.from_node(root)
        self.kind = kind
        self.options: dict[str, Any] = dict(options or {})
        self.provenance: dict[str, Any] = dict(provenance or {})
        self.categories: dict[str, tuple[str, ...]] = {k: tuple(v) for k, v in (categories or {}).items()}
        self._check()
        self._frozen = True

    def _check(self) -> None:
        if int(self.tree.codes.max()) >= len(self.methods):
            raise DecisionError(
                f"a leaf has method {int(self.tree.codes.max())}, but there are {len(self.methods)} methods"
            )
        for name in self.tree.attributes:
            attribute(name)
        if not (self.tree.cuts > -math.inf).all():
            raise DecisionError("a cut is NaN or -inf; expected a number, or inf for a test that is always true")

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "_frozen", False):
            raise AttributeError(f"a decision function cannot be changed (tried to set {name})")
        super().__setattr__(name, value)

    def __eq__(self, other: object) -> bool:
        """Same collective, methods, kind, options and tree; where they came from does not count."""
        if not isinstance(other, DecisionFunction):
            return NotImplemented
        return (
            (self.collective, self.methods, self.kind, self.options, self.categories)
            == (other.collective, other.methods, other.kind, other.options, other.categories)
            and np.array_equal(self.tree.codes, other.tree.codes)
            and (self.tree.codes.size == 1 or self.root == other.root)
        )

    def __hash__(self) -> int:
        return hash((self.collective, self.methods, self.kind, self.tree.codes.size))

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value}" for key, value in self.options.items())
        size = f"{format_count(self.leaves, 'leaf', 'leaves')}, depth {self.depth}"
        kind = f"{self.kind}{f' ({options})' if options else ''}"
        return f"<DecisionFunction {self.collective}: {kind}, {size}, {format_count(len(self.methods), 'method')}>"

    @cached_property
    def root(self) -> Node:
        """The tree as `Leaf` and `Split`."""
        return self.tree.to_node()

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the attributes that are tested."""
        return self.tree.attributes

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """What a call must tell beside the two sizes: ``ppn``, ``collective``."""
        return required(self.tree.attributes)

    @property
    def nodes(self) -> int:
        """Number of splits and leaves."""
        return self.tree.codes.size

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return self.nodes - self.tree.widths.size

    @property
    def used(self) -> list[int]:
        """Positions of the methods that some leaf has, ascending."""
        return [int(place) for place in np.unique(self.tree.codes) if place >= 0]

    @property
    def depth(self) -> int:
        """Levels of the deepest leaf below the root."""
        return self.tree.depth

    def depths(self) -> IntArray:
        """Depth of each leaf, level by level."""
        return np.asarray(self.tree.node_depths[self.tree.codes >= 0], dtype=np.int64)

    def predict(self, comm_size: Any, message_size: Any, **attributes: Any) -> IntArray:
        """Decide for arrays of sizes.

        Parameters
        ----------
        comm_size, message_size
            Whole numbers (processes, bytes) of any shapes that broadcast together.
        **attributes
            What the tested attributes take beside the sizes (`needs`); names are allowed where the
            decision function has `categories`.

        Returns
        -------
        int64 array of the common shape: indices into `methods`

        Raises
        ------
        DecisionError
            When one of `needs` is missing or values are not whole numbers.
        """
        return np.asarray(self.tree.codes[self.leaf_places(comm_size, message_size, **attributes)], dtype=np.int64)

    def predict_depth(self, comm_size: Any, message_size: Any, **attributes: Any) -> IntArray:
        """Count the levels passed to decide; parameters as for `predict`."""
        places = self.leaf_places(comm_size, message_size, **attributes)
        return np.asarray(self.tree.node_depths[places], dtype=np.int64)

    def leaf_places(self, comm_size: Any, message_size: Any, **attributes: Any) -> IntArray:
        """Find the leaf that decides each call, as place among the nodes of the tree; parameters as for `predict`."""
        comm, message = integers(comm_size, COMM_SIZE), integers(message_size, MESSAGE_SIZE)
        if self._table is not None:
            return self._table.leaves(comm, message)
        known = {name: integers(value, name) for name, value in self._known(attributes, "predict").items()}
        known |= {COMM_SIZE: comm, MESSAGE_SIZE: message}
        columns = np.broadcast_arrays(*(compute(name, known) for name in self.tree.attributes), comm, message)
        return self.tree.walk([column.ravel() for column in columns]).reshape(columns[-1].shape)

    def predict_one(self, comm_size: int, message_size: int, **attributes: Any) -> int:
        """Decide for one call; as `predict`, without its checks and as fast as Python goes."""
        table = self._table
        if table is not None:
            return table.method(comm_size, message_size)
        known = {COMM_SIZE: comm_size, MESSAGE_SIZE: message_size, **self._known(attributes, "predict_one")}
        values = [compute_one(name, known) for name in self.tree.attributes]
        node = self.tree.nested
        while node.__class__ is tuple:
            position, limit, yes, no = node
            node = yes if values[position] <= limit else no
        return int(node)

    def rules(self) -> list[Rule]:
        """List the leaves that can be reached, each with the bounds on the way to it."""
        return list(self.rules_by_place().values())

    def rules_by_place(self) -> dict[int, Rule]:
        """Give the rules of the leaves that can be reached, by the place of each among the nodes of the tree."""
        rules = {}
        levels = list(bounded_levels(self.tree))
        for level in levels:
            low, high = opened(level.low), opened(level.high)
            bound = (level.low != levels[0].low) | (level.high != levels[0].high)
            for row in np.flatnonzero((level.codes >= 0) & level.reachable).tolist():
                bounds = {
                    self.tree.attributes[column]: (float(low[row, column]), float(high[row, column]))
                    for column in np.flatnonzero(bound[row])
                }
                rules[self.tree.level_starts[level.depth] + row] = Rule(bounds, int(level.codes[row]))
        return rules

    def regions(self) -> pd.DataFrame:
        """Give the rectangles of the leaves that can be reached, without a loop over leaves.

        Returns
        -------
        DataFrame, one row a leaf
            ``comm_low, comm_high, message_low, message_high`` (low exclusive, high inclusive, ±inf at
            the borders), ``method`` (index), ``depth``.

        Raises
        ------
        DecisionError
            When other attributes than the two sizes are tested: leaves are no rectangles then.
        """
        other = [name for name in self.tree.attributes if name not in SIZES]
        if other:
            raise DecisionError(f"leaves are rectangles only in trees of the two sizes; this one tests {other}")
        columns: dict[str, list[npt.NDArray[Any]]] = {}
        for level in bounded_levels(self.tree):
            kept = (level.codes >= 0) & level.reachable
            part: dict[str, Any] = {}
            for short, name in (("comm", COMM_SIZE), ("message", MESSAGE_SIZE)):
                if name in self.tree.attributes:
                    column = self.tree.attributes.index(name)
                    low, high = opened(level.low[kept, column]), opened(level.high[kept, column])
                else:
                    low, high = np.full(kept.sum(), -math.inf), np.full(kept.sum(), math.inf)
                part[f"{short}_low"], part[f"{short}_high"] = low, high
            part["method"] = level.codes[kept].astype(np.int64)
            part["depth"] = np.full(kept.sum(), level.depth)
            for name, values in part.items():
                columns.setdefault(name, []).append(values)
        return pd.DataFrame({name: np.concatenate(parts) for name, parts in columns.items()})

    def simplified(self) -> DecisionFunction:
        """Give an equivalent decision function of binary splits, the fewest leaves found.

        No test of it is always true or always false, and no two siblings are equal.
        """
        return self.changed(root=simplify(self.tree))

    def restricted(self, **given: Any) -> DecisionFunction:
        """Give the simplified decision function of calls of which something is fixed.

        Parameters
        ----------
        **given
            Values of attributes: ``restricted(ppn=4)``, ``restricted(collective="bcast")``. What derives from them is
            no longer tested either, unless it needs more than is left (`dashboard.decisions.function.restrict`).

        Returns
        -------
        DecisionFunction
            With all the methods, so that indices stay what they are. Of one collective where that is
            fixed; ``provenance`` tells what was fixed, and under ``part_of`` what it is a part of.

        Raises
        ------
        DecisionError
            When an attribute is unknown or its value is no whole number, or no name that it has here.
        """
        fixed = {attribute(name).name: int(integers(self._coded(name, value), name)) for name, value in given.items()}
        changed: dict[str, Any] = {"provenance": remembered(self.provenance, fixed)}
        if COLLECTIVE in fixed and COLLECTIVE in self.categories:
            names = self.categories[COLLECTIVE]
            if not 0 <= fixed[COLLECTIVE] < len(names):
                raise DecisionError(f"collective is {fixed[COLLECTIVE]}, expected 0 to {len(names) - 1}")
            changed["collective"] = names[fixed[COLLECTIVE]]
            changed["categories"] = {name: texts for name, texts in self.categories.items() if name != COLLECTIVE}
            changed["provenance"]["part_of"] = self.collective
        return self.changed(root=simplify(FlatTree.from_node(restrict(self.tree, fixed))), **changed)

    def changed(self, **parts: Any) -> DecisionFunction:
        """Give the same with some parts replaced, which are called as the constructor's parameters."""
        names = ("collective", "methods", "kind", "options", "provenance", "categories")
        return DecisionFunction(**{"root": self.tree, **{name: getattr(self, name) for name in names}, **parts})

    def to_dict(self) -> dict[str, Any]:
        """Give what JSON keeps; see `dashboard.decisions.function.saved` for the format."""
        return {
            "format": saved.FORMAT,
            "version": saved.VERSION,
            "collective": self.collective,
            "kind": self.kind,
            "options": self.options,
            "methods": saved.methods_to_data(self.methods),
            "categories": {name: list(texts) for name, texts in self.categories.items()},
            "provenance": self.provenance,
            "root": saved.tree_to_data(self.tree),
        }

    @staticmethod
    def from_dict(data: Any) -> DecisionFunction:
        """Rebuild from `to_dict`; `DecisionFormatError` names the place of anything wrong."""
        return DecisionFunction(**saved.parse(data))

    def to_json(self, *, indent: int | None = None) -> str:
        """Give the JSON text of `to_dict`."""
        return saved.write_text(self.to_dict(), indent=indent)

    @staticmethod
    def from_json(text: str) -> DecisionFunction:
        """Rebuild from JSON text; `DecisionFormatError` says what is wrong with it."""
        return DecisionFunction.from_dict(saved.read_text(text))

    def save(self, path: str | Path) -> None:
        """Write the JSON text to a file."""
        disk.write_text(path, self.to_json() + "\n")

    @staticmethod
    def all_of_json(text: str) -> list[DecisionFunction]:
        """Rebuild from JSON text of one decision function, or of a list of several, as an export of collectives is."""
        data = saved.read_text(text)
        return [DecisionFunction.from_dict(each) for each in (data if isinstance(data, list) else [data])]

    @staticmethod
    def load(path: str | Path) -> DecisionFunction:
        """Read what `save` wrote."""
        several = DecisionFunction.load_all(path)
        if len(several) != 1:
            raise DecisionFormatError(f"{path}: {len(several)} decision functions, not one: load_all reads them")
        return several[0]

    @staticmethod
    def load_all(path: str | Path) -> list[DecisionFunction]:
        """Read a file of one decision function or of several."""
        try:
            return DecisionFunction.all_of_json(disk.read_text(path))
        except UnicodeDecodeError:
            raise DecisionFormatError(f"{path}: not a text file in UTF-8") from None
        except DecisionError as error:
            raise DecisionFormatError(f"{path}: {error}") from None

    def to_text(self, *, counts: Counts | None = None) -> str:
        """Draw the tree as text, one line per outcome; `counts` as `draw` takes them."""
        labels = [method.label for method in self.methods]
        return draw(self.tree, labels, categories=self.categories, counts=counts)

    @cached_property
    def _table(self) -> SizeTable | None:
        return SizeTable.of(self.tree)

    def _known(self, given: Mapping[str, Any], call: str) -> dict[str, Any]:
        """What is needed beside the sizes, names of categories as positions, or `DecisionError` for what lacks."""
        for name in self.needs:
            if name not in given:
                raise DecisionError(f"this decision needs {name} beside the two sizes: {call}(…, {name}=…)")
        return {name: self._coded(name, given[name]) for name in self.needs}

    def _coded(self, name: str, values: Any) -> Any:
        """Turn names of a category into their positions."""
        array = np.asarray(values)
        if array.dtype.kind not in "UOT":
            return values
        known = {text: code for code, text in enumerate(self.categories.get(name, ()))}
        try:
            return np.array([known[str(text)] for text in array.ravel()], dtype=np.int64).reshape(array.shape)
        except KeyError as error:
            raise DecisionError(f"{name} has no value {error}; known are {', '.join(known) or 'none'}") from None
