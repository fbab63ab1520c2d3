"""The header of an exported C file, for programs that would rather include it than declare the functions."""

from dashboard.export import provenance as origin
from dashboard.export.parts import per_collective
from dashboard.export.target import Decisions, Facts
from dashboard.export.targets.c.file import declarations_of, names_of
from dashboard.export.targets.c.text import comment


def to_header(decisions: Decisions, *, provenance: Facts = None) -> str:
    """Write the header of what `to_c`, or `to_c_table`, writes.

    It declares the functions and the tables of methods, and defines ``COLLTUNE_BCAST_METHODS``, the number of
    methods, and so for each collective. C++ can include it. Parameters and errors are those of `to_c`.
    """
    parts = per_collective(decisions)
    names = names_of(parts)
    collectives = ", ".join(part.collective for part in parts)
    guard = f"{'_'.join(name.upper() for name in names)}_H"
    preamble = [
        f"Decision functions of MPI collectives: {collectives}.",
        origin.generated(provenance),
        "",
        (
            f"{names[0]}(comm_size, message_size) returns the index of the method to use in {names[0]}_methods; "
            "message_size is in bytes, what it counts is said in the C file."
        ),
    ]
    lines = [*comment(preamble, hanging=""), f"#ifndef {guard}", f"#define {guard}", ""]
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for part, name in zip(parts, names, strict=True):
        lines += [f"#define {name.upper()}_METHODS {len(part.methods)}", *declarations_of(part, name), ""]
    lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif"]
    return "\n".join(lines) + "\n"
