"""How long one decision takes, measured on the spot: generated C, a tree in memory, Python.

As Table 4 of the quadtree report and Table 6.6 of the dissertation, in one run: every variant in turn over the same
sizes in random order, the smallest of several rounds, beside a function that returns at once.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Leaf
from dashboard.domain.arrays import IntArray
from dashboard.export.parts import per_collective, usual_ppn
from dashboard.export.target import ExportError
from dashboard.export.targets import python
from dashboard.export.targets.c import memory as c_memory
from dashboard.export.targets.c import nested as c
from dashboard.export.targets.c import table as c_table
from dashboard.export.targets.c.file import source
from dashboard.export.targets.c.text import INT_MAX, LLONG_MAX, identifier
from loaders import disk

Sizes = tuple[IntArray, IntArray]

SIZES, PYTHON_SIZES = 1 << 18, 1 << 13
"""Calls that are timed in a round, of C and of Python."""
_SECONDS = 300
_NOTHING = "empty call"
_DRIVER = Path(__file__).with_name("decide_time.c").read_text(encoding="ascii")


@dataclass(frozen=True)
class Variant:
    """One way of deciding, timed."""

    #: For people.
    name: str
    #: Of one decision, by the name of the sizes; NaN where it cannot be had.
    nanoseconds: Mapping[str, float]
    #: Bytes of compiled code and data, the names of the methods among them; of Python the source's.
    size: int | None = None
    #: Of source.
    lines: int | None = None
    #: ``if`` and ``else if`` in the source, the function size of Table 6.6; None where it has none.
    tests: int | None = None


_C: Mapping[str, Callable[[DecisionFunction, str], list[str]]] = {
    "nested ifs": c.definition,
    "tables": c_table.definition,
    "tree in memory": c_memory.definition,
}


def decide_time(
    decision: DecisionFunction, sizes: Mapping[str, Sizes], *, rounds: int = 9, compiler: str | None = None
) -> list[Variant]:
    """Time every way to decide.

    Parameters
    ----------
    decision
        Of one collective.
    sizes
        Calls by name: communicator and message sizes, as `log_uniform`, `uniform` and `workload_sizes` give them.
    rounds
        Of which the fastest counts.
    compiler
        C compiler; default ``$CC``, else gcc.

    Returns
    -------
    list of Variant
        C with nested ifs, with tables and with the tree in memory, the exported Python function, the decision function
        itself, and last an empty C function: what the call alone takes.

    Raises
    ------
    ExportError
        When there is no C compiler, it fails, or two variants decide differently.
    """
    parts = per_collective(decision)
    if len(parts) != 1:
        raise ExportError(f"{decision.collective} is decided together with others; time one collective")
    (part,) = parts
    command = found_compiler(compiler)
    with tempfile.TemporaryDirectory(prefix="colltune-") as folder:
        built = _built(part, Path(folder), command)
        timed = {name: _timed_c(built, Path(folder), each, rounds) for name, each in sizes.items()}
    variants = [
        Variant(name, {label: timed[label][place] for label in sizes}, made.size, made.lines, made.tests)
        for place, (name, made) in enumerate(built.items())
    ]
    variants[-1:-1] = _python(part, sizes, rounds)
    return variants


def found_compiler(compiler: str | None = None) -> str:
    """Path of the C compiler.

    Raises
    ------
    ExportError
        When there is none.
    """
    asked = compiler or os.environ.get("CC") or "gcc"
    path = shutil.which(asked)
    if path is None:
        raise ExportError(f"no C compiler: {asked} is not on the PATH; install gcc, or name another one in $CC")
    return path


def uniform(comm_size: tuple[int, int], message_size: tuple[int, int], count: int = SIZES) -> Sizes:
    """Draw sizes uniformly between two ends each, as the report and the dissertation did."""
    random = np.random.default_rng(1)
    comm, message = (random.integers(low, high + 1, count) for low, high in (comm_size, message_size))
    return comm.astype(np.int64), message.astype(np.int64)


def log_uniform(comm_size: tuple[int, int], message_size: tuple[int, int], count: int = SIZES) -> Sizes:
    """Draw sizes whose logarithms are uniform: as many small ones as large ones."""
    random = np.random.default_rng(1)
    ends = [(np.log(max(low, 1)), np.log(high + 1)) for low, high in (comm_size, message_size)]
    comm, message = (np.exp(random.uniform(*pair, count)).astype(np.int64) for pair in ends)
    return np.maximum(comm, comm_size[0]), np.maximum(message, message_size[0])


def workload_sizes(workload: pd.DataFrame, collective: str, count: int = SIZES) -> Sizes:
    """Draw calls of a workload, each as often as it makes it.

    Parameters
    ----------
    workload
        As `loaders.workload.read_workload` gives it.

    Raises
    ------
    ExportError
        When it does not call the collective.
    """
    rows = workload.loc[workload["collective"] == collective]
    calls = rows["calls"].to_numpy(dtype=np.float64)
    if not calls.sum() > 0:
        named = ", ".join(sorted(set(workload["collective"])))
        raise ExportError(f"the workload does not call {collective}; it calls {named}")
    chosen = np.random.default_rng(1).choice(len(rows), count, p=calls / calls.sum())
    comm, message = (rows[name].to_numpy(dtype=np.int64)[chosen] for name in (COMM_SIZE, MESSAGE_SIZE))
    return comm, message


@dataclass(frozen=True)
class _Made:
    symbol: str
    size: int
    lines: int | None
    tests: int | None


def _built(decision: DecisionFunction, folder: Path, compiler: str) -> dict[str, _Made]:
    """Compile all variants and the driver; each variant by itself, so that it is called as a library's is."""
    empty = DecisionFunction(decision.collective, decision.methods, Leaf(0))
    plans = [(name, decision, define) for name, define in _C.items()] + [(_NOTHING, empty, c.definition)]
    made: dict[str, _Made] = {}
    objects = []
    for place, (name, each, define) in enumerate(plans):
        symbol = f"decide_{place}"
        try:
            text = source([each], None, define)
        except ExportError:
            continue
        object_file = folder / f"{symbol}.o"
        _compile(compiler, folder, symbol, _renamed(text, each.collective, symbol), "-c", "-o", str(object_file))
        lines = define(each, symbol)
        tests = sum(line.lstrip("} ").removeprefix("else ").startswith("if (") for line in lines)
        last = name == _NOTHING
        made[name] = _Made(symbol, _size(object_file), None if last else len(lines), tests or None)
        objects.append(str(object_file))
    names = [variant.symbol for variant in made.values()]
    declarations = "\n".join(f"int {name}(int comm_size, long long message_size);" for name in names)
    driver = _DRIVER.replace("COUNT", str(len(names))).replace("DECLARATIONS", declarations)
    driver = driver.replace("NAMES", ", ".join(names))
    _compile(compiler, folder, "driver", driver, *objects, "-o", str(folder / "driver"), standard="c11")
    return made


