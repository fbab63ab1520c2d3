"""Simulated times of grids, message by message, with nodes of several processes: what layouts of SMP clusters cost."""

from typing import Any

from dashboard.models.errors import ModelError, NotApplicableError
from dashboard.models.grids import Predicted
from dashboard.models.p2p import PointToPointModel
from dashboard.models.programs import programs_from
from dashboard.models.published import improvement
from dashboard.models.simulator import Nodes, simulate
from dashboard.schedules import Call, ScheduleError, schedule
from dashboard.schedules.layout import layouts
from dashboard.schedules.orthogonal import NAME, inside, worded

#: Simulations of more processes take minutes.
MOST_PROCESSES = 512


def simulated(
    collective: str,
    processes: int,
    message_size: int,
    inner: str,
    parameters: PointToPointModel,
    nodes: Nodes | None = None,
    dimensions: int | None = None,
) -> tuple[float, list[Predicted]]:
    """Simulate an algorithm alone and inside of all grids.

    Parameters
    ----------
    collective, processes, message_size
        As for `dashboard.models.grids.predict`.
    inner
        Own algorithm, as `dashboard.schedules.orthogonal.worded` reads it.
    parameters, nodes
        As for `dashboard.models.simulator.simulate`.
    dimensions
        Of the grids; None: any.

    Returns
    -------
    tuple
        Seconds of the algorithm alone; the grids.

    Raises
    ------
    ModelError
        When there is no such algorithm, it cannot serve, or there are too many processes.
    """
    if not 2 <= processes <= MOST_PROCESSES:
        raise ModelError(f"processes is {processes}; expected 2 to {MOST_PROCESSES}")
    name, given = worded(inner)
    options: dict[str, Any] = dict(given)
    call = Call(collective, processes, message_size)
    try:
        alone = simulate(programs_from(schedule(call, name, **options)), parameters, nodes).time
        runs = []
        for grid in layouts(processes, dimensions):
            made = schedule(call, NAME, grid=str(grid), inner=inner)
            time = simulate(programs_from(made), parameters, nodes).time
            runs.append(Predicted(grid, time, improvement(alone, time), inside=inside(call, made.parameters)))
    except ScheduleError as error:
        raise NotApplicableError(str(error)) from error
    return alone, runs
