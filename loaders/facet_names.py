"""Names of the facets, in what files that measured the same collective differ; light enough for a command's help."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

#: Facets by name, with the attribute of a file that tells each.
FACETS: Mapping[str, str] = {
    "system": "system",
    "network": "network",
    "library": "library",
    "version": "library_version",
    "device": "device",
    "placement": "placement",
    "operation": "operation",
    "datatype": "element_type",
    "campaign": "campaign",
}
#: Columns of a table that tell a facet row by row.
ROW_FACETS = tuple(FACETS.values())
#: Attribute, no facet: JSON of the values of attributes that are not the same at all processes per node, by these.
BY_PPN = "by_ppn"
#: Attribute, no facet, that tells how the points of a run were chosen: one after the other, by what those before had
#: told; or of other results, some since their times cannot be trusted, so that the run's own stand for them.
POINTS, ADAPTIVE, ANEW = "points", "adaptive", "anew"
#: Attribute, no facet: points that are doubtful by themselves, as a JSON list: ``collective, method, comm_size,
#: message_size``, ``ppn`` where told, and ``reason``.
DOUBTFUL = "doubtful_times"
#: Attribute, no facet: what launches of a run differ by (`loaders.launches.spreads`), as a JSON list.
LAUNCHES = "launches_differ"
#: Of several files they are one list; of each what its entries tell.
LISTS: Mapping[str, Sequence[str]] = {
    DOUBTFUL: ("collective", "method", "comm_size", "message_size", "reason"),
    LAUNCHES: ("collective", "deviation", "freedom", "launches"),
}
#: Attributes of results and of cubes that are JSON, none of them a facet: what files gave, remarks, processes per node.
OF_RESULTS, OF_CUBES = ("sources", "notes", "notes_when_made"), ("sources", BY_PPN, "ppn", *LISTS)
#: Attributes of cubes that tell how facets were chosen and put together, as `loaders.facets.Choice` reads them.
CHOSEN = ("selected", "joined")
_ENTRIES = {**LISTS, "sources": ("path",)}
_WORDS, _MAY_BE_0 = ("collective", "method", "reason", "path"), ("message_size", "deviation", "ppn")


def listed(attrs: Mapping[Any, Any], name: str) -> list[dict[str, Any]]:
    """One of `LISTS`, or ``sources``, of a file or a cube; empty where it has none.

    Raises
    ------
    ValueError
        It is something else.
    """
    # Saved by an earlier version, several files' lists stand one after the other.
    records = json.loads(str(attrs.get(name, "[]")).replace("]; [", ", "))
    if not isinstance(records, list) or not all(_is_entry(each, _ENTRIES[name]) for each in records):
        raise ValueError(f"expected a list of {', '.join(_ENTRIES[name])}")
    return records


def check(attrs: Mapping[Any, Any], name: str) -> None:
    """Raise ValueError where one of `OF_RESULTS` or `OF_CUBES` is something else than it should be."""
    if name in _ENTRIES:
        listed(attrs, name)
        return
    if name == "ppn":
        if not str(attrs.get(name, 1)).isdecimal():
            raise ValueError("expected a whole number")
        return
    outer, inner = (dict, dict) if name == BY_PPN else (list, str)
    value = json.loads(str(attrs.get(name, outer())))
    entries = value.values() if isinstance(value, dict) else value
    if not isinstance(value, outer) or not all(isinstance(each, inner) for each in entries):
        raise ValueError(f"expected JSON, a {outer.__name__} of {inner.__name__}")


def _is_entry(record: Any, names: Sequence[str]) -> bool:
    if not isinstance(record, dict):
        return False
    return all(_is_right(name, record.get(name)) for name in (*names, *(["ppn"] if "ppn" in record else [])))


def _is_right(name: str, value: Any) -> bool:
    if name in _WORDS:
        return isinstance(value, str)
    return isinstance(value, int | float) and 0 <= value < math.inf and (value > 0 or name in _MAY_BE_0)
