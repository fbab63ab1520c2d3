"""Whether the methods that a rules file asks for are right in every way of calling them, not only as proven."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dashboard.benchmarks.launchers.launch import Launcher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Method
from dashboard.benchmarks.proof.regions import Region
from dashboard.benchmarks.proof.target import Target, left_to_library
from dashboard.benchmarks.safety.check import MOST_RANKS, Report, check
from dashboard.benchmarks.safety.order import Forced, Order
from dashboard.export.components import named

#: Small communicators and the largest one: even, odd, a power of two and none.
_SIZES = (2, 3, 4, 5)
#: As in the job of the proof, whose settings leave it out.
_ENVIRONMENT = {"MPIR_CVAR_DEVICE_COLLECTIVES": "none"}


def checked(
    target: Target,
    mpiexec: Path,
    python: Path,
    launcher: Launcher,
    regions: Iterable[Region],
    ranks: int,
    seconds: float,
    progress: Callable[[float, str], None] | None = None,
) -> Report | None:
    """What calling the methods of some regions in every way comes to; None where none can be forced.

    Parameters
    ----------
    ranks
        Largest communicator.

    Raises
    ------
    BenchError
        When no job can be run.
    """
    methods: dict[str, dict[tuple[str, tuple[tuple[str, int], ...]], Forced]] = {}
    for region in regions:
        forced = _forced(target, region)
        if forced is not None:
            key = (forced.component, tuple(forced.settings.items()))
            methods.setdefault(region.collective, {}).setdefault(key, forced)
    if not methods:
        return None
    sizes = {size for size in (*_SIZES, min(ranks, MOST_RANKS)) if size <= ranks}
    order = Order(
        tuple(sorted(sizes)), {name: tuple(each.values()) for name, each in methods.items()}, target.set_at_call
    )
    installation = Installation(mpiexec, target.library)
    known: dict[str, Any] = {"python": python, "launcher": launcher, "environment": _ENVIRONMENT}
    return check(installation, order, seconds=seconds, progress=progress, **known)


def _forced(target: Target, region: Region) -> Forced | None:
    """The method of a region with what makes the library take it; None where that is its own, or cannot be."""
    asked = region.method
    if target.listens and (component := named(asked)):
        method = Method(component)
        return Forced(method, target.library.settings(region.collective, method), component)
    call = None if left_to_library(asked) else target.forced(region.collective, asked)
    if call is None:
        return None
    number = asked.parameters.get("library_id")
    method = Method(asked.algorithm, asked.segment_size, (), None if number is None else int(number))
    return Forced(method, call.settings)
