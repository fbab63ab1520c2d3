"""Information, gain and split information in single precision, in the order of Release 8's operations.

Counts, gains and informations are float32, logarithms float64: an expression of both is evaluated in double
precision and rounded when it is stored. That order decides ties, which are common with composite attributes.
"""

import math

import numpy as np

from dashboard.decisions.grown.c45.kernel import kernel
from dashboard.domain.arrays import Float32, FloatArray

# Of NumPy's own kind: with a plain number, NumPy's scalars would stay in single precision where compiled code does not.
LN2 = np.float64(0.69314718055994530942)
EPSILON = np.float64(1e-3)
UNUSABLE = np.float32(-EPSILON)


def log_table(count: int) -> FloatArray:
    """Give ``n * log2(n)`` for n = 0, 1, … count."""
    logs = np.array([0.0, *(math.log(n) for n in range(1, count + 1))])
    return np.asarray(np.arange(count + 1) * (logs / LN2))


@kernel
def n_log_n(n: np.float32, logs: FloatArray) -> np.float64:
    """Give ``n * log2(n)``, 0 for n <= 0, looked up for whole numbers."""
    integer = np.int32(n)
    if integer == n and 0 <= integer < logs.size:
        return np.float64(logs[integer])
    return np.float64(np.float64(n) * (math.log(np.float64(n)) / LN2)) if n > 0 else np.float64(0)


@kernel
def total_information(counts: Float32, logs: FloatArray) -> np.float32:
    """Give the total information T of counts, in bits: N log2 N - sum of n log2 n."""
    total = np.float32(0)
    parts = np.float32(0)
    for n in counts:
        parts = np.float32(parts + n_log_n(n, logs))
        total = np.float32(total + n)
    return np.float32(n_log_n(total, logs) - parts)


@kernel
def gain_of(
    base: np.float32, remaining: np.float32, known: np.float32, unknown: np.float32, cases: np.float32
) -> np.float32:
    """Give the gain from the total information that remains in the branches."""
    share = np.float32(np.float32(1) - np.float32(unknown / cases))
    return np.float32(share * np.float32(base - np.float32(remaining / known)))


@kernel
def discrete_gain(
    counts: Float32, sizes: Float32, number: int, base: np.float32, min_cases: int, logs: FloatArray
) -> tuple[np.float32, np.float32]:
    """Give gain and split information of one branch for each value, or group of values.

    Parameters
    ----------
    counts
        ``(branch, class)`` number of cases.
    sizes
        ``(1 + branch,)`` number of cases, the first those whose value is unknown.
    number
        Number of branches that count; there may be room for more.
    base
        Information per case before the test.
    """
    reasonable = 0
    known = np.float32(0)
    remaining = np.float32(0)
    for branch in range(number):
        reasonable += sizes[branch + 1] >= min_cases
        known = np.float32(known + sizes[branch + 1])
        remaining = np.float32(remaining + total_information(counts[branch], logs))
    if reasonable < 2:
        return UNUSABLE, np.float32(0)
    cases = np.float32(sizes[0] + known)
    info = np.float32(total_information(sizes[: number + 1], logs) / cases)
    return gain_of(base, remaining, known, sizes[0], cases), info
