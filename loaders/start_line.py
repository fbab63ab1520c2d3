"""Lines of a job's log that start a benchmark, such as ``+ mpirun -np 16 … osu_bcast``: processes and forced algorithm.

What the benchmarks themselves do not print often stands above their tables, where the job echoes its commands. Options
are those of Open MPI's mpirun (``-n``, ``-np``, ``--mca``, ``-x``), of MPICH's and Intel MPI's mpiexec (``-n``,
``-genv``), of Slurm's srun and of Flux (``-n``, or ``-N`` nodes times tasks per node).
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from loaders import ucc
from loaders.openmpi import fan_out_variable
from loaders.source import Source

_MPIEXEC = ("mpirun", "mpiexec", "mpiexec.hydra", "mpirun_rsh", "orterun", "prterun", "aprun")
_BY_NODES = ("srun", "flux")
#: Those over NCCL, or over what does as NCCL, bear its name too.
_BENCHMARK = re.compile(r"osu_(?:[nx]ccl_)?([a-z_]+)(?:\.py)?|IMB-\w+|ucc_perftest")
_PROCESSES = {"-n", "-np", "--np", "--n", "--ntasks"}
_NODES, _PER_NODE = {"-N", "--nodes"}, {"--ntasks-per-node", "--tasks-per-node"}
_MCA = {"--mca", "-mca", "--gmca", "-gmca"}
_VARIABLE = re.compile(r"(?:.*[=,])?((?:OMPI_MCA|I_MPI_ADJUST|MPIR_CVAR|UCC_TL_UCP)_\w+)(?:=(.*))?")
_ATTACHED = re.compile(r"(-[nN])(\d+)")
_PERSISTENT = re.compile(r"-[iFT]*p[iFT]*")
_YES = {"1", "true", "yes", "on", "enabled"}
_WORD = re.compile(r"\w{1,40}")


@dataclass(frozen=True)
class Start:
    """What a line says of the benchmark that it starts."""

    #: As OSU's program is called; empty of IMB and ucc_perftest, of which the tables tell it.
    collective: str = ""
    #: Number of processes; None where the line does not say it.
    comm_size: int | None = None
    #: Control variables of the library, by name without ``OMPI_MCA_``; those of UCC where it is measured by itself.
    settings: Mapping[str, str] = field(default_factory=dict)
    #: Whether ucc_perftest measures persistent collectives, which its tables do not tell.
    persistent: bool = False

    def method_of(self, collective: str) -> dict[str, str | int]:
        """Columns of the algorithm that the library was forced to take, and of its segments; none where it was not."""
        if columns := ucc.forced(collective, self.settings):
            return {**columns}
        base = f"coll_tuned_{collective}_algorithm"
        # Without the first, Open MPI reads none of them.
        forced = self.settings.get("coll_tuned_use_dynamic_rules", "").lower() in _YES
        if forced and (name := self.settings.get(base)) is not None:
            sizes = {"segment_size": f"{base}_segmentsize", "fan_out": fan_out_variable(collective)}
            given = {column: self.settings.get(variable, "") for column, variable in sizes.items()}
            return _named(name) | {column: int(text) for column, text in given.items() if text.isdecimal()}
        if (name := self.settings.get(f"I_MPI_ADJUST_{collective.upper()}")) is not None:
            return _named(name)
        return _named(self.settings.get(f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM", ""))

    def columns_of(self, collective: str, source: Source, *, sized: bool = True) -> dict[str, str | int]:
        """Columns of the rows of a collective, which is noted; where it is `sized`, their communicator size is one."""
        size = {"comm_size": self.comm_size} if sized and self.comm_size is not None else {}
        columns = size | self.method_of(collective)
        if columns:
            source.note(f"{' and '.join(columns)} of {collective}: as the commands in the file say that started it")
        return columns


@dataclass
class Starts:
    """The lines since the last table: of several that differ none is taken, since a script shows all of its own."""

    _shown: list[Start] = field(default_factory=list)

    def look(self, line: str) -> None:
        """Keep what a line starts, if anything."""
        if (start := start_of(line)) is not None and start not in self._shown:
            self._shown.append(start)

    def take(self, collective: str = "") -> Start:
        """What started the table that begins here; one that says nothing where that is not sure."""
        shown, self._shown = self._shown, []
        return shown[0] if len(shown) == 1 and shown[0].collective == collective else Start()


def start_of(line: str) -> Start | None:
    """Read a line of a log; None where it starts no benchmark that is known."""
    if not any(mark in line for mark in ("osu_", "IMB-", "ucc_perftest")):
        return None
    try:
        words = shlex.split(line.lstrip("#+$ \t"), comments=True)
    except ValueError:
        return None
    names = [PurePosixPath(word).name for word in words]
    launcher = next((at for at, name in enumerate(names) if name in (*_MPIEXEC, *_BY_NODES)), None)
    if launcher is None or ":" in words:
        return None
    programs = ((at, _BENCHMARK.fullmatch(name)) for at, name in enumerate(names))
    at, program = next(((at, match) for at, match in programs if match and at > launcher), (0, None))
    if program is None:
        return None
    processes = _processes(list(_options(words[launcher + 1 : at])), by_nodes=names[launcher] in _BY_NODES)
    settings = dict(_settings(words[:at]))
    if program[0] != "ucc_perftest":
        # Over MPI nobody knows whether UCC is asked.
        return Start(program[1] or "", processes, {n: v for n, v in settings.items() if not n.startswith("UCC_")})
    return Start("", processes, settings, any(map(_PERSISTENT.fullmatch, words[at + 1 :])))


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options with the words after them, however they are joined."""
    for place, word in enumerate(words):
        name, joined, value = word.partition("=")
        if match := _ATTACHED.fullmatch(word):
            yield match[1], match[2]
        elif joined and word.startswith("--"):
            yield name, value
        elif place + 1 < len(words):
            yield word, words[place + 1]


def _processes(options: Sequence[tuple[str, str]], *, by_nodes: bool) -> int | None:
    """Number of processes; None where the options do not say one, or several."""

    def of(names: set[str]) -> int | None:
        values = {value for name, value in options if name in names}
        return int(text) if len(values) == 1 and (text := values.pop()).isdecimal() and 0 < len(text) < 8 else None

    if (processes := of(_PROCESSES)) is not None or any(name in _PROCESSES for name, _ in options):
        return processes
    nodes, each = (of(_NODES), of(_PER_NODE)) if by_nodes else (None, None)
    return nodes * each if nodes and each else None


def _settings(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Control variables, as options and in the environment."""
    for place, word in enumerate(words):
        if word in _MCA and place + 2 < len(words):
            yield words[place + 1], words[place + 2]
        elif match := _VARIABLE.fullmatch(word):
            value = match[2] if match[2] is not None else words[place + 1] if place + 1 < len(words) else ""
            yield match[1].removeprefix("OMPI_MCA_"), value


def _named(name: str) -> dict[str, str | int]:
    if not _WORD.fullmatch(name):
        return {}
    return {"algorithm": "default" if name in ("0", "auto") else name}
