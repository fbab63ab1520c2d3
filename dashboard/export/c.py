"""Decision functions as C source: nested ifs, as the quadtree report generates them, in portable C99.

Equal siblings are merged and no test is written that cannot fail, which the report's generator lacked
("lacks optimizations, i.e. ability to merge conditions with same color"). Sizes outside the measured
range take the decision of the nearest measured size, the report's rule for boundary points.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dashboard.decisions.nodes import Leaf, Test
from dashboard.export import provenance as origin
from dashboard.export.c_text import INT_MAX, LLONG_MAX, comment, comment_text, identifier, integer, string
from dashboard.export.target import ExportError, Target

if TYPE_CHECKING:
    from dashboard.decisions import DecisionFunction, Method
    from dashboard.decisions.nodes import Node

_SIGNATURE = "int {name}(int comm_size, long long message_size)"
_PARAMETERS = ("comm_size", "message_size")
#: What a test can ask for: the largest value of its C type. The smallest is -largest - 1.
_LARGEST = {
    "comm_size": INT_MAX,
    "message_size": LLONG_MAX,
    "total_size": LLONG_MAX,
    "even": INT_MAX,
    "power_of_two": INT_MAX,
}
_DERIVED = {
    "total_size": "const long long total_size = colltune_total_size(comm_size, message_size);",
    "even": "const int even = comm_size % 2 == 0;",
    "power_of_two": "const int power_of_two = comm_size > 0 && (comm_size & (comm_size - 1)) == 0;",
}
#: Python's product does not wrap round either: signed overflow would be undefined behaviour.
_TOTAL_SIZE = """\
/* comm_size * message_size, or the nearest long long where the product has no room in one. */
static long long colltune_total_size(int comm_size, long long message_size)
{
    if (comm_size > 0 && message_size > LLONG_MAX / comm_size) {
        return LLONG_MAX;
    }
    if (comm_size > 0 && message_size < LLONG_MIN / comm_size) {
        return LLONG_MIN;
    }
    if (comm_size < 0 && message_size < LLONG_MAX / comm_size) {
        return LLONG_MAX;
    }
    if (comm_size < -1 && message_size > LLONG_MIN / comm_size) {
        return LLONG_MIN;
    }
    return comm_size * message_size;
}"""
_MAIN = """\
#ifdef COLLTUNE_MAIN
#include <stdio.h>

int main(void)
{
    int comm_size;
    long long message_size;
    int fields;

    while ((fields = scanf("%d %lld", &comm_size, &message_size)) == 2) {
        PRINTS
    }
    return fields == EOF ? 0 : 1;
}
#endif"""


def to_c(
    decisions: DecisionFunction | Sequence[DecisionFunction], *, provenance: Mapping[str, Any] | None = None
) -> str:
    """Write decision functions as one file of C99.

    For a collective ``bcast`` the file defines ``int colltune_bcast(int comm_size, long long message_size)``,
    which returns an index into ``const char *const colltune_bcast_methods[]``, and no other external name.
    Compiled with ``-DCOLLTUNE_MAIN`` it is a program that answers pairs of sizes from its standard input.

    Parameters
    ----------
    decisions
        One decision function, or one for each of several collectives.
    provenance
        For the comments: ``version`` and ``date`` (text; default: this version, today), ``statistics`` (see
        `dashboard.export.provenance.describe`) and further facts.

    Returns
    -------
    str
        The source, ASCII only. It compiles without warnings under
        ``-std=c99 -Wall -Wextra -Wpedantic -Wconversion``.

    Raises
    ------
    ExportError
        There is no decision function, two have the same name in C, or one tests an attribute that
        cannot be derived from ``comm_size`` and ``message_size``.
    """
    all_of_them = list(decisions) if isinstance(decisions, Sequence) else [decisions]
    names = _names(all_of_them)
    functions = [_function(decision, name) for decision, name in zip(all_of_them, names, strict=True)]
    lines = _head(all_of_them, names, provenance)
    if any("colltune_total_size" in line for function in functions for line in function):
        lines = ["#include <limits.h>", "", *lines, "", _TOTAL_SIZE]
    for decision, name, function in zip(all_of_them, names, functions, strict=True):
        lines += ["", *comment([decision.collective, "", *origin.describe(decision, provenance)])]
        lines += [*_methods(decision, name), "", *function]
    lines += ["", _main(names)]
    return "\n".join(lines) + "\n"


