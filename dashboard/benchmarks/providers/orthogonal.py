"""Grids as a provider: collectives in phases over the groups of a grid, run as schedules like own methods."""

from collections.abc import Iterable, Sequence

from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.methods import Method, Variants
from dashboard.schedules import ALGORITHMS, ScheduleError
from dashboard.schedules.layout import LEAST_DIMENSIONS, Grid, layouts
from dashboard.schedules.orthogonal import BETWEEN_PHASES, worded
from dashboard.schedules.orthogonal import NAME as GRIDS
from dashboard.schedules.phases import FORCED, LIBRARY

NAME, ALL = GRIDS, "all"


def methods(collective: str, variants: Variants) -> list[Method]:
    """Every grid with every inner algorithm; of collectives that cannot be made of phases none."""
    algorithm = ALGORITHMS.get(collective, {}).get(NAME)
    if algorithm is None:
        return []
    inner = next(each for each in algorithm.parameters if each.name == "inner")
    known = (*inner.values, LIBRARY)
    names = [name for name in variants.inner if _serves(name, known, collective)] or [str(inner.default)] * (
        not variants.inner
    )
    pairs = ((grid, name) for grid in variants.grids for name in names)
    return [Method(NAME, 0, (("grid", grid), ("inner", name)), provider=NAME) for grid, name in pairs]


def _serves(inner: str, known: Sequence[int | str], collective: str) -> bool:
    """Whether all methods that are named are of a collective; of the library one at most is forced."""
    words = inner.split(BETWEEN_PHASES)
    forced = {word for word in words if word.startswith(FORCED)}
    if forced and (len(forced) > 1 or collective.endswith("v")):
        return False
    return all(word in forced or worded(word)[0] in known for word in words)


def grids(text: str, comm_sizes: Iterable[int]) -> tuple[str, ...]:
    """Grids by name for communicators: ``all``, numbers of dimensions, or grids such as ``4x8``, with commas.

    Raises
    ------
    PlanError
        When a word is none of these, or a grid fits none of the communicators.
    """
    sizes = tuple(comm_sizes)
    names: dict[str, None] = {}
    for word in text.split(","):
        name = word.strip()
        if name == ALL or name.isdecimal():
            dimensions = None if name == ALL else int(name)
            if dimensions is not None and dimensions < LEAST_DIMENSIONS:
                raise PlanError(f"grids of {dimensions} dimensions: allowed are 2 or more")
            names |= {str(grid): None for size in sizes for grid in layouts(size, dimensions)}
            continue
        try:
            grid = Grid.of(name)
        except ScheduleError as error:
            raise PlanError(f"{error}; allowed are all, numbers of dimensions and grids") from None
        if grid.processes not in sizes:
            raise PlanError(f"grid {grid} is for {grid.processes} processes; the plan has {', '.join(map(str, sizes))}")
        names[str(grid)] = None
    return tuple(names)
