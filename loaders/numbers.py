"""Algorithms that are a library's numbers, as sweeps name them that force one after the other.

Known are the numbers of Open MPI (`loaders.openmpi`) and Intel MPI (`loaders.intelmpi`). MPICH's documentation has
names only, for which its variables take no number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from loaders import intelmpi, openmpi
from loaders.collectives import plain_name
from loaders.rows import coded
from loaders.source import Source

_NUMBER = re.compile(r"\d{1,3}")
_ASKED = re.compile(r"(?i)(open[\s-]?mpi|intel(?:[\s-]?mpi)?)[\s/-]*v?(\d[\w.]*)")
#: Intel MPI's numbers are those of its versions since 2019, which count years.
_INTEL_YEARS = range(2019, 2100)
KNOWN = f"openmpi-{', openmpi-'.join(openmpi.VERSIONS)}, intel-2019 to intel-2021 (MPICH names its algorithms instead)"


@dataclass(frozen=True)
class Numbering:
    """Whose numbers they are."""

    #: As results tell them.
    library: str
    version: str

    @classmethod
    def of(cls, text: str) -> Numbering:
        """Read a name such as ``openmpi-5.0`` or ``Intel MPI 2021.9``.

        Raises
        ------
        ValueError
            The numbers of such a library are not known; the message lists those that are.
        """
        match = _ASKED.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is no library whose numbers are known; these are {KNOWN}")
        version = match[2]
        if match[1].lower().startswith("open"):
            openmpi.series(version)
            return cls("Open MPI", version)
        year = re.match(r"\d+", version)
        if year is None or int(year[0]) not in _INTEL_YEARS:
            raise ValueError(f"Intel MPI {version!r}: known are the numbers of 2019 to 2021.15")
        return cls(intelmpi.NAME, version)

    def name(self, collective: str, number: int) -> str | None:
        """Name of the algorithm of a number, ``default`` for 0; None where the library has no such."""
        if self.library == intelmpi.NAME:
            names = ("default", *intelmpi.ALGORITHMS.get(collective, ()))
            return names[number] if number < len(names) else None
        return openmpi.named(collective, number, self.version)


def numbering_of(library: object, version: object) -> Numbering | None:
    """Whose numbers they are by what a file or a hint tells; None where that is not known."""
    try:
        return Numbering.of(f"{re.sub(r'[(]R[)]|Library', '', str(library)).strip()}-{version}")
    except ValueError:
        return None


def named(table: pd.DataFrame, numbering: Numbering | None, source: Source) -> pd.DataFrame:
    """Algorithms that are a library's numbers by their names; the numbers are kept as ``library_id``.

    Raises
    ------
    LoadError
        The library has no such algorithm.
    """
    if "algorithm" not in table or "collective" not in table:
        return table
    words = [word for word in coded(table["algorithm"])[1] if _NUMBER.fullmatch(str(word))]
    if not words:
        return table
    if numbering is None:
        source.note("algorithms are numbers; say whose with numbers, such as --numbers openmpi-5.0")
        return table
    for name, value in (("library", numbering.library), ("library_version", numbering.version)):
        if name not in table:
            source.attrs.setdefault(name, value)
    pairs, uses = _used(table)
    names = [_name(numbering, *pair, source) if pair[1] in words else pair[1] for pair in pairs]
    ids = [float(text) if text in words else np.nan for _, text in pairs]
    more = {} if "library_id" in table else {"library_id": np.array(ids)[uses]}
    return table.assign(algorithm=np.array(names, dtype=object)[uses], **more)


def _used(table: pd.DataFrame) -> tuple[list[tuple[str, str]], npt.NDArray[np.int64]]:
    """Collectives and algorithms that go together, and which of these pairs each row has."""
    collectives, first = pd.factorize(table["collective"])
    algorithms, second = pd.factorize(table["algorithm"])
    pairs, uses = np.unique(collectives * len(second) + algorithms, return_inverse=True)
    return [(str(first[pair // len(second)]), str(second[pair % len(second)])) for pair in pairs.tolist()], uses


def _name(numbering: Numbering, collective: str, text: str, source: Source) -> str:
    name = numbering.name(plain_name(collective), int(text))
    if name is None:
        raise source.fail(f"{numbering.library} {numbering.version} has no algorithm {text} of {collective}")
    return name
