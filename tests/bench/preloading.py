"""Programs built with the installed MPI's mpicc, and run with and without a preloaded library."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dashboard.benchmarks.libraries.library import library_of
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from loaders.openmpi import DEFAULT_VERSION, series
from tests.conftest import need, ran

HERE = Path(__file__).parent
STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread")
LIBRARY = ("-shared", "-fPIC")
_SECONDS = 120
LACKING = "this Open MPI was built without the layer that counts messages (pml monitoring)"
#: How many messages a process sends to another one.
Graph = dict[tuple[int, int], int]


@dataclass(frozen=True)
class Bench:
    """Builds and runs in a folder of its own."""

    mpiexec: Path
    folder: Path
    environment: Mapping[str, str]
    version: str = DEFAULT_VERSION
    #: Whether the library counts messages.
    counts: bool = True

    @staticmethod
    def of(mpiexec: Path, folder: Path) -> Bench:
        """For an installed Open MPI with its compiler."""
        need(mpiexec.with_name("mpicc").exists(), f"no mpicc beside {mpiexec}")
        installed = library_of(mpiexec)
        need(isinstance(installed, OpenMpi), f"{mpiexec} is not Open MPI's")
        environment = installed.environment(here=True, graphs=False)
        return Bench(mpiexec, folder, environment, series(installed.version), installed.monitors)

    def build(self, name: str, source: str, *options: str) -> Path:
        """Compile; a warning is an error."""
        made = self.folder / name
        file = made.with_suffix(".c")
        file.write_text(source, encoding="ascii")
        command = [str(self.mpiexec.with_name("mpicc")), *STRICT, *options, "-o", str(made), str(file), "-lm"]
        ran(command)
        return made

    def program(self, name: str, *options: str) -> Path:
        """One of the programs beside this module."""
        return self.build(name, (HERE / f"{name}.c").read_text(encoding="ascii"), "-rdynamic", *options)

    def run(
        self, ranks: int, *program: str | Path, preload: Path | None = None, said: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program on so many ranks; what it printed."""
        environment = {**os.environ, **self.environment, **(said or {})}
        given = ["-x", f"LD_PRELOAD={preload}"] if preload else []
        command = [str(self.mpiexec), "-n", str(ranks), *given, *map(str, program)]
        return ran(command, timeout=_SECONDS, env=environment, cwd=self.folder)

    def graphs(
        self, ranks: int, *calls: str, program: Path, preload: Path | None = None, said: Mapping[str, str] | None = None
    ) -> dict[str, Graph]:
        """Messages of one call of each, such as ``bcast:6:4096``, which is on six processes, by sender and receiver."""
        need(self.counts, LACKING)
        counting = {**(said or {}), "OMPI_MCA_pml_monitoring_enable": "1"}
        done = self.run(ranks, program, "graphs", *calls, preload=preload, said=counting)
        sent: dict[str, Graph] = {call: {} for call in calls}
        for line in done.stdout.splitlines():
            call, *numbers = line.split()
            source, to, count = map(int, numbers)
            # It calls each ten times.
            assert count % 10 == 0, line
            sent[call][source, to] = count // 10
        return sent
