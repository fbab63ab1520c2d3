"""Decision functions as JSON.

The format, version 1::

    {"format": "colltune decision function", "version": 1,
     "collective": "bcast",
     "kind": "quadtree", "options": {"max_depth": 3, "threshold": 1.0},
     "methods": [{"label": "pipeline 8KiB", "algorithm": "pipeline", "segment_size": 8192,
                  "parameters": {}}, ...],
     "categories": {"collective": ["bcast", "reduce"]},
     "provenance": {...},
     "root": NODE}

``NODE`` is ``{"method": INDEX}``, a leaf, or ``{"tests": [TEST, ...], "children": [NODE, ...]}`` with
``2 ** len(tests)`` children. ``TEST`` is ``{"attribute": NAME, "cut": NUMBER or null}``, true when the
attribute is ``<= cut``; null stands for infinity, always true. Bit k of a child's position is set when
test k is false: the first child is where all tests hold. ``options``, ``categories``, ``provenance``,
``segment_size`` and ``parameters`` may be left out.
"""

import json
import math
from typing import Any

from dashboard.decisions.function.attributes import ATTRIBUTES
from dashboard.decisions.function.flat import FlatTree
from dashboard.decisions.function.nodes import Leaf, Method, Node, Split, Test
from dashboard.domain.errors import DecisionError, DecisionFormatError

FORMAT = "colltune decision function"
VERSION = 1
MOST_TESTS = 8


def methods_to_data(methods: tuple[Method, ...]) -> list[dict[str, Any]]:
    """Give methods as plain data."""
    return [{**vars(method), "parameters": dict(method.parameters)} for method in methods]


def tree_to_data(tree: FlatTree) -> dict[str, Any]:
    """Give the tree as nested plain data."""

    def split(_: int, tests: list[tuple[int, float]], children: list[dict[str, Any]]) -> dict[str, Any]:
        said = [{"attribute": tree.attributes[name], "cut": _cut_to_data(cut)} for name, cut in tests]
        return {"tests": said, "children": children}

    return tree.folded(lambda _, method: {"method": method}, split, tree.cuts)


def _cut_to_data(cut: float) -> int | float | None:
    if cut == math.inf:
        return None
    return int(cut) if cut == int(cut) else cut


def read_text(text: str) -> Any:
    """Parse JSON text; `DecisionFormatError` for anything that is not JSON."""

    def refuse(word: str) -> Any:
        raise DecisionFormatError(f"a decision function cannot hold {word}; write null for an infinite cut")

    try:
        return json.loads(text, parse_constant=refuse)
    except DecisionFormatError:
        raise
    except ValueError as error:  # more than JSONDecodeError: numbers of thousands of digits as well
        raise DecisionFormatError(f"not JSON: {error}") from None
    except RecursionError:
        raise DecisionFormatError("nested too deeply") from None


def write_text(data: dict[str, Any], *, indent: int | None = None) -> str:
    """Give the JSON text; `DecisionError` when it cannot be written."""
    try:
        return json.dumps(data, indent=indent, allow_nan=False)
    except RecursionError:
        raise DecisionError("nested too deeply to be written as JSON") from None
    except (TypeError, ValueError) as error:
        raise DecisionError(f"options, parameters or provenance cannot be written as JSON: {error}") from None


def parse(data: Any) -> dict[str, Any]:
    """Check plain data and give what `DecisionFunction` is made of.

    Raises
    ------
    DecisionFormatError
        Names the place, what was found and what would be right.
    """
    document = _expect(data, dict, "the document")
    if document.get("format") != FORMAT:
        raise DecisionFormatError(f"format is {document.get('format')!r}, expected {FORMAT!r}")
    if document.get("version") != VERSION:
        raise DecisionFormatError(f"version is {document.get('version')!r}, this colltune reads version {VERSION}")
    methods = _expect(document.get("methods"), list, "methods")
    if not methods:
        raise DecisionFormatError("methods is empty; a decision needs at least one")
    return {
        "collective": _expect(document.get("collective"), str, "collective"),
        "methods": [method_from_data(method, f"methods[{index}]") for index, method in enumerate(methods)],
        "root": _tree(document.get("root"), len(methods)),
        "kind": _expect(document.get("kind"), str, "kind"),
        "options": _expect(document.get("options", {}), dict, "options"),
        "provenance": _expect(document.get("provenance", {}), dict, "provenance"),
        "categories": _categories(document.get("categories", {})),
    }


