"""``colltune tune`` over an emulated Fast Ethernet under a real Slurm, by hand, beside a full campaign.

Run from the checkout as root, with an Open MPI in the environment, on a quiet machine (about 20 minutes)::

    python -m tests.cluster.tuned FOLDER --nodes 16
    python -m tests.cluster.tuned FOLDER --nodes 4 --ppn 2

FOLDER then holds ``tuned``, the folder of the tuning, ``full``, the campaign, and ``judged.json``: for each collective
the mean time saved over the library's own decision by the rules that the tuning ended with and by the best of
the full campaign, both on half of its repetitions, the best being chosen on the other half; and both core-seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from dashboard.benchmarks.proof.target import left_to_library
from dashboard.decisions import DecisionFunction
from dashboard.decisions.grown.default import default_of
from dashboard.decisions.measured.map import methods_of
from dashboard.export.components import HAN, named
from dashboard.export.rules.over import fitted
from dashboard.tuning import Folder
from dashboard.tuning.beside import rules_of
from loaders import disk, open_results
from tests.cluster.campaign import run_colltune
from tests.cluster.scheduler import ENVIRONMENT, emulated

COLLECTIVES = "bcast,reduce,allreduce,allgather,alltoall"
SIZES = "64-64KiB:x2"


def main() -> int:
    """Tune, measure all, judge; 0 when both ended well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--ppn", type=int, default=1)
    parser.add_argument("--budget", default="4min")
    parser.add_argument("--only", choices=["tuned", "full", "judge"])
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    ranks = args.nodes * args.ppn
    said = [word for name, value in ENVIRONMENT.items() for word in ("--env", f"{name}={value}")]
    place = ["--nodes", str(args.nodes), "--tasks-per-node", str(args.ppn), *said]
    grid = ["-c", COLLECTIVES, "--comm-sizes", f"{ranks // 4},{ranks // 2},{ranks}"]
    tuned, full = args.folder.resolve() / "tuned", args.folder.resolve() / "full"
    codes = []
    if args.only != "judge":
        with tempfile.TemporaryDirectory() as files, emulated(Path(files), args.nodes, 100.0, 40.0) as slurm:
            path = f"{slurm.commands}{os.pathsep}{os.environ['PATH']}"
            if args.only != "full":
                began = time.monotonic()
                budget = ["--budget", args.budget, "--ranks", str(ranks)]
                codes.append(
                    run_colltune(["tune", str(tuned), "--slurm", *place, *grid, "--sizes", SIZES, *budget], path)
                )
                print(f"tune: {time.monotonic() - began:.0f} s, exit status {codes[-1]}", flush=True)
            if args.only != "tuned":
                plan = ["--message-sizes", SIZES, "--repetitions", "10-15", "--components", "none", "--unchecked"]
                plan += ["--time-limit", "1800"]
                codes.append(run_colltune(["bench", "submit", str(full), *place, *grid, *plan, "--follow"], path))
    judged = judge(tuned, full)
    disk.write_text(args.folder / "judged.json", json.dumps(judged, indent=1) + "\n")
    print(json.dumps(judged, indent=1))
    return max(codes, default=0)


def judge(tuned: Path, full: Path) -> dict[str, Any]:
    """Gains over the library's own decision in the full campaign, and what each of the two took."""
    rules, version = rules_of(Folder(tuned)) or (None, "")
    gains = {}
    for name, child in open_results([full / "results.jsonl"]).children.items():
        cube = child.to_dataset()
        decision = rules.decisions.get(name) if rules else None
        gains[name] = _gains(cube, fitted(decision, cube, version) if decision else None)
    spent = {"tuned": _core_seconds(tuned / "measure" / "results.jsonl"), "full": _core_seconds(full / "results.jsonl")}
    return {"gains_percent": gains, "core_seconds": spent, "share_percent": 100 * spent["tuned"] / spent["full"]}


def _gains(cube: Any, decision: DecisionFunction | None) -> dict[str, float]:
    """Percent of the time that is saved, mean over the cells: by the decision, and by the best of each cell."""
    samples = cube["sample"].transpose("method", "comm_size", "message_size", "repetition").values
    chosen_on, judged_on = (np.nanmedian(samples[..., half::2], axis=-1) for half in (0, 1))
    methods = methods_of(cube)
    own = judged_on[default_of(methods)]
    best = np.take_along_axis(judged_on, np.nanargmin(chosen_on, axis=0)[None], axis=0)[0]
    labels = [method.label for method in methods]
    taken = own.copy()
    for row, processes in enumerate(cube["comm_size"].values.tolist()):
        for column, size in enumerate(cube["message_size"].values.tolist()):
            method = decision.methods[decision.predict_one(processes, size)] if decision else None
            if method is not None and named(method) != HAN and not left_to_library(method):
                place = labels.index(method.label) if method.label in labels else None
                taken[row, column] = np.nan if place is None else judged_on[place, row, column]
    there = np.isfinite(taken)
    saved = {"tuned": 1 - taken[there] / own[there], "full": 1 - best[there] / own[there]}
    return {name: float(100 * each.mean()) for name, each in saved.items()} | {"cells": int(there.sum())}


def _core_seconds(file: Path) -> float:
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return float(sum(each["seconds"] * each["comm_size"] for each in records if "comm_size" in each))


if __name__ == "__main__":
    sys.exit(main())
