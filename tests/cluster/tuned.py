"""``colltune tune`` over an emulated Fast Ethernet under a real Slurm, by hand, beside a full campaign.

Run from the checkout as root, with an Open MPI in the environment, on a quiet machine (about 20 minutes)::

    python -m tests.cluster.tuned FOLDER --nodes 16 python -m tests.cluster.tuned FOLDER --nodes 4 --ppn 2 --template

With ``--template`` a start command of the site's starts all ranks instead. FOLDER then holds ``tuned``, the folder of
the tuning, ``full``, the campaign, ``judging``, the same once more, and ``judged.json``: for each collective the mean
time saved over the library's own decision by the rules that the tuning ended with, by those that it had decided
before it compared them, by what it would have decided by a full campaign and by the best of each cell there, in the
other campaign, mean of both; and the core-seconds of tuning and campaign. What the tuning found to be unsafe is no
choice for either. ``--only program`` runs a program with a known mix of calls as it is and with the bundle, in turn,
and writes what its calls took to ``program.txt``; ``--mix`` tunes for that mix alone, and then runs it.
"""

import argparse
import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from dashboard.benchmarks.libraries.library import find
from dashboard.benchmarks.libraries.methods import DEFAULT
from dashboard.benchmarks.proof.target import left_to_library
from dashboard.decisions import DecisionFunction
from dashboard.export.components import HAN, named, variant_of
from dashboard.export.rules.over import fitted
from dashboard.session.prepared import prepare
from dashboard.session.treatment import Treatment
from dashboard.tuning import Folder
from dashboard.tuning.asked import Asked
from dashboard.tuning.beside import rules_of
from dashboard.tuning.decide import decided
from loaders import disk, open_results
from tests.benchmarks.bench_program import Mix, alternate, calls
from tests.cluster.campaign import run_colltune
from tests.cluster.machines import template
from tests.cluster.scheduler import ENVIRONMENT, Slurm, emulated

COLLECTIVES = "bcast,reduce,allreduce,allgather,alltoall"
SIZES = "64-64KiB:x2"
#: Calls of the program in a round: each collective at short, middle and long messages.
MIX: Mix = {name: {64: 20, 1024: 10, 16384: 4} for name in COLLECTIVES.split(",")}


def main() -> int:
    """Tune, measure all, judge; 0 when both ended well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--ppn", type=int, default=1)
    parser.add_argument("--budget", default="4min")
    parser.add_argument("--template", action="store_true", help="measure by a start command, not by Slurm")
    parser.add_argument("-c", "--collectives", default=COLLECTIVES)
    parser.add_argument("--only", choices=["tuned", "full", "judge", "program"])
    parser.add_argument("--mix", action="store_true", help="tune for the program's calls alone, and run it")
    parser.add_argument("--runs", type=int, default=9, help="of the program, each way (default 9)")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    ranks = args.nodes * args.ppn
    grid = ["-c", args.collectives, "--comm-sizes", f"{ranks // 4},{ranks // 2},{ranks}"]
    if args.mix:
        grid = ["-c", ",".join(MIX), "--comm-sizes", str(ranks)]
    tuned, full, judging = (args.folder.resolve() / name for name in ("tuned", "full", "judging"))
    codes = []
    if args.only != "judge":
        with tempfile.TemporaryDirectory() as files, emulated(Path(files), args.nodes, 100.0, 40.0) as slurm:
            if args.only == "program":
                _program(slurm, args)
                return 0
            if args.only != "full":
                began = time.monotonic()
                budget = ["--sizes", SIZES, "--budget", args.budget, "--ranks", str(ranks)]
                if args.mix:
                    budget += ["--workload", str(calls(args.folder.resolve() / "calls.csv", MIX, ranks))]
                place = ["--slurm", *_place(args.nodes, args.ppn)]
                where = ["--site", _site(slurm, args.ppn)] if args.template else place
                codes.append(_run(slurm, ["tune", str(tuned), *where, *grid, *budget]))
                print(f"tune: {time.monotonic() - began:.0f} s, exit status {codes[-1]}", flush=True)
            if args.mix:
                _program(slurm, args)
            elif args.only != "tuned":
                chosen = Asked(collectives=tuple(args.collectives.split(",")), ranks=ranks)
                components = chosen.components(find().library, nodes=args.nodes)
                words = [*grid, *measuring(SIZES, components)]
                site = Path(_site(slurm, args.ppn)) if args.template else None
                codes += [on_nodes(slurm, folder, words, args.nodes, args.ppn, site) for folder in (full, judging)]
    if all((folder / file).exists() for folder, file in ((judging, "results.jsonl"), (tuned, "state.json"))):
        judged = json.dumps(judge(tuned, full, judging), indent=1)
        disk.write_text(args.folder / "judged.json", judged + "\n")
        print(judged)
    return max(codes, default=0)


def measuring(message_sizes: str, components: Sequence[str] = ()) -> list[str]:
    """Words for a full campaign at these sizes, with components that are methods, also where no rule can name them."""
    plan = ["--message-sizes", message_sizes, "--repetitions", "10-15", "--components", ",".join(components) or "none"]
    return [*plan, "--unchecked", "--time-limit", "1800"]


def on_nodes(
    slurm: Slurm, folder: Path, words: Sequence[str], nodes: int, ppn: int = 1, site: Path | None = None
) -> int:
    """Measure a campaign of these words on all nodes, by Slurm or by the start command of a site; its exit status."""
    if site is not None:
        return _run(slurm, ["bench", "run", str(folder), "--site", str(site), "--ranks", str(nodes * ppn), *words])
    return _run(slurm, ["bench", "submit", str(folder), *_place(nodes, ppn), *words, "--follow"])


def _place(nodes: int, ppn: int) -> list[str]:
    said = [word for name, value in ENVIRONMENT.items() for word in ("--env", f"{name}={value}")]
    return ["--nodes", str(nodes), "--tasks-per-node", str(ppn), *said]


def _run(slurm: Slurm, words: Sequence[str]) -> int:
    return run_colltune(words, f"{slurm.commands}{os.pathsep}{os.environ['PATH']}")


def _program(slurm: Slurm, args: argparse.Namespace) -> None:
    """Run the program on all nodes in turn as it is and with the bundle, and write what it took."""
    given = find()
    words = template(slurm.network, given.mpiexec, slurm.network.folder)
    environment = {**given.library.environment(here=False, graphs=False), **ENVIRONMENT}
    start = [word.format(ranks=args.nodes * args.ppn, ppn=args.ppn) for word in words]
    bundle = args.folder.resolve() / "tuned" / "bundle"
    lines = alternate(start, MIX, bundle, environment, rounds=5, runs=args.runs)
    disk.write_text(args.folder / "program.txt", "\n".join(lines) + "\n")
    print("\n".join(lines))


def _site(slurm: Slurm, ppn: int) -> str:
    """A site's file with a start command that reaches the nodes, as one of a cluster without Slurm."""
    folder, mpiexec = slurm.network.folder, find().mpiexec
    lines = [f"launch = {json.dumps(shlex.join(template(slurm.network, mpiexec, folder)))}", f"ppn = {ppn}"]
    lines += ["[environment]", *(f"{name} = {json.dumps(value)}" for name, value in ENVIRONMENT.items())]
    disk.write_text(folder / "colltune.toml", "\n".join(lines) + "\n")
    return str(folder / "colltune.toml")


