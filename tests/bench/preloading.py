"""Programs built with the installed MPI's mpicc, and run with and without a preloaded library."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from dashboard.benchmarks.libraries.library import library_of
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from loaders.openmpi import DEFAULT_VERSION, series
from tests.conftest import need

HERE = Path(__file__).parent
STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread")
LIBRARY = ("-shared", "-fPIC")
_SECONDS = 120


@dataclass(frozen=True)
class Bench:
    """Builds and runs in a folder of its own."""

    mpiexec: Path
    folder: Path
    environment: Mapping[str, str]
    version: str = DEFAULT_VERSION

    @staticmethod
    def of(mpiexec: Path, folder: Path) -> Bench:
        """For an installed Open MPI with its compiler."""
        need(mpiexec.with_name("mpicc").exists(), f"no mpicc beside {mpiexec}")
        installed = library_of(mpiexec)
        need(isinstance(installed, OpenMpi), f"{mpiexec} is not Open MPI's")
        environment = installed.environment(one_node=True, graphs=False)
        return Bench(mpiexec, folder, environment, series(installed.version))

    def with_said(self, said: Mapping[str, str]) -> Bench:
        """The same with further variables."""
        return replace(self, environment={**self.environment, **said})

    def build(self, name: str, source: str, *options: str) -> Path:
        """Compile; a warning is an error."""
        made = self.folder / name
        file = made.with_suffix(".c")
        file.write_text(source, encoding="ascii")
        command = [str(self.mpiexec.with_name("mpicc")), *STRICT, *options, "-o", str(made), str(file), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
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
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_SECONDS, env=environment, cwd=self.folder
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def messages(
        self, ranks: int, turns: int, *program: str | Path, preload: Path | None, kind: str = "I"
    ) -> dict[tuple[int, int], int]:
        """Messages by sender and receiver, as the library's monitoring writes them at the end: of its collectives.

        Those of a program, and of own methods, are of the kind E.
        """
        for file in self.folder.glob("graph.*"):
            file.unlink()
        said = {
            "OMPI_MCA_pml_monitoring_enable": "2",
            "OMPI_MCA_pml_monitoring_enable_output": "3",
            "OMPI_MCA_pml_monitoring_filename": str(self.folder / "graph"),
        }
        self.run(ranks, *(str(word).replace("TURNS", str(turns)) for word in program), preload=preload, said=said)
        found: dict[tuple[int, int], int] = {}
        for file in self.folder.glob("graph.*"):
            for line in file.read_text(encoding="utf-8").splitlines():
                words = line.split("\t")
                if words[0] == kind:
                    found[int(words[1]), int(words[2])] = int(words[4].split()[0])
        return found

    def graph(
        self, ranks: int, *program: str | Path, preload: Path | None = None, kind: str = "I"
    ) -> dict[tuple[int, int], int]:
        """Messages of one call: what ten calls more send, a tenth of it."""
        few, many = (self.messages(ranks, turns, *program, preload=preload, kind=kind) for turns in (1, 11))
        more = {pair: count - few.get(pair, 0) for pair, count in many.items()}
        assert all(count % 10 == 0 for count in more.values()), more
        return {pair: count // 10 for pair, count in more.items() if count}
