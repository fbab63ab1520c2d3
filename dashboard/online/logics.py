"""How a method is chosen at a call: one interface for what the preloaded library does and for what it is compared with.

`tuning`, `tuned` and `uniform` are those of Steiner, section 4.6.2. The others learn from call to call and are there
for comparison: ε-greedy; UCB1 (Auer, Cesa-Bianchi, Fischer 2002) on each bin; STAR-MPI (Faraj, Yuan, Lowenthal 2006),
which measures all methods in turn, keeps the best, looks at it now and then and starts over when it has become slower.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from dashboard.domain.arrays import BoolArray, FloatArray, IntArray
from dashboard.online.selection import Calls, Choice

_EPSILON = 0.1
_MEASURED_EACH = 5
_KEPT_FOR = 50
_SLOWER = 1.5


class Logic(Protocol):
    """Chooses methods; `one_by_one` tells whether it must see each call's time before the next call."""

    one_by_one: bool

    def choose(self, calls: Calls, draw: FloatArray, allowed: BoolArray) -> IntArray:
        """AlgID of each call, 0 = the library's own decision; `allowed` is ``(call, method)``."""

    def observe(self, calls: Calls, alg: IntArray, time: FloatArray) -> None:
        """Take in what the calls took, seconds."""


class Uniform:
    """All methods alike."""

    one_by_one = False

    def choose(self, calls: Calls, draw: FloatArray, allowed: BoolArray) -> IntArray:
        """The draw's share of those allowed."""
        count = np.cumsum(allowed, axis=1)
        return np.asarray((count > (draw * count[:, -1])[:, None]).argmax(axis=1) + 1, dtype=np.int64)

    def observe(self, calls: Calls, alg: IntArray, time: FloatArray) -> None:
        """Nothing: what was seen is learnt offline."""


class Vector(Uniform):
    """By what was learnt offline: tried by probability, or with `best` the best one."""

    def __init__(self, choice: Choice, *, best: bool = False) -> None:
        self._choice, self._best = choice, best

    def choose(self, calls: Calls, draw: FloatArray, allowed: BoolArray) -> IntArray:
        """By the bins."""
        return self._choice.tuned(calls, allowed) if self._best else self._choice.tried(calls, draw, allowed)


class Greedy(Vector):
    """The best, but in a share of the calls any method."""

    def choose(self, calls: Calls, draw: FloatArray, allowed: BoolArray) -> IntArray:
        """A draw below ε decides, what is left of it, among all."""
        trying = draw < _EPSILON
        other = Uniform.choose(self, calls, np.where(trying, draw / _EPSILON, 0.0), allowed)
        return np.where(trying, other, super().choose(calls, draw, allowed))


class _Counting:
    """Keeps timings of each size and method."""

    one_by_one = True

    def __init__(self) -> None:
        self._times: dict[tuple[int, int, int], list[list[float]]] = {}

    def _of(self, calls: Calls, methods: int) -> list[list[float]]:
        key = (int(calls.message_size[0]), int(calls.nodes[0]), int(calls.ppn[0]))
        return self._times.setdefault(key, [[] for _ in range(methods)])

    def observe(self, calls: Calls, alg: IntArray, time: FloatArray) -> None:
        """Remember it."""
        key = (int(calls.message_size[0]), int(calls.nodes[0]), int(calls.ppn[0]))
        if alg[0] > 0 and key in self._times:
            self._times[key][int(alg[0]) - 1].append(float(time[0]))


class Bound(_Counting):
    """UCB1: the largest bound on the performance, relative to the best seen."""

    def choose(self, calls: Calls, draw: FloatArray, allowed: BoolArray) -> IntArray:
        """What was not tried yet, else the largest bound."""
        seen = self._of(calls, allowed.shape[1])
        able = np.flatnonzero(allowed[0])
        untried = [method for method in able if not seen[method]]
        if untried:
            return np.array([untried[0] + 1])
        means = np.array([np.mean(seen[method]) for method in able])
        counts = np.array([len(seen[method]) for method in able])
        bound = means.min() / means + np.sqrt(2 * np.log(counts.sum()) / counts)
        return np.array([able[bound.argmax()] + 1])


class Star(_Counting):
    """STAR-MPI: all in turn, then the best for a while, then again where that has become slower."""

    def choose(self, calls: Calls, draw: FloatArray, allowed: BoolArray) -> IntArray:
        """Next of the round, or the best."""
        seen = self._of(calls, allowed.shape[1])
        able = np.flatnonzero(allowed[0])
        short = [method for method in able if len(seen[method]) < _MEASURED_EACH]
        if short:
            return np.array([min(short, key=lambda method: (len(seen[method]), method)) + 1])
        order = sorted(able, key=lambda method: (np.median(seen[method][:_MEASURED_EACH]), method))
        best, following = order[0], order[1 % len(order)]
        recent = seen[best][-_MEASURED_EACH:]
        total = sum(map(len, seen))
        if np.median(recent) > _SLOWER * np.median(seen[best][:_MEASURED_EACH]):
            for times in seen:
                times.clear()
            return np.array([best + 1])
        return np.array([(following if total % _KEPT_FOR == 0 else best) + 1])


#: By name; what was learnt offline is given to those that look it up.
LOGICS: Mapping[str, Callable[[Any], Logic]] = {
    "tuning": Vector,
    "tuned": lambda choice: Vector(choice, best=True),
    "uniform": lambda choice: Uniform(),
    "epsilon-greedy": lambda choice: Greedy(choice, best=True),
    "ucb": lambda choice: Bound(),
    "star": lambda choice: Star(),
}
