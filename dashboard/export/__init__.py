"""Decision functions out of the program: one module per target, each a pure function to text."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.export import c, decision_json
from dashboard.export.c import source_lines, to_c
from dashboard.export.decision_json import to_json
from dashboard.export.target import ExportError, Target

#: What a decision function can be written as, by the name that ``colltune export --to`` takes.
TARGETS: Mapping[str, Target] = {target.name: target for target in (c.TARGET, decision_json.TARGET)}

__all__ = ["TARGETS", "ExportError", "Target", "source_lines", "to_c", "to_json"]
