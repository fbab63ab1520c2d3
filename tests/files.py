"""Small benchmark files to test with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loaders import RunWriter

_BLOCK = '# SKaMPI Version 6.0.0\n# begin result "MPI_{0}-nodes-count"\n{1}\n# end result "MPI_{0}-nodes-count"\n'


def skampi(path: Path, *rows: tuple[int, int, float, float, int], collective: str = "Bcast") -> Path:
    """Write a SKaMPI file of rows (nodes, bytes, µs, standard error, repetitions) and give its path."""
    text = "\n".join(f"nodes= {p} count= {m} {m} {t} {e} {n} {t}" for p, m, t, e, n in rows)
    path.write_text(_BLOCK.format(collective, text))
    return path


def run_file(path: Path, *points: Mapping[str, Any], **attrs: Any) -> Path:
    """Append points to a run file, which `attrs` are known of, and give its path."""
    with RunWriter(path, attrs) as writer:
        for point in points:
            writer.append(point)
    return path
