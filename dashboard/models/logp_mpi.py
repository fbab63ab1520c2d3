"""Files of the MPI LogP benchmark: ``logp_test -o FILE`` of the library logp_mpi, of which PLogP's parameters are.

T. Kielmann, H. E. Bal, K. Verstoep, "Fast Measurement of LogP Parameters for Message Passing Platforms", IPDPS 2000
workshops; the dissertation measured its systems with it (4.4.1). Two comments name the run and the latency, a third
names the columns: time of day, bytes, o_s with its least value and confidence interval, o_r with both, and g; seconds.
"""

import contextlib
import math
import re

import numpy as np
import numpy.typing as npt

from dashboard.models.errors import ModelError

MARK = "# LogP network performance data"
_LATENCY = re.compile(r"# Latency = (\S+)\s*")
#: Columns of bytes, o_s, o_r and g; of how many.
_TAKEN, _COLUMNS = (1, 2, 5, 8), 9


def table_of(text: str, path: str) -> dict[str, npt.NDArray[np.float64]]:
    """The file as a LogP-style table (`dashboard.models.pingpong.read_logp_table`): bytes, and times in seconds.

    A message takes L + g(m) one way (equation 4.4), which stands for the half round trip that the file does not tell.

    Raises
    ------
    ModelError
        When the latency or a number is missing, with the line.
    """
    latency, rows = None, []
    for number, line in enumerate(text.splitlines(), 1):
        if (match := _LATENCY.fullmatch(line)) is not None:
            latency = number_of(match[1], f"{path}:{number}: found")
        elif line.strip() and not line.startswith("#"):
            words = line.split()
            if len(words) != _COLUMNS:
                raise ModelError(f"{path}:{number}: {len(words)} columns; logp_test writes {_COLUMNS}")
            rows.append([number_of(words[place], f"{path}:{number}: found") for place in _TAKEN])
    if latency is None:
        raise ModelError(f"{path}: no line '# Latency = …', which logp_test writes second")
    columns = np.array(rows, dtype=np.float64).reshape(-1, len(_TAKEN))
    size, send, receive, gap = columns[np.argsort(columns[:, 0], kind="stable")].T
    return {"bytes": size, "halfrtt_median": latency + gap, "gap": gap, "os": send, "or": receive}


def number_of(word: str | None, where: str) -> float:
    """Read a finite number; `ModelError` says with `where` what stands in its place."""
    with contextlib.suppress(TypeError, ValueError):
        if math.isfinite(value := float(word or "")):
            return value
    raise ModelError(f"{where} {word and word[:40]!r}; expected a number")
