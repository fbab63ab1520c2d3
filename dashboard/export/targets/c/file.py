"""What every generated C file has: its head, its tables of methods, its signatures and its self-test."""

from collections.abc import Callable, Iterable, Sequence

from dashboard.decisions import DecisionFunction, Method
from dashboard.decisions.function.attributes import ATTRIBUTES, Attribute
from dashboard.export import provenance as origin
from dashboard.export.parts import per_collective, usual_ppn
from dashboard.export.target import Decisions, ExportError, Facts
from dashboard.export.targets.c.search import OCTAVE
from dashboard.export.targets.c.text import INT_MAX, comment, comment_text, identifier, integer, string

_SIGNATURE = "int {name}(int comm_size, long long message_size)"
_SIGNATURE_PPN = "int {name}_ppn(int comm_size, long long message_size, int ppn)"
_PPN_USE = (
    "The functions that end in _ppn take the processes per node as well; the plain names beside them decide as at the "
    "number that is said there. Call those that end in _ppn where the number is known."
)
_PARAMETERS = ("comm_size", "message_size", "ppn")
_PRODUCT = """\
/* count * size, or the nearest long long where the product has no room in one. */
static long long colltune_product(int count, long long size)
{
    if (count > 0 && size > LLONG_MAX / count) {
        return LLONG_MAX;
    }
    if (count > 0 && size < LLONG_MIN / count) {
        return LLONG_MIN;
    }
    if (count < 0 && size < LLONG_MAX / count) {
        return LLONG_MAX;
    }
    if (count < -1 && size > LLONG_MIN / count) {
        return LLONG_MIN;
    }
    return count * size;
}"""
_HELPERS = {"colltune_product": ("<limits.h>", _PRODUCT), "colltune_octave": ("<float.h>", OCTAVE)}
_MAIN = """\
#ifdef COLLTUNE_MAIN
#include <stdio.h>

int main(void)
{
    int comm_size;
    long long message_size;
    DECLARATION
    int fields;

    while ((fields = scanf(FORMAT)) == COUNT) {
        PRINTS
    }
    return fields == EOF ? 0 : 1;
}
#endif"""


def source(decisions: Decisions, provenance: Facts, define: Callable[[DecisionFunction, str], list[str]]) -> str:
    """Write a whole file, as `dashboard.export.targets.c.nested.to_c` does.

    ``define(decision, name)`` gives lines that define the function ``name`` (by `function`) and what it reads.
    """
    all_of_them = per_collective(decisions)
    names = names_of(all_of_them)
    functions = [define(decision, name) for decision, name in zip(all_of_them, names, strict=True)]
    lines = _head(all_of_them, names, provenance)
    headers, helpers = helpers_of(line for function in functions for line in function)
    includes = [f"#include {header}" for header in headers]
    lines = [*includes, *([""] if includes else []), *lines]
    lines += [line for code in helpers for line in ("", code)]
    for decision, name, function in zip(all_of_them, names, functions, strict=True):
        lines += ["", *comment([decision.collective, "", *origin.describe(decision, provenance)])]
        lines += [*_methods(decision, name), "", *function, *_without_ppn(decision, name)]
    lines += ["", _main(all_of_them, names)]
    return "\n".join(lines) + "\n"


def helpers_of(lines: Iterable[str]) -> tuple[list[str], list[str]]:
    """Headers, and definitions of functions, that lines of C made by `function` need."""
    text = "\n".join(lines)
    needed = [helper for called, helper in _HELPERS.items() if f"{called}(" in text]
    return [header for header, _ in needed], [code for _, code in needed]


def names_of(decisions: Sequence[DecisionFunction]) -> list[str]:
    """Names of the functions, or `ExportError` where two would be the same."""
    names = [f"colltune_{identifier(decision.collective)}" for decision in decisions]
    external = [*names, *(f"{name}_methods" for name in names)]
    external += [f"{name}_ppn" for decision, name in zip(decisions, names, strict=True) if "ppn" in decision.needs]
    for name in external:
        if external.count(name) > 1:
            collectives = ", ".join(repr(decision.collective) for decision in decisions)
            raise ExportError(
                f"two decision functions would define {name} in C ({collectives}); export them to two files"
            )
    return names


