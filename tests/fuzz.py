"""Damaged files by the thousand: ``python -m tests.fuzz --seed 1 --count 100000 FOLDER…``.

Every file below the folders is damaged in every way, one after the other. What must hold of each: nothing but
`LoadError` is raised, reading takes less than `SECONDS_PER_MB`, and every row that was present is counted as loaded or
as skipped. The seed and the number of an input make it again. Exit status 1 where one fails; the inputs at fault are
kept in ``--keep``.
"""

import argparse
import contextlib
import json
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xarray as xr

from loaders import LoadError, open_results, scan

HINTS: dict[str, Any] = {"algorithm": "x", "comm_size": 4, "collective": "bcast"}
#: Larger files are damaged as well, but cut down to this first.
LARGEST = 40_000
SECONDS_PER_MB = 2.0
#: What opening costs whatever is in a file, on a machine that does other work, too.
SECONDS_AT_LEAST = 1.0
_NOTES = ("SOURCES.md", ".sources.tsv", "README.md")

Damage = Callable[[bytes, random.Random, bytes], bytes]


def cut(data: bytes, rng: random.Random, other: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def flip(data: bytes, rng: random.Random, other: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 20)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def swap(data: bytes, rng: random.Random, other: bytes) -> bytes:
    lines = data.split(b"\n")
    for _ in range(rng.randint(1, 10)):
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def mix(data: bytes, rng: random.Random, other: bytes) -> bytes:
    at, start = rng.randrange(len(data) + 1), rng.randrange(len(other) + 1)
    return data[:at] + other[start : start + rng.randint(1, 3000)] + data[at:]


def digits(data: bytes, rng: random.Random, other: bytes) -> bytes:
    """Blow a number up, where overflow would hide."""
    places = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    at = rng.choice(places) if places else 0
    grown = [b"9" * 25, b"9" * 400, b"9" * 5_000, b"-", b"1e999", b"1e19", b"1e300", b"nan", b"0", b".5", b"\xd9\xa3"]
    return data[:at] + rng.choice(grown) + data[at:]


def pump(data: bytes, rng: random.Random, other: bytes) -> bytes:
    """Repeat a piece of a line, where an expression that tries all ways would hang."""
    at = rng.randrange(len(data) + 1)
    piece = data[at : at + rng.randint(1, 4)].replace(b"\n", b" ") or b" "
    piece = rng.choice([piece, b" ", b"\t", b"_", b"1", b"#", b",", b"[", b'"'])
    return data[:at] + piece * rng.randint(100, 10_000) + data[at:]


def blank(data: bytes, rng: random.Random, other: bytes) -> bytes:
    """Take words away, and put odd ones in their place."""
    words = data.split(b" ")
    for _ in range(rng.randint(1, 5)):
        odd = [b"", b"NaN", b"null", b"None", b"inf", b"\0", b"{}", b"[]", b'""', b"true", b"-1", b"\xff\xfe"]
        words[rng.randrange(len(words))] = rng.choice(odd)
    return b" ".join(words)


DAMAGES: Sequence[Damage] = (cut, flip, swap, mix, digits, pump, blank)


@dataclass(frozen=True)
class Fault:
    """An input that broke what must hold: its number, what was damaged and how, and what happened."""

    number: int
    name: str
    damage: str
    effect: str


def sample_files(folders: Sequence[Path]) -> list[Path]:
    """All files below the folders that are results, in the order of their names."""
    files = (file for folder in folders for file in sorted(folder.rglob("*")))
    return [file for file in files if file.is_file() and file.name not in _NOTES and file.stat().st_size]


def inputs(files: Sequence[Path], seed: int, count: int, first: int = 0) -> Iterator[tuple[int, Path, str, bytes]]:
    """Number, file, damage and content of each input; every one has a generator of its own, by its number."""
    for number in range(first, first + count):
        rng = random.Random(f"{seed}-{number}")
        # Each file in another way at each round, and all ways within one round of the files.
        turn, place = divmod(number, len(files))
        file, damage = files[place], DAMAGES[(place + turn) % len(DAMAGES)]
        content, other = (each.read_bytes()[:LARGEST] for each in (file, rng.choice(files)))
        yield number, file, damage.__name__, damage(content, rng, other)


def fault_of(path: Path) -> str:
    """What is wrong with how a file is read; empty: nothing."""
    began = time.process_time()
    results = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            (report,) = scan(path, **HINTS)
            with contextlib.suppress(LoadError):
                results = open_results(path, **HINTS)
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return f"{type(error).__name__}: {error}"
    # It is read twice.
    took, allowed = time.process_time() - began, SECONDS_AT_LEAST + 2 * SECONDS_PER_MB * path.stat().st_size / 1e6
    return f"took {took:.1f} s of {allowed:.1f} s" if took > allowed else _unaccounted(report, results)


def _unaccounted(report: Mapping[str, Any], results: xr.DataTree | None) -> str:
    """What of the account of a file is not right."""
    if report["rows"] < 0 or report["skipped"] != sum(report["reasons"].values()):
        return f"{report['rows']} rows, {report['skipped']} skipped, for {report['reasons']}"
    if results is not None:
        counts = {key: json.loads(results.attrs["sources"])[0][key] for key in ("rows", "skipped")}
        if counts["rows"] + counts["skipped"] != report["present"]:
            return f"loading counts {counts}, looking {report['rows']} rows, {report['skipped']} skipped"
        if not all((cube["time"] > 0).any() for cube in results.children.values()):
            return "a cube without a time"
    return ""


def run(
    files: Sequence[Path], seed: int, count: int, keep: Path | None = None, first: int = 0
) -> tuple[list[Fault], Counter[str]]:
    """Read so many damaged files: those at fault, and how many there were of each damage."""
    faults: list[Fault] = []
    counts: Counter[str] = Counter()
    # Whoever interrupts it is told of those that were read.
    with contextlib.suppress(KeyboardInterrupt), tempfile.TemporaryDirectory(prefix="colltune-fuzz-") as folder:
        for number, file, damage, content in inputs(files, seed, count, first):
            damaged = Path(folder) / file.name
            damaged.write_bytes(content)
            counts[damage] += 1
            if effect := fault_of(damaged):
                faults.append(Fault(number, file.name, damage, effect))
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{seed}-{number}-{file.name}").write_bytes(content)
            damaged.unlink()
    return faults, counts


def parser_of(name: str, about: str, count: int) -> argparse.ArgumentParser:
    """What takes the options of a run."""
    parser = argparse.ArgumentParser(prog=f"python -m {name}", description=about.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="default 1")
    parser.add_argument("--count", type=int, default=count, help=f"inputs (default {count})")
    parser.add_argument("--first", type=int, default=0, help="number of the first input (default 0): a run in parts")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where to put the inputs at fault")
    return parser


def tell(faults: Sequence[Fault], inputs_read: str, began: float) -> int:
    """Write what came of a run; its exit status."""
    for fault in faults:
        sys.stdout.write(f"{fault.number} {fault.damage} {fault.name}: {fault.effect[:300]}\n")
    sys.stdout.write(f"{inputs_read} in {time.monotonic() - began:.0f} s: {len(faults)} at fault\n")
    return 1 if faults else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = parser_of("tests.fuzz", __doc__, 10_000)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="sample files, in it and below it")
    args = parser.parse_args(arguments)
    files = sample_files(args.folders)
    if not files:
        parser.error(f"no files in {', '.join(map(str, args.folders))}")
    began = time.monotonic()
    faults, counts = run(files, args.seed, args.count, args.keep, args.first)
    damages = ", ".join(f"{name} {number:,}" for name, number in counts.items())
    return tell(faults, f"{counts.total():,} inputs of {len(files)} files ({damages})", began)


if __name__ == "__main__":
    sys.exit(main())