def judge(tuned: Path, full: Path, judging: Path) -> dict[str, Any]:
    """Gains over the library's own decision, and what tuning and campaign took.

    Both campaigns are alike: each decides once and is judged by the other, and what they say of the tuning is the mean.
    """
    folder = Folder(tuned)
    rules, version = rules_of(folder), folder.facts("look")["library_version"]
    unsafe = {(each["collective"], each["method"]) for each in folder.facts("measure")["unsafe"]}
    decided_there = DecisionFunction.load_all(tuned / "decide" / "decisions.json")
    before = {decision.collective: decision for decision in decided_there}
    campaigns, gains = [open_results([each / "results.jsonl"]) for each in (full, judging)], {}
    for name in campaigns[0].children:
        cubes, ways = [_safe(each[name].to_dataset(), name, unsafe) for each in campaigns], []
        kept = rules.decisions.get(name) if rules else None
        for chosen_on, judged_on in (cubes, cubes[::-1]):
            decisions = {"tuned": fitted(kept, chosen_on, version) if kept else None, "decided": before.get(name)}
            decisions["full, decided"] = decided(prepare(chosen_on, Treatment()))
            pair = [cube["time"].transpose("method", "comm_size", "message_size") for cube in (chosen_on, judged_on)]
            ways.append(_gains(*xr.align(*pair, join="inner"), decisions))
        means = {key: sum(way[key] for way in ways) / len(ways) for key in ways[0]}
        gains[name] = means | {"cells": sum(way["cells"] for way in ways)}
    took = [core_seconds(each / "results.jsonl") for each in (tuned / "measure", full, judging)]
    spent = {"tuned": took[0], "full": sum(took[1:]) / 2}
    return {"gains_percent": gains, "core_seconds": spent, "share_percent": 100 * spent["tuned"] / spent["full"]}


def _safe(cube: xr.Dataset, collective: str, unsafe: Collection[tuple[str, str]]) -> xr.Dataset:
    labels = cube["method"].values.tolist()
    return cube.sel({"method": [label for label in labels if (collective, label) not in unsafe]})


def _gains(
    chosen_on: xr.DataArray, judged_on: xr.DataArray, decisions: Mapping[str, DecisionFunction | None]
) -> dict[str, float]:
    """Percent of the time that is saved, mean over the cells: by each decision, and by the best of each cell."""
    labels, times = judged_on["method"].values.tolist(), judged_on.values
    own = times[labels.index(DEFAULT)]
    place = np.nanargmin(np.where(np.isfinite(times), chosen_on.values, np.inf), axis=0)
    taken = {"full": np.take_along_axis(times, place[None], axis=0)[0]}
    sizes = [judged_on[name].values.tolist() for name in ("comm_size", "message_size")]
    for key, decision in decisions.items():
        taken[key] = own.copy()
        for row, column in np.ndindex(own.shape) if decision else ():
            method = decision.methods[decision.predict_one(sizes[0][row], sizes[1][column])]
            if method is None or left_to_library(method) or (named(method) == HAN and not variant_of(method)):
                continue
            taken[key][row, column] = times[labels.index(method.label), row, column]
    comparable = np.isfinite([*taken.values(), own]).all(axis=0)
    saved = {key: float(100 * (1 - each[comparable] / own[comparable]).mean()) for key, each in taken.items()}
    return saved | {"cells": int(comparable.sum())}


def core_seconds(file: Path) -> float:
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return float(sum(each["seconds"] * each["comm_size"] for each in records if "comm_size" in each))


if __name__ == "__main__":
    sys.exit(main())
