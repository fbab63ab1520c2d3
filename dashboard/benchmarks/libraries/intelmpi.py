"""Which methods Intel MPI has by its documentation and its ``impi_info``, and how it is told to take one.

It cannot be switched while it runs: ``I_MPI_ADJUST_<COLLECTIVE>=NUMBER`` is read when the ranks start, so each method
is measured in a launch of its own. The numbers are those of `loaders.intelmpi`, and beyond them those that the
installed ``impi_info`` counts, which have no names there. ``pip install impi-rt`` brings it with the library.

Every result is verified, but there are no message graphs: a number that the library has not, or that cannot work where
the ranks are, is passed over in silence and shows as the times of its built-in rules.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dashboard.benchmarks.libraries.methods import DEFAULT, Library, Method, Variants
from loaders.intelmpi import ALGORITHMS, NAME

_SECONDS = 60
_PRESETS = re.compile(r"^I_MPI_ADJUST_([A-Z_]+) *\n(?:(?!I_MPI_).*\n)*? *range: 0-(\d{1,3})\b", re.MULTILINE)
_VERSION = re.compile(r"Intel\(R\) MPI Library.*?\bVersion (\d[\w.]*)")


@dataclass(frozen=True)
class IntelMpi(Library):
    """Intel MPI of some version, such as ``2021.11``."""

    version: str
    #: Highest number of each collective, where ``impi_info`` tells it.
    presets: tuple[tuple[str, int], ...] = ()
    #: A remark on how it is measured.
    why: str = f"methods of {NAME} cannot be switched while it runs: each is measured in a launch of its own"
    name: str = NAME
    apart: bool = True

    def methods(self, collective: str, variants: Variants) -> list[Method]:
        """All methods of a collective, the library's own decision first; none takes the variants' parameters."""
        names = ALGORITHMS.get(collective, ())
        further = range(len(names) + 1, dict(self.presets).get(collective, 0) + 1)
        every = enumerate([*names, *(f"preset_{number}" for number in further)], start=1)
        return [Method(DEFAULT, library_id=0), *(Method(name, library_id=number) for number, name in every)]

    def forcing(self, collective: str, method: Method) -> dict[str, str]:
        """The variable that makes it take the method; none for its own decision."""
        return {} if method.algorithm == DEFAULT else {f"I_MPI_ADJUST_{collective.upper()}": str(method.library_id)}


def parse(text: str) -> IntelMpi | None:
    """Read what ``mpiexec --version`` printed; None when that is not Intel's."""
    match = _VERSION.search(text)
    return IntelMpi(match[1]) if match else None


def presets_of(mpiexec: Path) -> tuple[tuple[str, int], ...]:
    """Read what the ``impi_info`` beside a start command prints of presets; none where it cannot be run."""
    folder = mpiexec.parent.parent / "lib"
    libraries = [str(folder), str(folder / "libfabric"), os.environ.get("LD_LIBRARY_PATH", "")]
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, libraries))}
    ask = [str(mpiexec.parent / "impi_info"), "-a"]
    try:
        done = subprocess.run(ask, capture_output=True, timeout=_SECONDS, check=False, env=environment)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    text = done.stdout.decode(errors="replace")
    return tuple((name.lower(), int(highest)) for name, highest in _PRESETS.findall(text))
