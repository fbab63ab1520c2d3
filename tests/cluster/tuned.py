"""``colltune tune`` over an emulated Fast Ethernet under a real Slurm, by hand, beside a full campaign.

Run from the checkout as root, with an Open MPI in the environment, on a quiet machine (about 20 minutes)::

    python -m tests.cluster.tuned FOLDER --nodes 16
    python -m tests.cluster.tuned FOLDER --nodes 4 --ppn 2 --template

With ``--template`` the tuning starts its ranks by a start command of the site's instead. FOLDER then holds ``tuned``,
the folder of the tuning, ``full``, the campaign, and ``judged.json``: for each collective the mean time saved over the
library's own decision by the rules that the tuning ended with and by the best of the full campaign, both in
``judging``, the same campaign once more; and the core-seconds of both. What the tuning found to be unsafe is no choice
for either.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from dashboard.benchmarks.libraries.library import find
from dashboard.benchmarks.libraries.methods import DEFAULT
from dashboard.benchmarks.proof.target import left_to_library
from dashboard.decisions import DecisionFunction
from dashboard.export.components import HAN, named
from dashboard.export.rules.over import fitted
from dashboard.tuning import Folder
from dashboard.tuning.beside import rules_of
from loaders import disk, open_results
from tests.cluster.campaign import run_colltune
from tests.cluster.machines import template
from tests.cluster.scheduler import ENVIRONMENT, Slurm, emulated

COLLECTIVES = "bcast,reduce,allreduce,allgather,alltoall"
SIZES = "64-64KiB:x2"


def main() -> int:
    """Tune, measure all, judge; 0 when both ended well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--ppn", type=int, default=1)
    parser.add_argument("--budget", default="4min")
    parser.add_argument("--template", action="store_true", help="tune by a start command, not by Slurm")
    parser.add_argument("-c", "--collectives", default=COLLECTIVES)
    parser.add_argument("--only", choices=["tuned", "full", "judge"])
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    ranks = args.nodes * args.ppn
    said = [word for name, value in ENVIRONMENT.items() for word in ("--env", f"{name}={value}")]
    place = ["--nodes", str(args.nodes), "--tasks-per-node", str(args.ppn), *said]
    grid = ["-c", args.collectives, "--comm-sizes", f"{ranks // 4},{ranks // 2},{ranks}"]
    tuned, full, judging = (args.folder.resolve() / name for name in ("tuned", "full", "judging"))
    codes = []
    if args.only != "judge":
        with tempfile.TemporaryDirectory() as files, emulated(Path(files), args.nodes, 100.0, 40.0) as slurm:
            path = f"{slurm.commands}{os.pathsep}{os.environ['PATH']}"
            if args.only != "full":
                began = time.monotonic()
                budget = ["--sizes", SIZES, "--budget", args.budget, "--ranks", str(ranks)]
                where = ["--site", _site(slurm, args.ppn)] if args.template else ["--slurm", *place]
                codes.append(run_colltune(["tune", str(tuned), *where, *grid, *budget], path))
                print(f"tune: {time.monotonic() - began:.0f} s, exit status {codes[-1]}", flush=True)
            if args.only != "tuned":
                plan = ["--message-sizes", SIZES, "--repetitions", "10-15", "--components", "none", "--unchecked"]
                plan += ["--time-limit", "1800"]
                codes += [
                    run_colltune(["bench", "submit", str(folder), *place, *grid, *plan, "--follow"], path)
                    for folder in (full, judging)
                ]
    if (judging / "results.jsonl").exists():
        judged = json.dumps(judge(tuned, full, judging), indent=1)
        disk.write_text(args.folder / "judged.json", judged + "\n")
        print(judged)
    return max(codes, default=0)


def _site(slurm: Slurm, ppn: int) -> str:
    """A site's file with a start command that reaches the nodes, as one of a cluster without Slurm."""
    folder, mpiexec = slurm.network.folder, find().mpiexec
    lines = [f"launch = {json.dumps(shlex.join(template(slurm.network, mpiexec, folder)))}", f"ppn = {ppn}"]
    lines += ["[environment]", *(f"{name} = {json.dumps(value)}" for name, value in ENVIRONMENT.items())]
    disk.write_text(folder / "colltune.toml", "\n".join(lines) + "\n")
    return str(folder / "colltune.toml")


def judge(tuned: Path, full: Path, judging: Path) -> dict[str, Any]:
    """Gains over the library's own decision in a campaign that neither was decided by, and what each of both took."""
    folder = Folder(tuned)
    rules, version = rules_of(folder) or (None, "")
    unsafe = {(each["collective"], each["method"]) for each in folder.facts("measure")["unsafe"]}
    seen, gains = open_results([judging / "results.jsonl"]), {}
    for name, child in open_results([full / "results.jsonl"]).children.items():
        pair = [_times(cube, name, unsafe) for cube in (child.to_dataset(), seen[name].to_dataset())]
        chosen_on, judged_on = xr.align(*pair, join="inner")
        decision = rules.decisions.get(name) if rules else None
        gains[name] = _gains(chosen_on, judged_on, fitted(decision, child.to_dataset(), version) if decision else None)
    spent = {"tuned": _core_seconds(tuned / "measure" / "results.jsonl"), "full": _core_seconds(full / "results.jsonl")}
    return {"gains_percent": gains, "core_seconds": spent, "share_percent": 100 * spent["tuned"] / spent["full"]}


def _times(cube: xr.Dataset, collective: str, unsafe: Collection[tuple[str, str]]) -> xr.DataArray:
    times = cube["time"].transpose("method", "comm_size", "message_size")
    return times.sel(method=[label for label in times["method"].values.tolist() if (collective, label) not in unsafe])


def _gains(chosen_on: xr.DataArray, judged_on: xr.DataArray, decision: DecisionFunction | None) -> dict[str, float]:
    """Percent of the time that is saved, mean over the cells: by the decision, and by the best of each cell."""
    labels, times = judged_on["method"].values.tolist(), judged_on.values
    own = times[labels.index(DEFAULT)]
    place = np.nanargmin(np.where(np.isfinite(times), chosen_on.values, np.inf), axis=0)
    best = np.take_along_axis(times, place[None], axis=0)[0]
    taken = own.copy()
    for row, processes in enumerate(judged_on["comm_size"].values.tolist()):
        for column, size in enumerate(judged_on["message_size"].values.tolist()):
            method = decision.methods[decision.predict_one(processes, size)] if decision else None
            if method is not None and named(method) != HAN and not left_to_library(method):
                taken[row, column] = times[labels.index(method.label), row, column]
    there = np.isfinite(taken) & np.isfinite(own)
    saved = {"tuned": 1 - taken[there] / own[there], "full": 1 - best[there] / own[there]}
    return {name: float(100 * each.mean()) for name, each in saved.items()} | {"cells": int(there.sum())}


def _core_seconds(file: Path) -> float:
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return float(sum(each["seconds"] * each["comm_size"] for each in records if "comm_size" in each))


if __name__ == "__main__":
    sys.exit(main())
