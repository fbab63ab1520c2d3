"""Every real file, damaged in every way: nothing but `LoadError`, and no row lost in silence."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from loaders import FORMATS, LoadError, open_results, scan

FORMATS_OF = {
    "skampi": "skampi",
    "skampi4": "skampi4",
    "osu": "osu",
    "imb": "imb",
    "reprompi": "reprompi",
    "mpi4py": "mpi4py_run",
    "pico": "pico",
}
HINTS = {"algorithm": "x", "comm_size": 4, "collective": "bcast"}
LARGEST = 40_000
MUTATIONS = 60


def small_samples(samples: Path) -> list[Path]:
    found = []
    for folder in FORMATS_OF:
        files = [f for f in sorted((samples / folder).iterdir()) if f.is_file() and f.name != "SOURCES.md"]
        found += [f for f in files if f.stat().st_size <= LARGEST][:8]
    return found


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
    return data[:at] + rng.choice([b"9" * 25, b"-", b"1e999", b"nan", b"0"]) + data[at:]


@pytest.mark.parametrize("mutation", [cut, flip, swap, mix, digits], ids=lambda m: m.__name__)
def test_damaged_files_raise_nothing_but_load_errors(
    samples: Path, tmp_path: Path, mutation: Callable[[bytes, random.Random, bytes], bytes]
) -> None:
    rng = random.Random(mutation.__name__)
    files = small_samples(samples)
    contents = [f.read_bytes() for f in files]
    for round_ in range(MUTATIONS):
        at = round_ % len(files)
        damaged = tmp_path / files[at].name
        damaged.write_bytes(mutation(contents[at], rng, rng.choice(contents)))
        (report,) = scan(damaged, **HINTS)
        assert report["rows"] >= 0
        assert len(report["skips"]) <= report["skipped"]
        try:
            results = open_results(damaged, **HINTS)
        except LoadError:
            continue
        assert all((cube["time"] > 0).any() for cube in results.children.values())


def test_a_garbled_row_is_counted_as_skipped_and_the_others_stay(samples: Path, tmp_path: Path) -> None:
    """Rows loaded + rows skipped stays what it was when the last figure of a row becomes unreadable."""
    for file in small_samples(samples):
        text = file.read_text(errors="replace")
        (before,) = scan(file, **HINTS)
        if before["error"]:
            continue
        lines = text.split("\n")
        rows = [i for i, line in enumerate(lines) if line[:1] in " 0123456789MnN" and len(line.split()) > 1]
        rows = [
            i for i in rows if sum(word.replace(".", "").isdigit() for word in lines[i].replace(",", " ").split()) > 1
        ]
        at = rows[len(rows) // 2] if rows else None
        if at is None:
            continue
        copy = tmp_path / file.name
        copy.write_text("\n".join([*lines[:at], "\x01" + lines[at].replace(".", "?", 9) + "?", *lines[at + 1 :]]))
        (after,) = scan(copy, **HINTS)
        assert after["present"] == before["present"], f"{file.name}, line {at + 1}"
        assert after["rows"] < before["rows"], f"{file.name}, line {at + 1}"


def test_every_sample_loads_or_says_why_not(samples: Path) -> None:
    for folder, format_name in FORMATS_OF.items():
        for file in sorted((samples / folder).iterdir()):
            if file.name in ("SOURCES.md", ".sources.tsv"):
                continue
            (report,) = scan(file)
            if report["error"] is None:
                assert report["format"] == format_name, file.name
                assert report["rows"] > 0, file.name
            else:
                assert file.name in report["error"]


def test_no_format_claims_the_files_of_another(samples: Path) -> None:
    for folder, format_name in FORMATS_OF.items():
        for file in sorted((samples / folder).iterdir()):
            head = file.read_bytes()[: 1 << 16]
            claims = {f.name for f in FORMATS.values() if f.recognises(head, file)}
            assert claims <= {format_name}, file.name
