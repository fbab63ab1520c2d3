"""Measure grids and applications over an emulated Fast Ethernet of 16 nodes, as ``sample_data/fast-ethernet-grids``.

Run from the checkout as root, with an Open MPI in the environment, on a quiet machine (about twenty minutes)::

    python -m tests.cluster.grids FOLDER python -m tests.cluster.grids FOLDER --only applications --turns 9

FOLDER then holds ``results.jsonl`` of the campaign, and a file of each application. At last it says whether the
figures are sane: how much the launches differ, and what was gained.
"""

import argparse
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.cluster import campaign
from tests.cluster.scheduler import emulated

NODES, MEGABITS, DELAY = 16, 100.0, 40.0
#: Methods that run alone and inside of grids: the library's own, and what LAM-MPI had.
_LAM = "gather_bcast:gather=linear:bcast=linear"
PLAN = (
    *("-c", "bcast,allgather,reduce", "--comm-sizes", "2,4,8,16", "--message-sizes", "1000,3000,10000,30000,100000"),
    *("--provider", "library,own", "--grids", "2", "--inner", f"library,linear,{_LAM}", "--components", "none"),
    *("--algorithms", f"default,linear:provider=own,{_LAM},orthogonal", "--segment-sizes", "0"),
    *("--repetitions", "10-15", "--rounds", "5", "--point-seconds", "6", "--time-limit", "900", "--unchecked"),
)
#: Each process makes the whole of a dense system at first.
_DENSE, _SPARSE = "500,1000,2000", "1250,5000,20000"
_STEPS = ("--steps", "5")
#: Applications by the name of their file.
APPLICATIONS = {
    "jacobi_row": ("jacobi", "--size", _DENSE, "--variant", "row"),
    "jacobi_reduce_bcast": ("jacobi", "--size", f"{_DENSE},4000", "--variant", "reduce_bcast"),
    "pab_data": ("pab", "--size", _SPARSE, "--variant", "data", *_STEPS),
    "pabm_data": ("pabm", "--size", _SPARSE, "--variant", "data", *_STEPS),
    "pabm_task": ("pabm", "--size", _SPARSE, "--variant", "task", *_STEPS),
    "pabm_data_8": ("pabm", "--size", "5000", "--variant", "data", "--stages", "8", *_STEPS),
    "pabm_task_8": ("pabm", "--size", "5000", "--variant", "task", "--stages", "8", *_STEPS),
}
_INNER = ("--inner", f"allgather={_LAM}", "--inner", "bcast=linear")
_METHODS = ("--method", "bcast=linear provider=own")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; 0 when all of it could be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=["campaign", "applications"])
    parser.add_argument("--turns", type=int, default=5, help="of the ways of each application (default 5)")
    args, options = parser.parse_known_args(arguments)
    args.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, emulated(Path(name), NODES, MEGABITS, DELAY) as slurm:
        path = f"{slurm.commands}{os.pathsep}{os.environ['PATH']}"
        status = 0 if args.only == "applications" else _campaign(args.folder, path, options or PLAN)
        if not status and args.only != "campaign":
            status = max(_application(args, path, file, words) for file, words in APPLICATIONS.items())
    return status


def _campaign(folder: Path, path: str, options: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory() as work:
        order = argparse.Namespace(
            folder=Path(work) / "campaign", nodes=NODES, megabits=MEGABITS, delay=DELAY, resume=False
        )
        status = campaign.run_colltune(campaign.order_of(order, options), path)
        if (results := order.folder / "results.jsonl").exists():
            shutil.copy(results, folder / results.name)
    return status


def _application(args: argparse.Namespace, path: str, file: str, words: Sequence[str]) -> int:
    """Run an application in a job of its own; its exit status, after what it wrote."""
    order = [sys.executable, "-m", "dashboard.cli", "orthogonal", "run", *words, "--ranks", str(NODES)]
    order += ["--launch", "mpiexec --map-by node", "--repetitions", str(args.turns), *_INNER]
    order += ["-o", str((args.folder / f"{file}.json").resolve())]
    if (results := args.folder / "results.jsonl").exists():
        order += ["--machine", str(results.resolve()), *_METHODS, "--method", f"allgather={_label(results)}"]
    print(f"$ colltune {shlex.join(order[3:])}", flush=True)
    return campaign.in_a_job(order, NODES, path)


def _label(results: Path) -> str:
    """The label that LAM's allgather has among the results."""
    from loaders import open_results  # noqa: PLC0415 - the namespaces are made before threads are

    cube = open_results([results])["allgather"].to_dataset()
    (label,) = (
        str(name)
        for name, algorithm in zip(cube["method"].values, cube["algorithm"].values, strict=True)
        if algorithm == "gather_bcast"
    )
    return label


if __name__ == "__main__":
    sys.exit(main())
