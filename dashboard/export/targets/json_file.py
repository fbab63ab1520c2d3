"""Decision functions as JSON: the saved form that `DecisionFunction.from_json` reads again."""

import json
from collections.abc import Sequence

from dashboard.decisions import DecisionFunction
from dashboard.export import holds, usage
from dashboard.export.target import ExportError, Facts, Target


def to_json(decisions: Sequence[DecisionFunction], provenance: Facts = None) -> str:
    """Write decision functions as strict JSON; what is known of their origin is saved within each.

    Returns
    -------
    str
        One decision function gives exactly its saved form; several give a list of them.

    Raises
    ------
    ExportError
        There is no decision function.
    """
    del provenance
    if not decisions:
        raise ExportError("there is no decision function to export")
    saved = [decision.to_dict() for decision in decisions]
    return json.dumps(saved[0] if len(saved) == 1 else saved, allow_nan=False, indent=1) + "\n"


TARGET = Target("json", "JSON (saved decision function)", ".json", to_json, use=usage.SAVED, says=holds.ALL)
