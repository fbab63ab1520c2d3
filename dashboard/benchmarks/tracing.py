"""Traces own methods on the installed MPI: starts the ranks, and reads when each ran each operation."""

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.libraries import library, mpicc
from dashboard.benchmarks.libraries.own_settings import added
from dashboard.benchmarks.method_check import job_of, run_ranks
from dashboard.benchmarks.providers.executor import MPI4PY, NATIVE
from dashboard.benchmarks.ranks.native import FILE, SOURCE
from dashboard.schedules import Schedule, ScheduleError
from dashboard.schedules.trace import Trace
from loaders import disk

_RANKS = "dashboard.benchmarks.ranks.tracing"


def trace_method(made: Schedule, *, executor: str, repetitions: int, seconds: float) -> Trace:
    """Run a method some times on this machine's MPI, and trace the run of median duration.

    Parameters
    ----------
    made
        Its schedule; elements that are reduced have one of `dashboard.schedules.trace.REDUCED` bytes.
    executor
        `NATIVE` or `MPI4PY`; empty: the native one where there is a compiler.

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
        results = folder / "trace.json"
        native = None if executor == MPI4PY else mpicc.beside(installation.mpiexec, SOURCE, folder / FILE)
        if executor == NATIVE and native is None:
            raise BenchError(f"the native executor needs the mpicc of {installation.mpiexec}; take mpi4py")
        order: dict[str, Any] = {
            "call": asdict(made.call),
            "algorithm": made.algorithm.name,
            "parameters": made.parameters,
            "facts": {"library": f"{installation.library.name} {installation.library.version}".strip()},
            "native": str(native or ""),
            "repetitions": repetitions,
            "results": str(results),
        }
        environment = added(installation.library.environment(here=True, graphs=False))
        reason, words = run_ranks(
            installation, _RANKS, order, job_of(folder, made.call.processes, environment, seconds)
        )
        if reason:
            raise BenchError(f"the ranks did not finish ({reason}): {words[-1] if words else 'they wrote nothing'}")
        try:
            return Trace.from_json(disk.read_json(results))
        except (OSError, ValueError, ScheduleError) as error:
            raise BenchError(f"the ranks left no trace: {error}") from error
