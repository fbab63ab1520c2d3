"""Campaigns on the real MPI, made, run and read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign, key_of
from dashboard.benchmarks.campaigns.protocol import Protocol
from dashboard.benchmarks.campaigns.wish import Wish, make_plan
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Method
from tests.files import run_file

RANKS, SIZE = 4, 4096
PATIENCE_S = 100.0
QUICK = Protocol(min_repetitions=3, max_repetitions=6, rounds=3, warm_up=1)


def campaign_of(folder: Path, installation: Installation, **wish: Any) -> Campaign:
    """Plan a campaign on four ranks at 4 KiB, where nothing else is wished."""
    given: dict[str, Any] = {"ranks": RANKS, "protocol": QUICK, "comm_sizes": (RANKS,), "message_sizes": (SIZE,)}
    # The check has tests of its own; each campaign would wait some seconds for it.
    given["checked"] = False
    return Campaign.create(folder, make_plan(Wish(**{**given, **wish}), installation))


def run(campaign: Campaign, installation: Installation, seconds: float = PATIENCE_S) -> dict[str, Any]:
    """Run it to its end; its status."""
    launcher = LocalLauncher((str(installation.mpiexec),))
    control.start(campaign, launcher, installation, seconds)
    return control.wait(campaign, launcher, 0.05)


def points(campaign: Campaign) -> list[dict[str, Any]]:
    """Points as they stand in the run file, without those that were measured again: a busy machine may need it."""
    records: list[dict[str, Any]] = []
    for line in campaign.results.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if "again" in record:
            records = [other for other in records if key_of(other) != key_of(record)]
        records += [record] if "colltune_run" not in record else []
    return records


def prints(program: Path, text: str, encoding: str = "utf-8") -> Path:
    """Make a program that prints a text, whatever it is asked."""
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}END\n", encoding=encoding)
    program.chmod(0o755)
    return program


def record(method: Method, comm_size: int, message_size: int, *samples: float, **further: Any) -> dict[str, Any]:
    """A point as a run file takes it, of a broadcast where nothing else is said; without `samples` not timed."""
    point = {"collective": "bcast", **method.to_json(), "comm_size": comm_size, "message_size": message_size}
    return {**point, **({"samples": list(samples)} if samples else {}), **further}


def write(results: Path, *records: Mapping[str, Any], **attrs: Any) -> Path:
    """Append points to a run file, as a campaign of colltune where nothing else is said."""
    return run_file(results, *records, **(attrs or {"benchmark": "colltune bench, test"}))


def double(node: Any, method: str, comm_size: int, size: int) -> str | None:
    """Which method another one ran as."""
    cube = node.to_dataset()
    if "double_of" not in cube:
        return None
    place = [str(label) for label in cube["method"].values].index(method)
    number = int(cube["double_of"].isel(method=place).sel(comm_size=comm_size, message_size=size))
    return None if number < 0 else str(cube["double_of"].attrs["methods"][number])