def _head(decisions: Sequence[DecisionFunction], names: Sequence[str], provenance: Facts) -> list[str]:
    collectives = ", ".join(decision.collective for decision in decisions)
    needs = ["ppn" in decision.needs for decision in decisions]
    declarations: list[str] = []
    for decision, name in zip(decisions, names, strict=True):
        declarations += declarations_of(decision, name)
    answers = f"the index of each of {collectives}" if names[1:] else "the index"
    asked = "triples 'comm_size message_size ppn'" if any(needs) else "pairs 'comm_size message_size'"
    test = (
        f"Self-test: compiled with -DCOLLTUNE_MAIN, this is a program that reads {asked} from "
        f"its standard input and prints for each of them a line with {answers}."
    )
    text = [
        f"Decision functions of MPI collectives: {collectives}.",
        origin.generated(provenance),
        "",
        "Compile this file with the program (C99, nothing else is needed) and declare there",
        *(f"    {line}" for line in declarations),
        "",
        origin.how_to_ask(names[0]),
        *([_PPN_USE] if any(needs) else []),
        "",
        test,
    ]
    return [*comment(text, hanging=""), "", *declarations]


def declarations_of(decision: DecisionFunction, name: str) -> list[str]:
    """Lines that declare everything external of one collective."""
    with_ppn = [f"{_SIGNATURE_PPN.format(name=name)};"] if "ppn" in decision.needs else []
    return [f"{_SIGNATURE.format(name=name)};", *with_ppn, f"extern const char *const {name}_methods[];"]


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


def function(decision: DecisionFunction, name: str, tested: Sequence[str], body: Sequence[str]) -> list[str]:
    """Lines of the function that decides: signature, derived attributes that are `tested`, indented `body`."""
    derived = [ATTRIBUTES[attribute] for attribute in tested if ATTRIBUTES[attribute].base]
    used = set(tested).union(*(attribute.base for attribute in derived))
    with_ppn = "ppn" in decision.needs
    top = [f"    {_derived(attribute)}" for attribute in derived]
    top += [f"    (void){name};" for name in _PARAMETERS[: 3 if with_ppn else 2] if name not in used]
    signature = (_SIGNATURE_PPN if with_ppn else _SIGNATURE).format(name=name)
    return [signature, "{", *top, *([""] if top else []), *body, "}"]


def _derived(attribute: Attribute) -> str:
    """Computes it once, at the top of a function."""
    kind = "long long" if attribute.wide else "int"
    return f"const {kind} {attribute.name} = {attribute.c.replace('product(', 'colltune_product(')};"


def _why_ppn(decision: DecisionFunction) -> str:
    """Why callers that do not know the processes per node are answered as at those of `usual_ppn`."""
    known = decision.provenance
    if known.get("ppn"):
        return "that of most timings" if known.get("learnt") == "online" else "which it was decided for"
    return "the largest that was measured" if known.get("ppns") else "nothing tells which were measured"


def _without_ppn(decision: DecisionFunction, name: str) -> list[str]:
    """The function of the plain name, where another one decides."""
    if "ppn" not in decision.needs:
        return []
    ppn = usual_ppn(decision)
    return [
        "",
        *comment([f"For callers that do not know the processes per node: {ppn}, {_why_ppn(decision)}."], hanging=""),
        _SIGNATURE.format(name=name),
        "{",
        f"    return {name}_ppn(comm_size, message_size, {integer(min(ppn, INT_MAX))});",
        "}",
    ]


def _main(decisions: Sequence[DecisionFunction], names: Sequence[str]) -> str:
    needs = ["ppn" in decision.needs for decision in decisions]
    calls = [
        f"{name}_ppn(comm_size, message_size, ppn)" if with_ppn else f"{name}(comm_size, message_size)"
        for name, with_ppn in zip(names, needs, strict=True)
    ]
    ends = [*[" "] * (len(names) - 1), "\\n"]
    prints = [f'printf("%d{end}", {call});' for call, end in zip(calls, ends, strict=True)]
    scanned = '"%d %lld %d", &comm_size, &message_size, &ppn' if any(needs) else '"%d %lld", &comm_size, &message_size'
    text = _MAIN.replace("FORMAT", scanned).replace("COUNT", "3" if any(needs) else "2")
    text = text.replace("    DECLARATION\n", "    int ppn;\n" if any(needs) else "")
    return text.replace("PRINTS", "\n        ".join(prints))
