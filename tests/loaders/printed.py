"""Reading and damaging printed tables, for the tests of their readers."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from loaders.errors import LoadError
from loaders.hints import FileHints, Hints
from loaders.source import Format, Source
from tests.fuzz import DAMAGES

_PRESENT = re.compile(rb"^[ \t]*[^#\s].*$", re.MULTILINE)

#: Collectives of which PICO gives the bytes of all blocks, by its names.
BLOCKS = {"ALLGATHER", "ALLTOALL", "GATHER", "SCATTER", "REDUCE_SCATTER"}


@dataclass
class Reading:
    """All rows of a file in one table, or the error, with the reader's account of the file."""

    rows: pd.DataFrame
    source: Source
    error: str = ""

    def time(self, **where: object) -> float:
        """Microseconds of the one row with these values."""
        rows = self.rows
        for name, value in where.items():
            rows = rows[rows[name].isna() if value is None else rows[name] == value]
        (time,) = rows["time"]
        return round(float(time) * 1e6, 6)


def read(form: Format, path: Path, **options: object) -> Reading:
    source = Source(path, options=dict(options))
    tables: list[pd.DataFrame] = []
    try:
        hints = FileHints(Hints(options), source)
        tables.extend(map(hints.apply, form.read(source)))
    except LoadError as error:
        return Reading(pd.DataFrame(), source, str(error))
    return Reading(pd.concat(tables, ignore_index=True), source)


def read_text(form: Format, folder: Path, text: str | bytes, **options: object) -> Reading:
    path = folder / "results.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(form, path, **options)


def present(path: Path, headers: bytes = b"") -> int:
    """Lines of a file that are neither blank nor comments, less those that hold the text of a header."""
    lines = _PRESENT.findall(path.read_bytes())
    return len(lines) - (sum(headers in line for line in lines) if headers else 0)


def samples_of(folder: Path) -> list[Path]:
    return [f for f in sorted(folder.iterdir()) if f.name != "SOURCES.md"]


def damaged_readings(
    form: Format, contents: Sequence[bytes], folder: Path, seed: int | str, **options: object
) -> Iterator[tuple[bytes, Reading]]:
    """Damage contents 200 times: what was read, and what came of it; only `LoadError` may escape a reader."""
    rng = random.Random(seed)
    for _ in range(200):
        data = rng.choice(DAMAGES)(rng.choice(contents), rng, rng.choice(contents))
        yield data, read_text(form, folder, data, **options)


def survive_damage(form: Format, files: list[Path], folder: Path) -> None:
    """Read damaged files; whatever comes, the account stays exact."""
    contents = [file.read_bytes() for file in files if file.stat().st_size < 60_000]
    for data, reading in damaged_readings(form, contents, folder, form.name):
        assert reading.source.rows + reading.source.skipped == sum(
            not line.lstrip().startswith("#") and not re.match(r"\s*Group\s+#bytes\s+#repetitions\s+\S", line)
            for line in data.decode("utf-8", "replace").split("\n")
            if line.strip()
        )
        if not reading.error:
            assert (reading.rows["time"] > 0).all()
            assert reading.rows.filter(regex="_size$|repetitions").fillna(0).ge(0).all(axis=None)
