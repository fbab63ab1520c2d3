"""Adaptive campaigns that end at an expected loss, on emulated nodes or on this machine, judged by full campaigns.

Run from the checkout, with an Open MPI in the environment, on a quiet machine; nodes are emulated as root::

    python -m tests.cluster.adaptive FOLDER --nodes 16 --until 5
    python -m tests.cluster.adaptive FOLDER --ranks 4 --until 5

FOLDER then holds ``adaptive``, and ``full`` and ``judging``, which may be those of `tests.cluster.tuned`. Printed is
for each collective the expected loss that measuring ended with, and what is really lost: mean penalty in percent over
the cells of ``judging``, over the method that ``full`` says is the best of each cell, by the methods that are predicted
to be the fastest, by the recommended tree, and by that of the full campaign.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import xarray as xr

from dashboard.benchmarks.adaptive.chooser import Chooser
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.decisions import DecisionFunction
from dashboard.decisions.surfaces.family import recommended
from dashboard.session.prepared import prepare
from dashboard.session.treatment import Treatment
from loaders import open_results
from tests.cluster.campaign import run_colltune
from tests.cluster.scheduler import emulated
from tests.cluster.tuned import COLLECTIVES, SIZES, core_seconds, measuring, on_nodes

_NAMES = ("adaptive", "full", "judging")


def main() -> int:
    """Measure what is missing, then judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=0, help="emulated, one process on each; 0: this machine")
    parser.add_argument("--ranks", type=int, default=4, help="on this machine (default 4)")
    parser.add_argument("--until", default="5", help="expected loss in percent (default 5)")
    parser.add_argument("-c", "--collectives", default=COLLECTIVES)
    parser.add_argument("--sizes", default=SIZES)
    args = parser.parse_args()
    ranks = args.nodes or args.ranks
    rows = [ranks // 4, ranks // 2, ranks] if args.nodes else range(2, ranks + 1)
    grid = ["-c", args.collectives, "--comm-sizes", ",".join(map(str, rows))]
    words = {name: [*grid, *measuring(args.sizes)] for name in _NAMES}
    words["adaptive"] = [*grid, "--message-sizes", args.sizes, "--components", "none", "--unchecked", "--adaptive"]
    words["adaptive"] += ["--until", args.until, "--time-limit", "1800"]
    todo = [name for name in _NAMES if not (args.folder / name / "results.jsonl").exists()]
    with tempfile.TemporaryDirectory() as files:
        if not args.nodes:
            place = ["--ranks", str(ranks)]
            orders = [["bench", "run", str(args.folder / name), *place, *words[name]] for name in todo]
            codes = [run_colltune(order, os.environ["PATH"]) for order in orders]
        elif todo:
            with emulated(Path(files), args.nodes, 100.0, 40.0) as slurm:
                codes = [on_nodes(slurm, args.folder / name, words[name], args.nodes) for name in todo]
        else:
            codes = []
    print("\n".join(judged(args.folder)))
    return max(codes, default=0)


def judged(folder: Path) -> list[str]:
    """What is lost by an adaptive campaign in percent, beside what it expected, and its part of the core-seconds."""
    chooser = Chooser(Campaign(folder / "adaptive").plan())
    chooser.read(folder / "adaptive" / "results.jsonl")
    known, losses = chooser.known(), chooser.loss()
    results = {name: open_results([folder / name / "results.jsonl"]) for name in _NAMES}
    lines = [f"{'':12}{'expected':>10}{'predicted':>11}{'tree':>8}{'of full':>9}   loss in percent"]
    for name, grid in known.items():
        cubes = {key: tree[name].to_dataset() for key, tree in results.items()}
        names = ("full", "judging")
        full, times = xr.align(*(cubes[key]["time"].transpose("method", "comm_size", "message_size") for key in names))
        labels = times["method"].values.tolist()
        known_labels = [method.label for method in chooser.plan.methods[name]]
        places = [labels.index(each) if each in labels else -1 for each in known_labels]
        predicted = np.array(places)[grid.predicted[0].argmin(axis=0)]
        best = np.nanargmin(np.where(np.isfinite(times), full, np.inf), axis=0)
        decided = [recommended(prepare(cubes[key], Treatment()).learnt) for key in _NAMES[:2]]
        chosen = [predicted, *(_places(tree, times) for tree in decided)]
        lost = [_lost(times.values, codes, best) for codes in chosen]
        lines.append(f"{name:12}{losses[name] or np.nan:10.2f}{lost[0]:11.2f}{lost[1]:8.2f}{lost[2]:9.2f}")
    spent = [core_seconds(folder / name / "results.jsonl") for name in _NAMES[:2]]
    return [*lines, f"core-seconds: {spent[0]:,.0f} of {spent[1]:,.0f}, {100 * spent[0] / spent[1]:.1f} %"]


def _places(decision: DecisionFunction, times: xr.DataArray) -> np.ndarray:
    labels = times["method"].values.tolist()
    places = np.array([labels.index(method.label) for method in decision.methods])
    sizes = times["comm_size"].values[:, None], times["message_size"].values[None, :]
    return places[decision.predict(*sizes)]


def _lost(times: np.ndarray, chosen: np.ndarray, best: np.ndarray) -> float:
    took, least = (np.take_along_axis(times, each[None], axis=0)[0] for each in (chosen, best))
    return float(100 * np.nanmean(np.where(chosen < 0, np.nan, took / least - 1)))


if __name__ == "__main__":
    sys.exit(main())
