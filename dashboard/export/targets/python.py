"""Decision functions as Python source that needs nothing but Python.

Tests are nested in the order that keeps the lighter side inside: the side with fewer leaves returns
from within an ``if``, the other one goes on after it. However deep a tree, its source is nested no
deeper than the binary logarithm of its leaves.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.attributes import ATTRIBUTES
from dashboard.export import provenance as origin
from dashboard.export import usage
from dashboard.export.parts import per_collective, usual_ppn
from dashboard.export.target import Decisions, ExportError, Facts, Target
from dashboard.export.targets.c.text import comment, comment_text, identifier

_PRODUCT = '''
def _product(count, size):
    """Multiply; beyond 64 bits the result is the largest (smallest) number that has room in them."""
    return min(max(count * size, -(2**63)), 2**63 - 1)
'''
_MAIN = """
if __name__ == "__main__":
    import sys

    for _line in sys.stdin:
        _sizes = [int(_word) for _word in _line.split()]
        print(CALLS)
"""


def to_python(decisions: Decisions, *, provenance: Facts = None) -> str:
    """Write decision functions as one Python module.

    For a collective ``bcast`` it defines ``colltune_bcast(comm_size, message_size)``, which returns an index
    into the tuple ``colltune_bcast_methods``. One that needs the processes per node has a third
    parameter ``ppn``, which may be left out: then it is that which was measured, of several the largest.
    One that decides several collectives becomes a function for each of them. Run as a program, the module
    answers lines of sizes (and ppn) from its standard input. Parameters are those of `dashboard.export.target.Target`.

    Returns
    -------
    str
        The source, ASCII only, for Python 3.

    Raises
    ------
    ExportError
        There is no decision function, two have the same name in Python, or one tests the collective
        without a name for it.
    """
    parts = per_collective(decisions)
    calls = ", ".join(f"colltune_{identifier(decision.collective)}(*_sizes)" for decision in parts)
    return functions(parts, provenance=provenance) + "\n\n" + _MAIN.replace("CALLS", calls)


def functions(parts: Sequence[DecisionFunction], *, provenance: Facts = None) -> str:
    """The functions alone, for decision functions of one collective each; parameters and errors as for `to_python`."""
    names = [f"colltune_{identifier(decision.collective)}" for decision in parts]
    for name in [*names, *(f"{name}_methods" for name in names)]:
        if (names + [f"{name}_methods" for name in names]).count(name) > 1:
            raise ExportError(f"two decision functions would define {name} in Python; export them to two files")
    functions = [_function(decision, name) for decision, name in zip(parts, names, strict=True)]
    lines = _head(parts, names, provenance)
    if any("_product(" in line for function in functions for line in function):
        lines += ["", *_PRODUCT.rstrip().split("\n")]
    for decision, name, function in zip(parts, names, functions, strict=True):
        about = [decision.collective, "", *origin.describe(decision, provenance)]
        lines += ["", "", *_comment(about), *_methods(decision, name), "", "", *function]
    return "\n".join(lines)


def _head(
    decisions: Sequence[DecisionFunction], names: Sequence[str], provenance: Mapping[str, Any] | None
) -> list[str]:
    collectives = ", ".join(decision.collective for decision in decisions)
    text = [
        f"Decision functions of MPI collectives: {collectives}.",
        origin.generated(provenance),
        "",
        origin.how_to_ask(names[0]),
    ]
    if any("ppn" in decision.needs for decision in decisions):
        text.append("Functions with a parameter ppn take the processes per node as well; tell it where it is known.")
    return _comment(text)


def _comment(lines: Sequence[str]) -> list[str]:
    """The lines of a C comment with another sign before them: that takes care of all that could end a line."""
    return [f"#{line[2:]}".rstrip() for line in comment(lines, hanging="")[1:-1]]


def _methods(decision: DecisionFunction, name: str) -> list[str]:
    # Surrogates have escapes in ascii(), as all that is not ASCII.
    entries = [f"    {method.label!a},  # {index}" for index, method in enumerate(decision.methods)]
    return [f"{name}_methods = (", *entries, ")"]


def _function(decision: DecisionFunction, name: str) -> list[str]:
    merged = decision.simplified()
    ppn = f", ppn={usual_ppn(decision)}" if "ppn" in decision.needs else ""
    derived = [ATTRIBUTES[attribute] for attribute in ATTRIBUTES if attribute in merged.attributes]
    top = [f"    {each.name} = {each.python.replace('product(', '_product(')}" for each in derived if each.base]
    return [f"def {name}(comm_size, message_size{ppn}):", *top, *(f"    {line}" for line in _body(merged))]


def _body(decision: DecisionFunction) -> list[str]:
    """Lines of the tests of a simplified tree, from its leaves up: no recursion, so that any depth of tree goes."""
    names = decision.tree.attributes

    def leaf(_: int, method: int) -> tuple[int, list[str]]:
        """Number of leaves, and lines, the last one first: so more lines before them take no time."""
        return 1, [f"return {method}  # {comment_text(decision.methods[method].label)}".rstrip(" #")]

    def split(_: int, tests: list[tuple[int, int]], children: list[tuple[int, list[str]]]) -> tuple[int, list[str]]:
        """The lighter side within an ``if``, and the other one after it."""
        ((attribute, cut),), (below, above) = tests, children
        first = below[0] <= above[0]
        (_, inside), (_, lines) = (below, above) if first else (above, below)
        lines += [f"    {line}" for line in inside]
        lines.append(f"if {names[attribute]} {'<=' if first else '>'} {cut}:")
        return below[0] + above[0], lines

    return decision.tree.folded(leaf, split)[1][::-1]


TARGET = Target("python", "Python source", ".py", to_python, use=usage.PYTHON)
