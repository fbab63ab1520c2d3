"""All that belongs to a written file: a report, where it comes from, how it is used; packed."""

import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from dashboard.decisions.judged.penalty import PenaltySummary
from dashboard.domain.units import format_count
from dashboard.export import TARGETS
from dashboard.export import provenance as origin
from dashboard.export.targets.openmpi.nodes import HAN_FILE, parted
from dashboard.export.usage import han_name, used_in_text
from dashboard.export.writing import Part, Written

_EPOCH = (1980, 1, 1, 0, 0, 0)


def report(written: Written) -> str:
    """Write what is known of a file as plain text."""
    order = written.order
    target = TARGETS[order.target]
    version = f", for Open MPI {order.version}" if "version" in target.options else ""
    lines = [f"{written.name}: {target.title}{version}", f"Written by {origin.generator(order.provenance)}.", ""]
    for part in written.parts:
        lines += [f"{part.source.collective}", *(f"  {line}" for line in _part_lines(part)), ""]
    lines += [f"{name}: left out. {why}" for name, why in written.left_out.items()]
    if target.readable:
        lines += ["Check of the written file:", *(f"  {fault}" for fault in written.faults)]
        lines += [] if written.faults else ["  nothing found"]
        lines.append("")
    lines += ["How to use it", "", used_in_text(target.steps(written.name, written.ruled))]
    return "\n".join(lines)


def _part_lines(part: Part) -> Iterator[str]:
    yield from origin.describe(part.source)
    for title, cost in (("as decided", part.before), ("as the file says it", part.after)):
        if cost is not None:
            rest = f", {format_count(cost.unmeasured, 'cell')} not measured" if cost.unmeasured else ""
            yield f"Penalty {title}: mean {cost.mean:.4g} %, median {cost.median:.4g} %, max {cost.max:.4g} %{rest}."
    if part.read is not None and part.cells:
        cells = format_count(part.cells, "measured cell")
        yield f"Read back, the file decides {part.cells - part.otherwise:,} of {cells} as decided."
    for note in part.notes:
        yield f"Not as decided: {note}"


def provenance_of(written: Written) -> dict[str, Any]:
    """What a file comes from, as JSON takes it."""
    order = written.order
    return {
        "format": "colltune export",
        "generator": origin.generator(order.provenance),
        "file": written.name,
        "target": order.target,
        "version": order.version if "version" in TARGETS[order.target].options else None,
        "most_rules": order.most_rules,
        "collectives": {
            part.source.collective: {
                "tree": part.source.kind,
                "options": part.source.options,
                "data": part.source.provenance,
                "penalty": _figures(part.before),
                "penalty_of_the_file": _figures(part.after),
                "cells": part.cells,
                "cells_decided_otherwise": part.otherwise if part.read is not None else None,
                "not_as_decided": list(part.notes),
            }
            for part in written.parts
        },
        "left_out": dict(written.left_out),
        "faults": [fault.to_dict() for fault in written.faults],
    }


def _figures(summary: PenaltySummary | None) -> dict[str, Any] | None:
    return None if summary is None else summary.to_dict("min", "max", "mean", "median", "unmeasured", "cells")


def files_of(name: str, text: str) -> list[tuple[str, str]]:
    """Name and text of each file that an export is: rules across nodes are two, of which the first names the second."""
    try:
        first, second = parted(text)
    except ValueError:
        return [(name, text)]
    han = han_name(name)
    # As a string of JSON it can stand in a comment, too.
    return [(name, first.replace(HAN_FILE, json.dumps(PurePath(han).name)[1:-1])), (han, second)]


def bundle(written: Written, further: Sequence[tuple[str, str]] = ()) -> bytes:
    """Pack a file with how to use it, its provenance, its decision functions and a report, as a zip archive.

    Parameters
    ----------
    further
        Name and text of whatever else is to be in it.
    """
    steps = used_in_text(TARGETS[written.order.target].steps(written.name, written.ruled))
    decisions = [part.source.to_dict() for part in written.parts]
    files = [
        *files_of(written.name, written.text),
        ("HOW_TO_USE.txt", steps),
        ("REPORT.txt", report(written)),
        ("provenance.json", json.dumps(provenance_of(written), indent=1, default=str) + "\n"),
        ("decisions.json", json.dumps(decisions, indent=1, allow_nan=False) + "\n"),
        *further,
    ]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files:
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), text.encode(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()
