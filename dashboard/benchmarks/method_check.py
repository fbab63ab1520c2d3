"""Verifies own methods on the installed MPI: starts the ranks, watches over them, and reads what they found."""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.launchers.launch import ONE_THREAD, Far, Job, Progress, complaints, finish_job
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries import library, mpicc
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.own_settings import added
from dashboard.benchmarks.ranks import counting
from dashboard.benchmarks.ranks.native import FILE, SOURCE
from dashboard.schedules.verification import fallbacks
from loaders import disk

#: Numbers of processes, and cases of each algorithm with each.
PROCESSES = (2, 3, 4, 5, 8)
MOST_CASES = 24
_RANKS = "dashboard.benchmarks.ranks.verify"
QUIET_S = 60.0
#: The fewest bytes of a message, with its header, that Open MPI must be let send ahead.
_RENDEZVOUS = {f"OMPI_MCA_btl_{name}_eager_limit": "80" for name in ("sm", "vader")}


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
    most
        Cases of each algorithm with each number of processes.
    eager
        Whether short messages may be sent ahead, as the library does by itself; else all of three elements or more go
        by rendezvous (Open MPI).

    Returns
    -------
    dict
        ``library``, ``cases``, ``refused``, ``fallbacks`` (``cases`` of ``collective`` and ``algorithm`` with what
        ``ran`` in its place), ``graphs`` (whether messages were compared as well), ``native`` (whether
        the native executor ran them too) and ``failed``, each with ``case`` and ``reason``.

    Raises
    ------
    NoMpiError
        When there is no MPI.
    BenchError
        When the ranks cannot be started, or the native executor cannot be compiled though there is an ``mpicc``.
    """
    installation = library.find()
    hidden = counting.hidden(installation.library)
    with (
        tempfile.TemporaryDirectory(prefix="colltune-methods-") as name,
        counting.preloaded(Path(name), needed=hidden) as preloaded,
    ):
        folder = Path(name)
        results = folder / "results.jsonl"
        counters = () if hidden and not preloaded else installation.library.graph_counters
        native = str(mpicc.beside(installation.mpiexec, SOURCE, folder / FILE) or "")
        order = {"algorithms": algorithms, "processes": processes, "counters": counters, "most": most}
        order |= {"native": native, "results": str(results)}
        environment = added(installation.library.environment(here=True, graphs=bool(counters))) | preloaded
        environment |= {} if eager else _RENDEZVOUS
        job = job_of(folder, max(processes), environment, seconds, watched=(results,), quiet=QUIET_S)
        total = len(algorithms) * len(processes)

        def far() -> tuple[float, str]:
            done = sum(b'"done"' in line for line in disk.read_lines(results))
            return done / total, f"{done} of {total} methods and numbers of processes"

        reason, words = run_ranks(installation, _RANKS, order, job, progress, far)
        answer = _read(results, reason)
        if reason and not answer["cases"] and not answer["failed"]:
            raise BenchError(f"no ranks can be run with {installation.mpiexec}: {words[-1] if words else reason}")
        if reason and words:
            answer["failed"][-1]["reason"] += f": {words[-1]}"
    title = f"{installation.library.name} {installation.library.version}".strip()
    return {"library": title, "native": bool(native), **answer}


def job_of(folder: Path, ranks: int, environment: Mapping[str, str], seconds: float, **further: Any) -> Job:
    """A job for `run_ranks`, with its log in the folder."""
    return Job(folder, ranks, (), {**ONE_THREAD, **environment}, seconds, folder / "ranks.log", **further)


def run_ranks(
    installation: Installation,
    module: str,
    order: Mapping[str, Any],
    job: Job,
    progress: Progress | None = None,
    far: Far | str = "",
) -> tuple[str, list[str]]:
    """Have ranks of this machine run a module by an order; why they did not finish, and what they complain of."""
    file = job.folder / "order.json"
    disk.write_text(file, json.dumps(order))
    program = (sys.executable, "-m", "mpi4py", "-m", module, str(file))
    status = finish_job(LocalLauncher((str(installation.mpiexec),)), replace(job, program=program), progress, far)
    return "" if status.state == "finished" else status.reason or status.state, complaints(job.log)


def _read(results: Path, reason: str) -> dict[str, Any]:
    """Sum up what the ranks wrote; with a reason, the case that was begun last has failed with it."""
    records = list(disk.records(disk.read_lines(results)))
    ended = [record for record in records if "done" in record]
    failed = [each for record in ended for each in record["failed"]]
    if reason and records and "begun" in records[-1]:
        failed.append({"case": records[-1]["begun"], "reason": reason})
    sums = {name: sum(record[name] for record in ended) for name in ("cases", "refused")}
    ran: Counter[tuple[str, str, str]] = Counter()
    for each in (each for record in ended for each in record.get("fallbacks", ())):
        ran[each["collective"], each["algorithm"], each["ran"]] += each["cases"]
    graphs = any(record.get("graphs") for record in records)
    return {**sums, "fallbacks": fallbacks(ran), "graphs": graphs, "failed": failed}