def source_lines(decision: DecisionFunction) -> int:
    """Count the lines of the generated function, from its signature to its last brace (dissertation 6.5)."""
    return len(_function(decision, _names([decision])[0]))


def _names(decisions: Sequence[DecisionFunction]) -> list[str]:
    if not decisions:
        raise ExportError("there is no decision function to export")
    names = [f"colltune_{identifier(decision.collective)}" for decision in decisions]
    external = [*names, *(f"{name}_methods" for name in names)]
    for name in external:
        if external.count(name) > 1:
            found = ", ".join(repr(decision.collective) for decision in decisions)
            raise ExportError(f"two decision functions would define {name} in C ({found}); export them to two files")
    return names


def _head(
    decisions: Sequence[DecisionFunction], names: Sequence[str], provenance: Mapping[str, Any] | None
) -> list[str]:
    collectives = ", ".join(decision.collective for decision in decisions)
    declarations = [
        text
        for name in names
        for text in (f"{_SIGNATURE.format(name=name)};", f"extern const char *const {name}_methods[];")
    ]
    first = names[0]
    answers = f"the index of each of {collectives}" if names[1:] else "the index"
    use = (
        f"{first}(comm_size, message_size) returns the index of the method to use, {first}_methods[index] is its name. "
        "comm_size is the number of processes, message_size is in bytes; what it counts is said at each function. "
        "Sizes beyond the measured ones take the decision of the nearest measured size."
    )
    test = (
        "Self-test: compiled with -DCOLLTUNE_MAIN, this is a program that reads pairs 'comm_size message_size' from "
        f"its standard input and prints for each pair a line with {answers}."
    )
    text = [
        f"Decision functions of MPI collectives: {collectives}.",
        f"Generated by {origin.generator(provenance)}. Do not edit: generate it again.",
        "",
        "Compile this file with the program (C99, nothing else is needed) and declare there",
        *(f"    {line}" for line in declarations),
        "",
        use,
        "",
        test,
    ]
    return [*comment(text, hanging=""), "", *declarations]


def _methods(decision: DecisionFunction, name: str) -> list[str]:
    entries = [f"{string(method.label)}," for method in decision.methods]
    width = max(map(len, entries))
    lines = [f"const char *const {name}_methods[] = {{"]
    for index, (entry, method) in enumerate(zip(entries, decision.methods, strict=True)):
        lines.append(f"    {entry:{width}} /* {index}: {comment_text(_parameters(method))} */")
    return [*lines, "};"]


def _parameters(method: Method) -> str:
    segments = f"segment size {method.segment_size} bytes" if method.segment_size else "no segments"
    further = [f"{name.replace('_', ' ')} {value}" for name, value in method.parameters.items()]
    return ", ".join([f"algorithm {method.algorithm}", segments, *further])


def _function(decision: DecisionFunction, name: str) -> list[str]:
    body, tested = _body(decision)
    sources = {"comm_size", "message_size"} & tested
    sources |= {
        parameter for parameter in _PARAMETERS for made in _DERIVED if made in tested and parameter in _DERIVED[made]
    }
    top = [f"    {text}" for attribute, text in _DERIVED.items() if attribute in tested]
    top += [f"    (void){parameter};" for parameter in _PARAMETERS if parameter not in sources]
    return [_SIGNATURE.format(name=name), "{", *top, *([""] if top else []), *body, "}"]


def _body(decision: DecisionFunction) -> tuple[list[str], set[str]]:
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
    return lines, tested


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
    largest = _LARGEST.get(test.attribute)
    if largest is None:
        possible = ", ".join(_LARGEST)
        raise ExportError(
            f"the decision tests {test.attribute!r}, which a C function of comm_size and message_size cannot know; "
            f"possible are {possible}"
        )
    if test.cut >= largest:
        return True
    return False if test.cut < -largest - 1 else None


def _main(names: Sequence[str]) -> str:
    prints = [
        f'printf("%d{end}", {name}(comm_size, message_size));'
        for name, end in zip(names, [*[" "] * (len(names) - 1), "\\n"], strict=True)
    ]
    return _MAIN.replace("PRINTS", "\n        ".join(prints))


def _write(decisions: Sequence[DecisionFunction], provenance: Mapping[str, Any] | None = None) -> str:
    return to_c(decisions, provenance=provenance)


TARGET = Target("c", "C source (nested ifs)", ".c", _write)
