"""Own methods as a provider: every algorithm of `dashboard.schedules`, run by an executor over the library."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from typing import Any

from dashboard.benchmarks.libraries.methods import Method, Variants
from dashboard.benchmarks.providers.bound import Bound, when_needed
from dashboard.benchmarks.providers.executor import Executor
from dashboard.benchmarks.providers.grid_comms import GridComms, forced_of
from dashboard.benchmarks.ranks.counting import Sent
from dashboard.benchmarks.ranks.operations import Operation
from dashboard.domain.arrays import Array
from dashboard.schedules import ALGORITHMS, Algorithm, Call, Program, algorithm_of, program, resolve
from dashboard.schedules.layout import Grid
from dashboard.schedules.orthogonal import NAME as GRIDS
from dashboard.schedules.orthogonal import worded
from dashboard.schedules.phases import by_library
from dashboard.schedules.schedule import sent_by

NAME = "own"
SEGMENT_SIZE = "segment_size"
#: Of which parameters `Variants` has the values.
_VARIED = {"fan_out": "fan_outs", "radix": "radixes", "max_requests": "max_requests", "first_segment": "first_segments"}


def methods(collective: str, variants: Variants) -> list[Method]:
    """Own methods of a collective: of each algorithm one for every value of each parameter, the others by default."""
    methods = [
        Method(algorithm.name, size, _relevant(given), provider=NAME)
        for algorithm in ALGORITHMS.get(collective, {}).values()
        if algorithm.name != GRIDS
        for size in (variants.segment_sizes if SEGMENT_SIZE in algorithm.values({}) else (0,))
        for given in _settings(algorithm, variants)
    ]
    # A parameter of a part that was not chosen changes nothing.
    return list(dict.fromkeys([*methods, *_named(collective, variants)]))


def _named(collective: str, variants: Variants) -> Iterator[Method]:
    """Own methods that are wanted with parameters of their own."""
    for word in variants.named:
        name, given = worded(word)
        algorithm = ALGORITHMS.get(collective, {}).get(name)
        if algorithm is None or name == GRIDS or given.pop("provider", NAME) != NAME:
            continue
        if not given.keys() <= {each.name for each in algorithm.parameters}:
            continue
        values = algorithm.values(given)
        size = int(values.pop(SEGMENT_SIZE, 0))
        yield Method(name, size, _relevant(values), provider=NAME)


def _settings(algorithm: Algorithm, variants: Variants) -> Iterator[dict[str, Any]]:
    """Values of all parameters but the segment size."""
    defaults = algorithm.values({})
    defaults.pop(SEGMENT_SIZE, None)
    if not defaults:
        yield {}
    for parameter in algorithm.parameters:
        if parameter.name in defaults:
            own = parameter.values
            # Those of which nothing was said have the values of interest.
            values = getattr(variants, _VARIED[parameter.name]) or own if parameter.name in _VARIED else own
            yield from ({**defaults, parameter.name: value} for value in values)


def _relevant(given: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Parameters without those of parts that are not chosen, such as the fan-out of a binomial tree."""
    parts = [name for name, value in given.items() if isinstance(value, str) and value in ALGORITHMS.get(name, {})]
    kept = {}
    for name, value in given.items():
        part = next((prefix for prefix in parts if name.startswith(f"{prefix}_")), None)
        known = algorithm_of(part, given[part]).values({}) if part else {}
        if part is None or name.removeprefix(f"{part}_") in known:
            kept[name] = value
    return tuple(sorted(kept.items()))


def call_of(operation: Operation, root: int = 0) -> Call:
    """The call of an operation with a root, as schedules are made for it."""
    cell, size = operation.cell, operation.size
    counts: Any = None
    if operation.entry.counts == "of pairs":
        counts = tuple(tuple(operation.exchange.between(rank)) for rank in range(size))
    elif operation.entry.counts == "of ranks":
        counts = tuple(operation.counts)
    size_of = operation.dtype.itemsize
    return Call(cell.collective, size, operation.count, root, size_of, commutative=operation.commutes, counts=counts)


def given(method: Method) -> dict[str, Any]:
    """Parameters of a method as `dashboard.schedules.resolve` takes them."""
    size = {SEGMENT_SIZE: method.segment_size} if method.segment_size else {}
    return {**dict(method.parameters), **size}


def memory_of(operation: Operation, copy: int) -> tuple[Array, Array]:
    """Input and output of a pair of buffers; what is broadcast is both."""
    sent, received = operation.pairs[copy]
    return (received, sent) if operation.cell.collective == "bcast" else (sent, received)


class Own:
    """Gives a team own methods, bound to the operation at hand.

    Parameters
    ----------
    comm
        Communicator of the team; messages go over a duplicate of it.
    """

    def __init__(self, comm: Any, executor: Executor) -> None:
        self._comm, self._executor = comm.Dup(), executor
        self._operation: Operation | None = None
        self._made: dict[Method, Bound] = {}
        self._grids: dict[tuple[str, str], GridComms] = {}

    def bind(self, operation: Operation, method: Method) -> Bound:
        """Bind a method.

        Raises
        ------
        NotApplicableError
            When neither its algorithm nor the fallback can serve; the same on all ranks.
        """
        if operation is not self._operation:
            self._release()
            self._operation = operation
        if method not in self._made:
            inner = str(dict(method.parameters).get("inner", ""))
            self._made[method] = (self._in_phases if by_library(inner) else self._scheduled)(operation, method)
        return self._made[method]

    def _in_phases(self, operation: Operation, method: Method) -> Bound:
        """Over communicators of a grid, made once, of a forced method under the variables that force it; collective."""
        key = str(dict(method.parameters)["grid"]), forced_of(method) and str(method)
        if key not in self._grids:
            self._grids[key] = GridComms(self._comm, Grid.of(key[0]))
        return self._grids[key].bound(operation, method, self._executor)

    def _scheduled(self, operation: Operation, method: Method) -> Bound:
        """By a program for each root."""
        # Refused here, the same on all ranks, before the first message.
        algorithm, values = resolve(call_of(operation), method.algorithm, given(method), fallback=True)
        requests = ExitStack()

        @cache
        def of_root(root: int) -> Program:
            return program(call_of(operation, root), algorithm, values, operation.rank)

        def make(copy: int, root: int) -> Callable[[], None]:
            memory = memory_of(operation, copy)
            run = self._executor.bind(self._comm, of_root(root), memory, operation.handle, operation.sum)
            requests.callback(run.free)
            return run

        def sent(root: int) -> Sent:
            return [(to, *counted) for to, counted in sent_by(of_root(root), operation.dtype.itemsize).items()]

        title = " ".join([algorithm.name, *(f"{name}={value}" for name, value in sorted(values.items()))])
        return when_needed(make, operation.copies, (f"{method.provider} {title}",), requests.close, sent)

    def _release(self) -> None:
        """Give back what was made for the operation before."""
        for each in self._made.values():
            each.free()
        self._made.clear()

    def free(self) -> None:
        """Give everything back; collective."""
        self._release()
        for each in self._grids.values():
            each.free()
        self._comm.Free()
