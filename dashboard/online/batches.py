"""Batches of runs: here one after the other, or as jobs of a Slurm array, watched by whoever calls the loop again.

``batches/NAME/`` in the folder of a tuning holds what was handed to Slurm; each job runs this module on its first node.
"""

import json
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from dashboard.benchmarks.campaigns.campaign import UNDER_WAY, read_json, write_json
from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.launchers.launch import Job
from dashboard.benchmarks.launchers.slurm import Request, SlurmLauncher
from dashboard.domain.units import format_count
from dashboard.online.errors import OnlineError
from dashboard.online.runs import Run, once
from dashboard.online.state import Folder
from loaders import disk

_POLL_S = 0.5
#: Seconds that a job takes beside its runs.
_BESIDE_S = 60.0
#: ``say(text)``: takes a line for people.
Say = Callable[[str], None]


def perform(
    folder: Folder, name: str, tasks: Sequence[Sequence[Run]], seconds: float | None, slurm: Request | None, say: Say
) -> None:
    """Do all runs that have not been to their end.

    Parameters
    ----------
    tasks
        Runs that follow each other on the same nodes.
    seconds
        That a run may take.
    slurm
        What a task asks for as a job of an array; None: all run here.

    Raises
    ------
    OnlineError
        A run failed, or Slurm refused or ended a job; called again, what is left is done.
    """
    runs = [run for task in tasks for run in task]
    if slurm is None:
        for run in runs:
            once(folder, run, seconds)
        return
    place = folder.path / "batches" / name
    launcher = SlurmLauncher(slurm)
    kept = place / "handle.json"
    try:
        if handle := read_json(kept):
            say(f"batch {name}: was handed to Slurm before")
        elif left := [task for task in tasks if not all(run.traced(folder) for run in task)]:
            shutil.rmtree(place, ignore_errors=True)
            ranks = (slurm.nodes or 1) * (slurm.tasks_per_node or 1)
            jobs = [_job(folder, place / str(number), task, ranks, seconds or 0) for number, task in enumerate(left)]
            handle = launcher.prepare(jobs)
            # Written before: who is killed now finds the jobs by their name.
            write_json(kept, handle)
            try:
                launcher.launch(handle)
            except BenchError:
                kept.unlink()
                raise
            handed = format_count(len(jobs), "job")
            say(f"batch {name}: {handed} handed to Slurm; interrupted, they go on, and so does the next call")
        while handle and (status := launcher.status(handle)).state in UNDER_WAY:
            time.sleep(_POLL_S)
    except BenchError as error:
        raise OnlineError(f"batch {name}: {error}") from None
    kept.unlink(missing_ok=True)
    for run in runs:
        if not run.traced(folder):
            # What the run printed, else what its job did.
            logs = log if (log := run.log(folder)).exists() else place
            raise OnlineError(f"{' '.join(run.command)}: {status.reason or status.state}; see {logs}")


def _job(folder: Folder, place: Path, task: Sequence[Run], ranks: int, seconds: float) -> Job:
    place.mkdir(parents=True)
    order = place / "runs.json"
    record = {"folder": str(folder.path.resolve()), "seconds": seconds, "runs": [run._asdict() for run in task]}
    disk.write_text(order, json.dumps(record))
    program = (sys.executable, "-m", "dashboard.online.batches", str(order.resolve()))
    limit = _BESIDE_S + seconds * len(task)
    return Job(place, ranks, program, {}, limit, place / "job.log", index=int(place.name), alone=True)


def main(arguments: Sequence[str]) -> int:
    """Do the runs of an order; 1 when one fails, with the reason on the standard error."""
    record = disk.read_json(Path(arguments[0]))
    folder = Folder.open(Path(record["folder"]))
    try:
        for each in record["runs"]:
            once(folder, Run(**{**each, "command": tuple(each["command"])}), record["seconds"])
    except OnlineError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
