"""Whether the methods that a rules file asks for are right in every way of calling them, not only as proven."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dashboard.benchmarks.launchers.launch import Launcher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Method
from dashboard.benchmarks.proof.regions import Region
from dashboard.benchmarks.proof.target import Target, left_to_library
from dashboard.benchmarks.safety.check import MOST_RANKS, check
from dashboard.benchmarks.safety.order import Forced, Order
from dashboard.benchmarks.safety.verdict import Finding

#: Small communicators and the largest one: even, odd, a power of two and none.
_SIZES = (2, 3, 4, 5)
#: As in the job of the proof, whose settings leave it out.
_ENVIRONMENT = {"MPIR_CVAR_DEVICE_COLLECTIVES": "none"}


def faulty(
    target: Target,
    mpiexec: Path,
    python: Path,
    launcher: Launcher,
    regions: Iterable[Region],
    ranks: int,
    seconds: float,
    progress: Callable[[float, str], None] | None = None,
) -> tuple[Finding, ...]:
    """Methods of some regions with which something is wrong.

    Parameters
    ----------
    target
        The library.
    mpiexec, python, launcher
        How its ranks are started.
    ranks
        Largest communicator.
    seconds
        Time limit.

    Raises
    ------
    BenchError
        When no job can be run.
    """
    methods: dict[str, dict[tuple[tuple[str, int], ...], Forced]] = {}
    for region in regions:
        call = None if left_to_library(region.method) else target.forced(region.collective, region.method)
        if call is None:
            continue
        number = region.method.parameters.get("library_id")
        method = Method(
            region.method.algorithm, region.method.segment_size, (), None if number is None else int(number)
        )
        one = Forced(method, call.settings)
        methods.setdefault(region.collective, {}).setdefault(tuple(call.settings.items()), one)
    if not methods:
        return ()
    sizes = {size for size in (*_SIZES, min(ranks, MOST_RANKS)) if size <= ranks}
    order = Order(
        tuple(sorted(sizes)), {name: tuple(each.values()) for name, each in methods.items()}, target.set_at_call
    )
    installation = Installation(mpiexec, target.library)
    known: dict[str, Any] = {"python": python, "launcher": launcher, "environment": _ENVIRONMENT}
    found = check(installation, order, seconds=seconds, progress=progress, **known)
    return found.faulty
