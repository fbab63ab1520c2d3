"""Starts an application, waits for its end and reads what it wrote."""

import json
import sys
from typing import Any

from dashboard.benchmarks.applications.order import Order
from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.launchers.launch import ONE_THREAD, Job, Launcher, Progress, complaints, finish_job, workplace
from dashboard.benchmarks.libraries import mpicc
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.own_settings import added
from dashboard.benchmarks.ranks.native import FILE, SOURCE
from loaders import disk

_RANKS = ("-m", "mpi4py", "-m", "dashboard.benchmarks.applications.worker")


def run(
    order: Order,
    installation: Installation,
    launcher: Launcher,
    *,
    seconds: float = 600.0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run an application in all its ways.

    Returns
    -------
    dict
        ``order``, ``library``, ``executor``, ``nodes``, ``rank_nodes`` (such as ``node1 0-3, node2 4``), ``alone``
        (``seconds`` of one rank, ``steps``, ``residual``) and ``ways``: of each ``way``, ``grid``, ``seconds`` and
        ``set_up`` (of each turn; the slowest rank's), ``phases`` (of each turn ``mean`` and ``max`` over the ranks),
        ``steps`` and ``difference``, the largest of any component in any iterate from what one rank computed; None
        where it had another number of steps.

    Raises
    ------
    BenchError
        When the ranks do not come to an end; the message has their last words.
    """
    with workplace(launcher) as folder:
        record, result, log = (folder / name for name in ("order.json", "result.json", "ranks.log"))
        disk.write_text(record, json.dumps(order.to_json()))
        native = mpicc.beside(installation.mpiexec, SOURCE, folder / FILE)
        own = installation.library.environment(here=launcher.here, graphs=False)
        program = (sys.executable, *_RANKS, str(record), str(result), *([str(native)] if native else []))
        job = Job(folder, order.processes, program, {**ONE_THREAD, **added(own, ranks=order.processes)}, seconds, log)
        ended = finish_job(launcher, job, progress, f"{order.application} in turns")
        if ended.state != "finished" or not result.exists():
            raise BenchError(f"{order.application}: {ended.state}: {[ended.reason, *complaints(log)][-1]}")
        answer: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    for way in answer["ways"]:
        # JSON knows no infinity.
        way["difference"] = way["difference"] if way["difference"] < float("inf") else None
    return answer
