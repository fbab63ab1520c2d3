"""Names of the facets, in what files that measured the same collective differ; light enough for a command's help."""

import json
from collections.abc import Mapping
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
#: Of several files they are one list.
LISTS = (DOUBTFUL, LAUNCHES)


def listed(attrs: Mapping[Any, Any], name: str) -> list[dict[str, Any]]:
    """One of `LISTS` of a file or a cube; empty where it has none."""
    # Saved by an earlier version, several files' lists stand one after the other.
    records: list[dict[str, Any]] = json.loads(str(attrs.get(name, "[]")).replace("]; [", ", "))
    return records
