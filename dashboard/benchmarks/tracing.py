"""Traces own methods on the installed MPI: starts the ranks, and reads when each ran each operation."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.launchers.launch import ONE_THREAD, Job, complaints, finish_job
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.mpicc import build, compiler
from dashboard.benchmarks.providers.executor import MPI4PY, NATIVE
from dashboard.benchmarks.ranks.native import FILE, SOURCE
from dashboard.schedules import Schedule, ScheduleError
from dashboard.schedules.trace import Trace
from loaders import disk

_RANKS = ("-m", "mpi4py", "-m", "dashboard.benchmarks.ranks.tracing")


def trace_method(made: Schedule, *, executor: str, repetitions: int, seconds: float) -> Trace:
    """Run a method some times on this machine's MPI, and trace the run of median duration.

    Parameters
    ----------
    made
        Its schedule; elements that are reduced have one of
        `dashboard.schedules.trace.REDUCED` bytes.
    executor
        `NATIVE` or `MPI4PY`; empty: the native one where there is a compiler.
    repetitions
        Runs.
    seconds
        Time limit.

    Raises
    ------
    NoMpiError
        When there is no MPI.
    BenchError
        When the ranks cannot be started or do not finish, or the native executor cannot be built.
    """
    installation = library.find()
    with tempfile.TemporaryDirectory(prefix="colltune-trace-") as name:
        folder = Path(name)
        order, results, log = folder / "order.json", folder / "trace.json", folder / "ranks.log"
        mpicc = None if executor == MPI4PY else compiler(installation.mpiexec)
        if executor == NATIVE and mpicc is None:
            raise BenchError(f"the native executor needs the mpicc of {installation.mpiexec}; take mpi4py")
        native = str(build(mpicc, SOURCE, folder / FILE)) if mpicc else ""
        facts = {"library": f"{installation.library.name} {installation.library.version}".strip()}
        record: dict[str, Any] = {
            "call": asdict(made.call),
            "algorithm": made.algorithm.name,
            "parameters": made.parameters,
        }
        record |= {"facts": facts}
        record |= {"native": native, "repetitions": repetitions, "results": str(results)}
        disk.write_text(order, json.dumps(record))
        environment = {**ONE_THREAD, **installation.library.environment(one_node=True, graphs=False)}
        program = (sys.executable, *_RANKS, str(order))
        job = Job(folder, made.call.processes, program, environment, seconds, log)
        status = finish_job(LocalLauncher((str(installation.mpiexec),)), job)
        if status.state != "finished":
            words = [*complaints(log), "they wrote nothing"]
            raise BenchError(f"the ranks did not finish ({status.reason or status.state}): {words[-2:][0]}")
        try:
            return Trace.from_json(disk.read_json(results))
        except (OSError, ValueError, ScheduleError) as error:
            raise BenchError(f"the ranks left no trace: {error}") from error
