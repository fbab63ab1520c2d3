"""Decision functions as C source: nested ifs, as the quadtree report generates them, in portable C99.

Equal siblings are merged and no test is written that cannot fail, which the report's generator lacked
("lacks optimizations, i.e. ability to merge conditions with same color").
"""

import math

from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.attributes import ATTRIBUTES
from dashboard.decisions.function.nodes import Leaf, Node, Test
from dashboard.export import usage
from dashboard.export.parts import per_collective
from dashboard.export.target import Decisions, Facts, Target
from dashboard.export.targets.c.file import function, names_of, source
from dashboard.export.targets.c.search import largest
from dashboard.export.targets.c.text import comment_text, integer


def to_c(decisions: Decisions, *, provenance: Facts = None) -> str:
    """Write decision functions as one file of C99.

    For a collective ``bcast`` the file defines ``int colltune_bcast(int comm_size, long long message_size)``,
    which returns an index into ``const char *const colltune_bcast_methods[]``, and no other external name.
    Compiled with ``-DCOLLTUNE_MAIN`` it is a program that answers pairs of sizes from its standard input.

    A decision function that needs the processes per node (it tests ``ppn``, ``nodes`` or ``data_per_node``) becomes
    ``int colltune_bcast_ppn(int comm_size, long long message_size, int ppn)``. The plain name is there as well, so that
    a program need not know which tree it is compiled with: it decides as at the processes per node that were measured,
    of several the largest, since jobs fill their nodes (the comment there says the number). One that decides several
    collectives becomes a function for each of them. Parameters are those of `dashboard.export.target.Target`.

    Returns
    -------
    str
        The source, ASCII only. It compiles without warnings under ``-std=c99 -Wall -Wextra -Wpedantic -Wconversion``.

    Raises
    ------
    ExportError
        There is no decision function, two have the same name in C, or one tests the collective without a name for it.
    """
    return source(decisions, provenance, definition)


def source_lines(decision: DecisionFunction) -> int:
    """Count the lines of the generated function, from its signature to its last brace (dissertation 6.5).

    Of a decision function for several collectives, those of all its functions.
    """
    parts = per_collective(decision)
    return sum(len(definition(part, name)) for part, name in zip(parts, names_of(parts), strict=True))


def definition(decision: DecisionFunction, name: str) -> list[str]:
    """Lines that define the function of a name."""
    body, tested = _body(decision)
    return function(decision, name, tested, body)


def _body(decision: DecisionFunction) -> tuple[list[str], list[str]]:
    """Lines of the nested ifs, and the attributes they test; no recursion, so that any depth of tree goes."""
    lines: list[str] = []
    tested: set[str] = set()
    todo: list[tuple[Node, int, str]] = [(decision.simplified().root, 1, "")]
    while todo:
        node, level, before = todo.pop()
        node = _within_range(node)
        pad = "    " * level
        if isinstance(node, Leaf):
            label = comment_text(decision.methods[node.method].label)
            answer = f"return {node.method}; /* {label} */"
            # A leaf after 'else' is the end of a chain of ifs, so it writes the brace that closes the chain.
            lines += [f"{pad}{before}{{", f"{pad}    {answer}", f"{pad}}}"] if before else [f"{pad}{answer}"]
            continue
        (test,), (below, above) = node.tests, node.children
        tested.add(test.attribute)
        lines.append(f"{pad}{before}if ({test.attribute} <= {integer(math.floor(test.cut))}) {{")
        todo += [(above, level, "} else "), (below, level + 1, "")]
    return lines, [name for name in ATTRIBUTES if name in tested]


def _within_range(node: Node) -> Node:
    """Pass the tests whose answer the C types already give, such as ``comm_size <= 3000000000``."""
    while not isinstance(node, Leaf):
        (test,), (below, above) = node.tests, node.children
        answer = _certain(test)
        if answer is None:
            break
        node = below if answer else above
    return node


def _certain(test: Test) -> bool | None:
    most = largest(test.attribute)
    if test.cut >= most:
        return True
    return False if test.cut < -most - 1 else None


TARGET = Target("c", "C source (nested ifs)", ".c", to_c, use=usage.C_SOURCE)
