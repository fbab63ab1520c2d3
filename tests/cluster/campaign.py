"""Measure a campaign over an emulated network of nodes, by the project's own commands and a real Slurm.

Run from the checkout as root, with an Open MPI in the environment, on a quiet machine. Options that are not known
here are those of ``colltune bench submit``; the ranks are one on each node::

    python -m tests.cluster.campaign FOLDER --nodes 16 --megabits 100 --delay 40
    python -m tests.cluster.campaign FOLDER --nodes 16 -c bcast,reduce --comm-sizes 2-16:x2 --message-sizes 1-1MB:x10
    python -m tests.cluster.campaign FOLDER --nodes 16 --resume

100 Mbit/s and 40 µs are a Fast Ethernet. At last it says how the broadcast looks against what the wires allow.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.scheduler import ENVIRONMENT, emulated

#: What is measured when no option says what.
_PLAN = ("-c", "bcast", "--comm-sizes", "{nodes}", "--message-sizes", "1,100,1000,10000,100000,1000000")
_PLAN += ("--segment-sizes", "0,1KiB,8KiB", "--repetitions", "5-15", "--point-seconds", "10")
#: Bytes of an Ethernet frame on the wire, and of the message that it carries at most over TCP.
_FRAME, _CARRIED = 1538, 1448


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; exit status of the command that did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the campaign's folder")
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--megabits", type=float, default=100.0, help="rate of each node's wire (default 100)")
    parser.add_argument("--delay", type=float, default=40.0, help="from node to node in µs (default 40)")
    parser.add_argument("--resume", action="store_true", help="measure what is missing in FOLDER")
    parser.add_argument("--parameters", type=Path, metavar="FILE.csv", help="measure the models' parameters as well")
    args, options = parser.parse_known_args(arguments)
    with tempfile.TemporaryDirectory() as files, emulated(Path(files), args.nodes, args.megabits, args.delay) as slurm:
        path = f"{slurm.commands}{os.pathsep}{os.environ['PATH']}"
        if args.parameters is not None and (status := _parameters(args.parameters.resolve(), path)):
            return status
        status = run_colltune(order_of(args, options), path)
    if not status and (args.folder / "results.jsonl").exists():
        print("\n".join(picture(args.folder, args.nodes, args.megabits)))
    return status


def order_of(args: argparse.Namespace, options: Sequence[str]) -> list[str]:
    """Words of the command that measures."""
    if args.resume:
        return ["bench", "resume", str(args.folder), "--follow", *options]
    network = f"COLLTUNE_NETWORK=emulated Ethernet, {args.megabits:g} Mbit/s, {args.delay:g} µs"
    said = ["COLLTUNE_SYSTEM=emulated nodes", network, *(f"{name}={value}" for name, value in ENVIRONMENT.items())]
    plan = options or [word.format(nodes=args.nodes) for word in _PLAN]
    order = ["bench", "submit", str(args.folder), "--nodes", str(args.nodes), "--tasks-per-node", "1", *plan]
    return [*order, *(word for setting in said for word in ("--env", setting)), "--follow"]


def _parameters(file: Path, path: str) -> int:
    """Measure between two nodes, in a job of its own; its exit status, after what it wrote."""
    words = [sys.executable, "-m", "dashboard.cli", "bench", "parameters", "-o", str(file)]
    words += ["--launch", "mpiexec --map-by node", "--repetitions", "12", "--rounds", "2"]
    return in_a_job(words, 2, path)


def in_a_job(words: Sequence[str], nodes: int, path: str) -> int:
    """Run a command in a job of its own; its exit status, after what it wrote."""
    environment = {**os.environ, **ENVIRONMENT, "PATH": path}
    with tempfile.NamedTemporaryFile("r") as log:
        order = ["sbatch", "--wait", f"--nodes={nodes}", "--ntasks-per-node=1", f"--output={log.name}"]
        order += [f"--chdir={Path.cwd()}", f"--wrap={shlex.join(words)}"]
        done = subprocess.run(order, env=environment, check=False)
        print(log.read(), flush=True)
    return done.returncode


def run_colltune(words: Sequence[str], path: str) -> int:
    """Run the command with the cluster's own before others on the PATH; its exit status."""
    print(f"$ colltune {shlex.join(words)}", flush=True)
    command = [sys.executable, "-m", "dashboard.cli", *words]
    return subprocess.run(command, env={**os.environ, "PATH": path}, check=False).returncode


def picture(folder: Path, nodes: int, megabits: float) -> list[str]:
    """How the broadcast on all nodes looks: the fastest methods, and how far they are from the bound of one wire."""
    from loaders import open_results  # noqa: PLC0415 - the namespaces are made before threads are

    results = open_results([folder / "results.jsonl"])
    if "bcast" not in results.children:
        return []
    cube = results["bcast"].to_dataset()
    lines = []
    for size in cube["message_size"].values.tolist():
        times = cube["time"].sel(comm_size=nodes, message_size=size).values.ravel().tolist()
        pairs = sorted((time, str(label)) for time, label in zip(times, cube["method"].values, strict=True) if time > 0)
        fastest = ", ".join(f"{label} {1e3 * time:.3g} ms" for time, label in pairs[:3])
        wire = 8 * size * _FRAME / _CARRIED / megabits / 1e3
        ratios = [
            f"; linear {time / pairs[0][0]:.1f} times the best" for time, label in pairs if label == "basic_linear"
        ]
        lines.append(f"bcast, {nodes} nodes, {size} bytes: {fastest} (wire {wire:.3g} ms{''.join(ratios)})")
    return lines


if __name__ == "__main__":
    sys.exit(main())
