"""Facets that are not the same at all processes per node of a cube, such as a device used with more of them only."""

import json
from collections.abc import Mapping

from loaders.choosing import on_nodes
from loaders.facet_names import BY_PPN, FACETS
from loaders.facets import NOT_TOLD, OF_ROWS, Told
from loaders.rows import CollectiveRows

#: Values by processes per node, by facet.
ByPpn = Mapping[str, Mapping[int, str]]


def by_ppn(rows: CollectiveRows, files: Mapping[int, Told]) -> ByPpn:
    """What rows tell at each number of processes per node, of the facets that are not the same at all of them.

    Parameters
    ----------
    rows
        What is kept of a collective.
    files
        Facets of each file that is kept, by its place.
    """
    used = on_nodes(rows)
    numbers = sorted(set().union(*used.values()))
    differing = {}
    for name in OF_ROWS:
        values: dict[int, str] = {}
        for ppn in numbers:
            here = [files[place].get(name) for place in files if ppn in used.get(place, ())]
            values[ppn] = "; ".join(dict.fromkeys(value for value in here if value)) or NOT_TOLD
        if len(set(values.values()) - {NOT_TOLD}) > 1:
            differing[name] = values
    return differing


def notes(collective: str, differing: ByPpn) -> list[str]:
    """Remarks on facets that are not the same at all processes per node."""
    remarks = []
    for name, values in differing.items():
        groups: dict[str, list[int]] = {}
        for ppn, value in values.items():
            groups.setdefault(value, []).append(ppn)
        # Remarks are put together with semicolons.
        parts = [f"{value.replace('; ', ' and ')} at {', '.join(map(str, ppns))}" for value, ppns in groups.items()]
        parts[0] += " process per node" if next(iter(groups.values())) == [1] else " processes per node"
        remarks.append(f"{collective}: {name} is {', '.join(parts[:-1])} and {parts[-1]}")
    return remarks


def attributes(differing: ByPpn) -> dict[str, str]:
    """What a cube keeps of them: JSON of the values by processes per node, by attribute."""
    return {BY_PPN: json.dumps({FACETS[name]: values for name, values in differing.items()})} if differing else {}
