"""A program that checks an exported C file: its decisions at every border against a table.

The table is computed by the decision function itself, not by what was generated, so that a fault of the generator, of
the compiler or of a hand that edited the file shows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE, PPN
from dashboard.decisions.function.flat import FlatTree
from dashboard.domain.arrays import IntArray
from dashboard.export import provenance as origin
from dashboard.export.parts import per_collective
from dashboard.export.target import Decisions, Facts
from dashboard.export.targets.c.file import declarations_of, names_of
from dashboard.export.targets.c.text import INT_MAX, LLONG_MAX, comment, integer

MOST_ROWS = 1 << 14
"""Of one table; beyond, rows are left out evenly."""
_MAIN = """\
int main(void)
{
    int wrong = 0;

CALLS
    if (wrong > 0) {
        fprintf(stderr, "%d of TOTAL decisions are wrong\\n", wrong);
        return 1;
    }
    puts("ok: TOTAL decisions at the borders are as they were made");
    return 0;
}"""
_CHECK = """\
static int check_NAME(void)
{
    const int rows = (int)(sizeof NAME_rows / sizeof *NAME_rows);
    int wrong = 0, place;

    for (place = 0; place < rows; place++) {
        const struct NAME_row *row = &NAME_rows[place];
        const int method = CALL;

        if (method != row->method) {
            fprintf(stderr, "NAME(FORMAT) is %d, expected %d\\n", VALUES, method, row->method);
            wrong++;
        }
    }
    return wrong;
}"""


def to_selftest(decisions: Decisions, *, provenance: Facts = None, file: str = "THE_C_FILE") -> str:
    """Write the program; compiled with the exported C file it returns 0 where all is right, else 1.

    Parameters and errors are those of `to_c`; `file` is the name of the exported file, for the build line.
    """
    parts = per_collective(decisions)
    names = names_of(parts)
    tables = [_rows(part) for part in parts]
    total = sum(len(table[0]) for table in tables)
    preamble = [
        f"Self-test of {file}: {total} decisions next to every border, and at the ends of the types.",
        origin.generated(provenance),
        "",
        "Build and run; it returns 0 where all decisions are as they were made, else 1:",
        f"    cc -std=c99 -o self_test THIS_FILE {file} && ./self_test",
    ]
    lines = [*comment(preamble, hanging=""), "#include <stdio.h>", ""]
    for part, name in zip(parts, names, strict=True):
        # The table of methods is not looked at, and may be left out by who links another decision.
        lines += [line for line in declarations_of(part, name) if not line.startswith("extern")]
    for name, table in zip(names, tables, strict=True):
        lines += ["", *_table(name, table)]
    calls = "\n".join(f"    wrong += check_{name}();" for name in names)
    return "\n".join([*lines, "", _MAIN.replace("CALLS", calls).replace("TOTAL", str(total))]) + "\n"


def _rows(decision: DecisionFunction) -> tuple[IntArray, ...]:
    """Sizes next to every cut of every attribute, with the method: columns of the table."""
    with_ppn = PPN in decision.needs
    comm, message, ppn = borders(decision.tree)
    columns = [column.ravel() for column in np.meshgrid(comm, message, ppn if with_ppn else [1], indexing="ij")]
    if columns[0].size > MOST_ROWS:
        kept = np.unique(np.linspace(0, columns[0].size - 1, MOST_ROWS).astype(np.int64))
        columns = [column[kept] for column in columns]
    given = {PPN: columns[2]} if with_ppn else {}
    method = decision.predict(columns[0], columns[1], **given)
    return (*columns[: 3 if with_ppn else 2], method)


def borders(tree: FlatTree) -> tuple[IntArray, IntArray, IntArray]:
    """Communicator sizes, message sizes and processes per node on both sides of every cut, and the largest ones.

    Where a product is tested the message size is chosen so that the product is next to the cut, for each of the
    communicator sizes.
    """
    cuts = {name: tree.cuts_on(name) for name in tree.attributes}
    ppn = _near([cuts.get(PPN, ())], 1, INT_MAX)
    comm = _near(
        [cuts.get(COMM_SIZE, ()), *([range(1, 10)] if {"even", "power_of_two"} & set(cuts) else [])], 1, INT_MAX
    )
    if "nodes" in cuts:
        comm = _near([comm, *(cut * ppn[:-1] for cut in cuts["nodes"])], 1, INT_MAX)
    products = [cut // each for cut in cuts.get("total_size", ()) for each in comm.tolist()]
    products += [cut // each for cut in cuts.get("data_per_node", ()) for each in ppn.tolist()]
    message = _near([cuts.get(MESSAGE_SIZE, ()), products], 0, LLONG_MAX)
    return comm, message, ppn


def _near(cuts: Sequence[Any], low: int, high: int) -> IntArray:
    """Each cut and what comes after it, within the range, with both of its ends."""
    points = np.concatenate([np.asarray(values, dtype=np.int64) for values in cuts])
    points = np.concatenate([[low, high], points, points + 1])
    return np.unique(points[(low <= points) & (points <= high)])


def _table(name: str, columns: tuple[IntArray, ...]) -> list[str]:
    with_ppn = len(columns) > 3
    members = ["int comm_size;", "long long message_size;", *(["int ppn;"] if with_ppn else []), "int method;"]
    rows = [f"    {{{', '.join(map(integer, row))}}}," for row in zip(*(c.tolist() for c in columns), strict=True)]
    fields = ["row->comm_size", "row->message_size", *(["row->ppn"] if with_ppn else [])]
    said = {
        "CALL": f"{name}{'_ppn' if with_ppn else ''}({', '.join(fields)})",
        "FORMAT": "%d, %lld" + (", %d" if with_ppn else ""),
        "VALUES": ", ".join(fields),
        "NAME": name,
    }
    text = _CHECK
    for word, meant in said.items():
        text = text.replace(word, meant)
    head = [f"struct {name}_row {{", *(f"    {member}" for member in members), "};", ""]
    return [*head, f"static const struct {name}_row {name}_rows[] = {{", *rows, "};", "", *text.splitlines()]
