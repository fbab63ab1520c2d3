"""Random numbers by counting: every process of a communicator draws the same without a word between them.

The generator is SplitMix64 (Steele, Lea, Flood: *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014), applied
to seed, communicator, collective and number of the call. The preloaded library has the same in C; a test holds both
to each other bit by bit.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.domain.arrays import FloatArray

Words = npt.NDArray[np.uint64]

#: What a number is drawn for.
METHOD, SAMPLED = 0, 1
_GOLDEN, _ONE, _TWO = (np.uint64(each) for each in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_COLLECTIVE_SHIFT, _PURPOSE_SHIFT = np.uint64(48), np.uint64(62)


def mixed(words: Any) -> Words:
    """One step of SplitMix64 for each of some uint64."""
    with np.errstate(over="ignore"):
        z = np.asarray(words, dtype=np.uint64) + _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * _ONE
        z = (z ^ (z >> np.uint64(27))) * _TWO
    return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)


def stream(seed: int, comm: Any) -> Words:
    """What all draws on a communicator start from; `comm` is its id, uint64."""
    with np.errstate(over="ignore"):
        return mixed(mixed(np.uint64(seed % (1 << 64))) + np.asarray(comm, dtype=np.uint64))


def draws(start: Any, collective: Any, call: Any, purpose: int = METHOD) -> FloatArray:
    """Numbers in [0, 1) of 53 bits.

    Parameters
    ----------
    start
        As `stream` gives it.
    collective
        Number of the collective in the table, from 0.
    call
        Number of the call on the communicator, from 0, below 2^48.
    purpose
        `METHOD` or `SAMPLED`: two numbers of one call have nothing to do with each other.
    """
    what = (np.asarray(collective, dtype=np.uint64) << _COLLECTIVE_SHIFT) | np.asarray(call, dtype=np.uint64)
    what = what | (np.uint64(purpose) << _PURPOSE_SHIFT)
    with np.errstate(over="ignore"):
        words = mixed(np.asarray(start, dtype=np.uint64) + what)
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