def _expect(value: Any, kind: type, place: str) -> Any:
    names = {dict: "an object", list: "a list", str: "text", int: "a whole number"}
    if not isinstance(value, kind) or isinstance(value, bool):
        raise DecisionFormatError(f"{place} is {_short(value)}, expected {names[kind]}")
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def method_from_data(value: Any, place: str) -> Method:
    """Read a method of `methods_to_data`; `DecisionFormatError` names the `place` of what is wrong."""
    data = _expect(value, dict, place)
    segment_size = _expect(data.get("segment_size", 0), int, f"{place}.segment_size")
    if segment_size < 0:
        raise DecisionFormatError(f"{place}.segment_size is {segment_size}, expected 0 or more bytes")
    return Method(
        _expect(data.get("label"), str, f"{place}.label"),
        _expect(data.get("algorithm"), str, f"{place}.algorithm"),
        segment_size,
        _expect(data.get("parameters", {}), dict, f"{place}.parameters"),
    )


def _categories(value: Any) -> dict[str, tuple[str, ...]]:
    data = _expect(value, dict, "categories")
    for name, texts in data.items():
        for index, text in enumerate(_expect(texts, list, f"categories.{name}")):
            _expect(text, str, f"categories.{name}[{index}]")
    return {name: tuple(texts) for name, texts in data.items()}


def _tree(root: Any, methods: int) -> Node:
    """Check and build all nodes: first down the levels, then from the last one up."""
    queue: list[tuple[Any, str]] = [(root, "root")]
    items: list[Leaf | tuple[Test, ...]] = []
    for value, place in queue:  # grows while it is gone through
        data = _expect(value, dict, place)
        if "tests" not in data and "children" not in data:
            items.append(Leaf(_method_index(data.get("method"), methods, place)))
            continue
        tests = _tests(data.get("tests"), place)
        children = _expect(data.get("children"), list, f"{place}.children")
        if len(children) != 2 ** len(tests):
            raise DecisionFormatError(
                f"{place} has {len(tests)} tests and {len(children)} children, expected {2 ** len(tests)} children"
            )
        items.append(tests)
        queue.extend((child, f"{place}.children[{index}]") for index, child in enumerate(children))
    built: list[Node] = []
    head = 0
    for item in reversed(items):
        if isinstance(item, Leaf):
            built.append(item)
        else:
            count = 2 ** len(item)
            built.append(Split(item, tuple(reversed(built[head : head + count]))))
            head += count
    return built[head]


def _method_index(value: Any, methods: int, place: str) -> int:
    index: int = _expect(value, int, f"{place}.method")
    if not 0 <= index < methods:
        raise DecisionFormatError(f"{place}.method is {index}, expected 0 to {methods - 1}")
    return index


def _tests(value: Any, place: str) -> tuple[Test, ...]:
    items = _expect(value, list, f"{place}.tests")
    if not 1 <= len(items) <= MOST_TESTS:
        raise DecisionFormatError(f"{place} has {len(items)} tests, expected 1 to {MOST_TESTS}")
    return tuple(_test(item, f"{place}.tests[{index}]") for index, item in enumerate(items))


def _test(value: Any, place: str) -> Test:
    data = _expect(value, dict, place)
    name = _expect(data.get("attribute"), str, f"{place}.attribute")
    if name not in ATTRIBUTES:
        raise DecisionFormatError(f"{place}.attribute is {name!r}, expected one of {', '.join(ATTRIBUTES)}")
    if "cut" not in data:
        raise DecisionFormatError(f"{place} has no cut; write null for infinity")
    cut = data["cut"]
    if cut is None:
        return Test(name, math.inf)
    if isinstance(cut, bool) or not isinstance(cut, int | float) or not abs(cut) < 2.0**63:
        raise DecisionFormatError(f"{place}.cut is {_short(cut)}, expected a number below 2**63, or null for infinity")
    return Test(name, float(cut))