def _renamed(text: str, collective: str, symbol: str) -> str:
    """The file with names of its own for the preprocessor; methods are not linked against each other."""
    name = f"colltune_{identifier(collective)}"
    return f"#define {name} {symbol}\n#define {name}_ppn {symbol}_ppn\n#define {name}_methods {symbol}_methods\n{text}"


def _compile(compiler: str, folder: Path, name: str, text: str, *arguments: str, standard: str = "c99") -> None:
    file = folder / f"{name}.c"
    disk.write_text(file, text)
    command = [compiler, f"-std={standard}", "-O2", str(file), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, errors="replace", check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ExportError(f"{compiler} cannot be run: {error}") from error
    if done.returncode:
        raise ExportError(f"{compiler} gave {done.returncode}: {done.stderr.strip()[:300]}")


def _size(object_file: Path) -> int:
    """Bytes of code and data; of the whole object file where there is no ``size``."""
    tool = shutil.which("size")
    if tool is not None:
        done = subprocess.run([tool, str(object_file)], capture_output=True, errors="replace", check=False)
        words = done.stdout.splitlines()[-1].split() if done.stdout else []
        if len(words) > 3 and words[3].isdecimal():
            return int(words[3])
    return object_file.stat().st_size


def _timed_c(built: Mapping[str, _Made], folder: Path, sizes: Sizes, rounds: int) -> list[float]:
    comm, message = (np.clip(column, 0, most) for column, most in zip(sizes, (INT_MAX, LLONG_MAX), strict=True))
    rows = "".join(f"{p} {m}\n" for p, m in zip(comm.tolist(), message.tolist(), strict=True))
    done = subprocess.run(
        [str(folder / "driver"), str(rounds)],
        input=f"{comm.size}\n{rows}",
        capture_output=True,
        errors="replace",
        check=False,
        timeout=_SECONDS,
    )
    if done.returncode:
        raise ExportError(f"the compiled decisions ended with {done.returncode}: {done.stderr.strip()[:200]}")
    pairs = [line.split() for line in done.stdout.splitlines()]
    sums = {total for name, (_, total) in zip(built, pairs, strict=True) if name != _NOTHING}
    if len(sums) > 1:
        raise ExportError(f"the compiled variants decide differently: {', '.join(sorted(sums))}")
    return [float(ns) for ns, _ in pairs]


def _python(decision: DecisionFunction, sizes: Mapping[str, Sizes], rounds: int) -> list[Variant]:
    """The exported function and the decision function itself; the interpreter's loop is in their times."""
    text = python.to_python(decision)
    space: dict[str, Any] = {"__name__": "colltune_timed"}
    exec(compile(text, "<exported>", "exec"), space)  # noqa: S102 - what was just generated
    exported = next(value for name, value in space.items() if name.startswith("colltune_") and callable(value))
    given = {"ppn": usual_ppn(decision)} if "ppn" in decision.needs else {}
    ways: dict[str, Callable[[int, int], int]] = {
        "Python function": exported,
        "Python object": partial(decision.predict_one, **given) if given else decision.predict_one,
    }
    times: dict[str, dict[str, float]] = {name: {} for name in ways}
    for label, (comm, message) in sizes.items():
        calls = list(zip(comm[:PYTHON_SIZES].tolist(), message[:PYTHON_SIZES].tolist(), strict=True))
        best = dict.fromkeys(ways, float("inf"))
        for _ in range(max(1, rounds)):
            for name, decide in ways.items():
                best[name] = min(best[name], _timed_once(decide, calls))
        for name in ways:
            times[name][label] = best[name] / max(1, len(calls))
    length = len(text.splitlines())
    return [
        Variant("Python function", times["Python function"], len(text.encode()), length),
        Variant("Python object", times["Python object"]),
    ]


def _timed_once(decide: Callable[[int, int], int], calls: Sequence[tuple[int, int]]) -> float:
    """Nanoseconds of all calls."""
    start = time.perf_counter_ns()
    for comm, message in calls:
        decide(comm, message)
    return float(time.perf_counter_ns() - start)
