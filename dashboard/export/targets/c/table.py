"""Decision functions as C source: constant tables and a search without branches.

The values of each tested attribute are cut into the intervals between the tree's cuts; a table has the method for each
combination of intervals. The search (`dashboard.export.targets.c.search`) counts the cuts below a value in a fixed
number of steps, none of which jumps: a decision takes the same time for all sizes, and no processor guesses wrong.
"""

from collections.abc import Mapping

import numpy as np

from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.attributes import ATTRIBUTES
from dashboard.domain.arrays import IntArray
from dashboard.export import usage
from dashboard.export.target import Decisions, ExportError, Facts, Target
from dashboard.export.targets.c.file import function, source
from dashboard.export.targets.c.search import array, largest, search
from dashboard.export.targets.c.text import comment

MOST_CELLS = 1 << 20
"""Of one table; larger ones would be megabytes of source."""


def to_c_table(decisions: Decisions, *, provenance: Facts = None) -> str:
    """Write decision functions as one file of C99 with tables.

    Names, signatures, comments and self-test are those of `dashboard.export.targets.c.nested.to_c`, so are the
    parameters and the answers.

    Raises
    ------
    ExportError
        As there, and where a tree of many attributes would make a table of more than `MOST_CELLS` cells.
    """
    return source(decisions, provenance, definition)


def definition(decision: DecisionFunction, name: str) -> list[str]:
    """Lines that define the tables of a decision function, and the function of a name."""
    axes, table = _table(decision)
    if not axes:
        return function(decision, name, (), [f"    return {int(table.ravel()[0])};"])
    lines = comment([f"The methods for {_intervals(axes)}, and tables that tell the interval of a value."], hanging="")
    body: list[str] = []
    for axis, cuts in axes.items():
        tables, statements = search(axis, name, cuts)
        lines += tables
        body += statements
    kind = "unsigned char" if len(decision.methods) <= 1 << 8 else "int"
    lines += array(kind, f"{name}_table", table.ravel())
    body += ["", f"    return {name}_table[{_place(axes)}];"]
    return [*lines, "", *function(decision, name, tuple(axes), body)]


def _intervals(axes: Mapping[str, IntArray]) -> str:
    return " x ".join(f"{cuts.size + 1} intervals of {axis}" for axis, cuts in axes.items())


def _place(axes: Mapping[str, IntArray]) -> str:
    """C expression of the place in the table, the last attribute running fastest."""
    first, *others = axes
    place = f"{first}_at"
    for axis in others:
        place = f"{place if place == f'{first}_at' else f'({place})'} * {axes[axis].size + 1} + {axis}_at"
    return place


def _table(decision: DecisionFunction) -> tuple[dict[str, IntArray], IntArray]:
    """The cuts on each attribute that is tested, ascending, and the method for each combination of intervals."""
    tree = decision.simplified().tree
    axes = {}
    for name in (name for name in ATTRIBUTES if name in tree.attributes):
        cuts = tree.cuts_on(name)
        possible = (cuts < largest(name)) & (cuts >= -largest(name) - 1)
        if possible.any():
            axes[name] = cuts[possible]
    shape = [cuts.size + 1 for cuts in axes.values()]
    if np.prod(shape, dtype=np.float64) > MOST_CELLS:
        raise ExportError(
            f"{decision.collective}: a table of {_intervals(axes)} would have more than {MOST_CELLS} cells; "
            "write nested ifs (target c), or decide by fewer attributes or with fewer leaves"
        )
    if tree.codes.size == 1:
        return {}, tree.codes.astype(np.int64)
    # Any value of an interval stands for it: its cut, or what comes after the last one.
    values = dict(zip(axes, np.meshgrid(*[np.append(c, c[-1] + 1) for c in axes.values()], indexing="ij"), strict=True))
    nothing = np.zeros(shape, dtype=np.int64)
    places = tree.walk([values.get(name, nothing).ravel() for name in tree.attributes])
    return axes, tree.codes[places].astype(np.int64).reshape(shape)


TARGET = Target("c-table", "C source (tables)", ".c", to_c_table, use=usage.C_SOURCE)
