"""Verifies own methods on the installed MPI: starts the ranks, watches over them, and reads what they found."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.launchers.launch import ONE_THREAD, Job, Progress, complaints, finish_job
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries import library, mpicc
from dashboard.benchmarks.ranks import counting
from dashboard.benchmarks.ranks.native import FILE, SOURCE
from loaders import disk

#: Numbers of processes, and cases of each algorithm with each.
PROCESSES = (2, 3, 4, 5, 8)
MOST_CASES = 24
_RANKS = ("-m", "mpi4py", "-m", "dashboard.benchmarks.ranks.verify")
QUIET_S = 60.0
#: Bytes of a message with its header that Open MPI must be let send ahead.
_LEAST_EAGER = "80"


def check_methods(
    algorithms: Sequence[tuple[str, str]],
    processes: Sequence[int] = PROCESSES,
    *,
    most: int = MOST_CASES,
    seconds: float = 600.0,
    eager: bool = True,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run cases of methods over MPI and compare every buffer; messages too, where the library counts them.

    Parameters
    ----------
    algorithms
        Collective and name of each.
    processes
        Numbers of them.
    most
        Cases of each algorithm with each number of processes.
    seconds
        Time limit.
    eager
        Whether short messages may be sent ahead, as the library does by itself; else all of three elements or more go
        by rendezvous (Open MPI).
    progress
        Told of how far it is.

    Returns
    -------
    dict
        ``library``, ``cases``, ``refused``, ``graphs`` (whether messages were compared as well), ``native`` (whether
        the native executor ran them too) and ``failed``, each with ``case`` and ``reason``.

    Raises
    ------
    NoMpiError
        When there is no MPI.
    BenchError
        When the ranks cannot be started, or the native executor cannot be compiled though there is an ``mpicc``.
    """
    installation = library.find()
    with tempfile.TemporaryDirectory(prefix="colltune-methods-") as name:
        folder = Path(name)
        order, results, log = folder / "order.json", folder / "results.jsonl", folder / "ranks.log"
        hidden = counting.hidden(installation.library)
        preloaded = counting.preloaded(folder) if hidden else {}
        counters = () if hidden and not preloaded else installation.library.graph_counters
        native = str(mpicc.beside(installation.mpiexec, SOURCE, folder / FILE) or "")
        record = {"algorithms": algorithms, "processes": processes, "counters": counters, "most": most}
        record["native"] = native
        disk.write_text(order, json.dumps({**record, "results": str(results)}))
        environment = {**ONE_THREAD, **installation.library.environment(one_node=True, graphs=bool(counters))}
        environment |= preloaded
        if not eager:
            environment |= {f"OMPI_MCA_btl_{name}_eager_limit": _LEAST_EAGER for name in ("sm", "vader")}
        program = (sys.executable, *_RANKS, str(order))
        job = Job(folder, max(processes), program, environment, seconds, log, watched=(results,), quiet=QUIET_S)
        launcher = LocalLauncher((str(installation.mpiexec),))
        total = len(algorithms) * len(processes)

        def look() -> None:
            if progress is not None and results.exists():
                done = results.read_text(encoding="utf-8").count('"done"')
                progress(done / total, f"{done} of {total} methods and numbers of processes")

        status, words = finish_job(launcher, job, look), complaints(log)
        reason = "" if status.state == "finished" else status.reason or status.state
        answer = _read(results, reason)
        if reason and not answer["cases"] and not answer["failed"]:
            raise BenchError(f"no ranks can be run with {installation.mpiexec}: {words[-1] if words else reason}")
        if reason and words:
            answer["failed"][-1]["reason"] += f": {words[-1]}"
    title = f"{installation.library.name} {installation.library.version}".strip()
    return {"library": title, "graphs": bool(counters), "native": bool(native), **answer}


def _read(results: Path, reason: str) -> dict[str, Any]:
    """Sum up what the ranks wrote; with a reason, the case that was begun last has failed with it."""
    records = []
    if results.exists():
        records = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    ended = [record for record in records if "done" in record]
    failed = [each for record in ended for each in record["failed"]]
    if reason and records and "begun" in records[-1]:
        failed.append({"case": records[-1]["begun"], "reason": reason})
    sums = {name: sum(record[name] for record in ended) for name in ("cases", "refused")}
    return {**sums, "failed": failed}
