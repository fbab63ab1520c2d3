"""Small benchmark files to test with."""

from pathlib import Path

_BLOCK = '# SKaMPI Version 6.0.0\n# begin result "MPI_{0}-nodes-count"\n{1}\n# end result "MPI_{0}-nodes-count"\n'


def skampi(path: Path, *rows: tuple[int, int, float, float, int], collective: str = "Bcast") -> Path:
    """Write a SKaMPI file of rows (nodes, bytes, µs, standard error, repetitions) and give its path."""
    text = "\n".join(f"nodes= {p} count= {m} {m} {t} {e} {n} {t}" for p, m, t, e, n in rows)
    path.write_text(_BLOCK.format(collective, text))
    return path
