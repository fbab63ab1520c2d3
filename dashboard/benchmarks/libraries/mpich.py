"""Which methods an installed MPICH offers, and how it is told to take one.

Algorithms, numbers and variables are read from the library's own ``mpivars``. An algorithm's number is its place in
the list that describes the variable, which is what MPICH's build makes the enumeration from. Writes act at once on all
communicators. MPICH 4.1 or later, whose names differ a little; 4.0 and those before it describe the variables in
another form.
"""

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from dashboard.benchmarks.errors import NoMpiError
from dashboard.benchmarks.libraries.methods import DEFAULT, Library, Method, Variants
from dashboard.export.rules.mpich_parameters import DEVICE, INTRA, PIPELINED, RADIX, SEGMENT, is_forced

NAME = "MPICH"
_SECONDS = 60
_VARIABLE = re.compile(r"\s*MPIR_CVAR_(?P<name>\w+?)\s*=(?P<value>\S*)\s+SCOPE_\w+\s+\S+\s+MPI_(?P<type>\w+)\s")
_CHOICE = re.compile(r"(?P<name>[a-z]\w*)\s+- ")
_AUTO = "auto"
_FALLBACK = "COLLECTIVE_FALLBACK"
#: Where processes share cores, who waits for messages makes room for who sends them.
MAKE_ROOM = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "64"}


@dataclass(frozen=True)
class Mpich(Library):
    """An installed MPICH."""

    #: Such as ``5.0.2``.
    version: str
    #: Name of each algorithm by number (0, the library's own choice, left out), by collective.
    algorithms: Mapping[str, Mapping[int, str]]
    #: Whole-number control variables with their values, without ``MPIR_CVAR_``.
    variables: Mapping[str, int]
    #: Of variables that take one of a list, its names.
    choices: Mapping[str, tuple[str, ...]]
    name: str = NAME

    @property
    def strict(self) -> dict[str, int]:
        """Variables with which an algorithm that cannot work is refused, instead of another one run in silence."""
        return _full_names(self._number(_FALLBACK, "error"))

    def methods(self, collective: str, variants: Variants) -> list[Method]:
        """All methods of a collective, the library's own decision first."""
        methods = [Method(DEFAULT, library_id=0)]
        for number, name in self.algorithms.get(collective, {}).items():
            key = (collective, name)
            if not is_forced(*key, {}):
                continue
            sizes = variants.segment_sizes if SEGMENT.get(key) in self.variables else (0,)
            sizes = tuple(size for size in sizes if size or key not in PIPELINED)
            takes = RADIX.get(key) in self.variables
            for radix, size in product(variants.radixes if takes else (0,), sizes):
                methods.append(Method(name, size, (("radix", radix),) if takes else (), number))
        return methods

    def settings(self, collective: str, method: Method) -> dict[str, int]:
        """Control variables that make the library take the method; with it those that another method may have set."""
        base = f"{collective.upper()}{INTRA}"
        further = {name for table in (RADIX, SEGMENT) for (of, _), name in table.items() if of == collective}
        names = [name for name in (DEVICE, _FALLBACK, base, *sorted(further)) if name in self.variables]
        said = {name: self.variables[name] for name in names}
        if method.algorithm == DEFAULT:
            return _full_names(said)
        said |= {base: method.library_id or 0} | self._number(DEVICE, "none")
        key = (collective, method.algorithm)
        if key in RADIX and method.parameters:
            said[RADIX[key]] = int(dict(method.parameters)["radix"])
        if key in SEGMENT:
            said[SEGMENT[key]] = method.segment_size
        return _full_names(said)

    def forcing(self, collective: str, method: Method) -> dict[str, str] | None:
        """None: what it cannot do it would leave for another algorithm in silence, which only `strict` shows."""

    def _number(self, name: str, choice: str) -> dict[str, int]:
        """A variable with the number of a choice; nothing where this version lacks it."""
        choices = self.choices.get(name, ())
        return {name: choices.index(choice)} if choice in choices else {}


def _full_names(values: Mapping[str, int]) -> dict[str, int]:
    """Variables by their whole names."""
    return {f"MPIR_CVAR_{name}": value for name, value in values.items()}


def parse(text: str, version: str) -> Mpich:
    """Read what ``mpivars`` printed.

    Raises
    ------
    NoMpiError
        When it names no algorithm.
    """
    variables: dict[str, int] = {}
    choices: dict[str, list[str]] = {}
    current = ""
    for line in text.splitlines():
        if match := _VARIABLE.match(line):
            current = match["name"] if match["type"] == "INT" and re.fullmatch(r"-?\d{1,10}", match["value"]) else ""
            if current:
                variables[current] = int(match["value"])
        elif line.startswith(("\t", " ")):
            current = ""
        elif current and (match := _CHOICE.match(line)):
            choices.setdefault(current, []).append(match["name"])
    algorithms = {
        name.removesuffix(INTRA).lower(): {n: algorithm for n, algorithm in enumerate(names) if algorithm != _AUTO}
        for name, names in choices.items()
        if name.endswith(INTRA) and names[0] == _AUTO
    }
    if not algorithms:
        raise NoMpiError("this MPICH names no algorithms (mpivars); install 4.1 or later")
    return Mpich(version, algorithms, variables, {name: tuple(names) for name, names in choices.items()})


def read(mpivars: Path, version: str) -> Mpich:
    """Ask an installed ``mpivars``.

    Raises
    ------
    NoMpiError
        When it cannot be run or names no algorithms.
    """
    try:
        done = subprocess.run([str(mpivars)], capture_output=True, errors="replace", timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoMpiError(f"{mpivars} cannot be run: {error}") from error
    return parse(done.stdout, version)
