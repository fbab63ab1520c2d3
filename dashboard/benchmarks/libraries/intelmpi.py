"""Which methods Intel MPI has by its documentation, and how it is told to take one.

It cannot be switched while it runs: ``I_MPI_ADJUST_<COLLECTIVE>=NUMBER`` is read when the ranks start, so each method
is measured in a launch of its own. The numbers are those of `loaders.intelmpi`.

Nothing of this was run with Intel MPI, which is not at hand: only what is asked for and set is tested, against the
documentation and a recorded ``mpiexec --version``. Every result is verified, but there are no message graphs: a number
that the library passes over in silence would show as the times of its own decision.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dashboard.benchmarks.libraries.methods import DEFAULT, Method, Plain, Variants
from loaders.intelmpi import ALGORITHMS, NAME

_VERSION = re.compile(r"Intel\(R\) MPI Library.*?\bVersion (\d[\w.]*)")


@dataclass(frozen=True)
class IntelMpi(Plain):
    """Intel MPI of some version, such as ``2021.11``; `why` is a remark on how it is measured."""

    version: str
    why: str = f"methods of {NAME} cannot be switched while it runs: each is measured in a launch of its own"
    name: str = NAME
    apart: bool = True

    def methods(self, collective: str, variants: Variants) -> list[Method]:
        """All methods of a collective, the library's own decision first; none takes the variants' parameters."""
        named = enumerate(ALGORITHMS.get(collective, ()), start=1)
        return [Method(DEFAULT, library_id=0), *(Method(name, library_id=number) for number, name in named)]

    def forcing(self, collective: str, method: Method) -> dict[str, str]:
        """The variable that makes it take the method; none for its own decision."""
        return {} if method.algorithm == DEFAULT else {f"I_MPI_ADJUST_{collective.upper()}": str(method.library_id)}


def parse(text: str) -> IntelMpi | None:
    """Read what ``mpiexec --version`` printed; None when that is not Intel's."""
    match = _VERSION.search(text)
    return IntelMpi(match[1]) if match else None
