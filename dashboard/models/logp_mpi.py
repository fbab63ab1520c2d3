"""Files of the MPI LogP benchmark: ``logp_test -o FILE`` of the library logp_mpi, of which PLogP's parameters are.

T. Kielmann, H. E. Bal, K. Verstoep, "Fast Measurement of LogP Parameters for Message Passing Platforms", IPDPS 2000
workshops; the dissertation measured its systems with it (4.4.1). Two comments name the run and the latency, a third
names the columns: time of day, bytes, o_s with its least value and confidence interval, o_r with both, and g; seconds.
"""

import re

import numpy as np
import numpy.typing as npt

from dashboard.models.errors import ModelError

MARK = "# LogP network performance data"
_LATENCY = re.compile(r"# Latency = (\S+)\s*")
#: Columns of bytes, o_s, o_r and g; of how many.
_BYTES, _SEND, _RECEIVE, _GAP, _COLUMNS = 1, 2, 5, 8, 9


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
            latency = _number(match[1], path, number)
        elif line.strip() and not line.startswith("#"):
            words = line.split()
            if len(words) != _COLUMNS:
                raise ModelError(f"{path}:{number}: {len(words)} columns; logp_test writes {_COLUMNS}")
            rows.append([_number(word, path, number) for word in words])
    if latency is None:
        raise ModelError(f"{path}: no line '# Latency = …', which logp_test writes second")
    columns = np.array(rows, dtype=np.float64).reshape(-1, _COLUMNS)
    columns = columns[np.argsort(columns[:, _BYTES], kind="stable")]
    return {
        "bytes": columns[:, _BYTES],
        "halfrtt_median": latency + columns[:, _GAP],
        "gap": columns[:, _GAP],
        "os": columns[:, _SEND],
        "or": columns[:, _RECEIVE],
    }


def _number(word: str, path: str, line: int) -> float:
    try:
        return float(word)
    except ValueError as error:
        raise ModelError(f"{path}:{line}: found {word[:40]!r}; expected a number") from error
