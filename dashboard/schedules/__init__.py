"""Own methods: every algorithm written once, as schedules that are simulated, drawn, proven, run and measured."""

from dashboard.schedules.algorithm import Algorithm
from dashboard.schedules.call import Call, View
from dashboard.schedules.errors import DeadlockError, NotApplicableError, ScheduleError, WrongResultError
from dashboard.schedules.registry import ALGORITHMS, ALL, algorithm_of
from dashboard.schedules.schedule import Program, Schedule, program, resolve, schedule

__all__ = [
    "ALGORITHMS",
    "ALL",
    "Algorithm",
    "Call",
    "DeadlockError",
    "NotApplicableError",
    "Program",
    "Schedule",
    "ScheduleError",
    "View",
    "WrongResultError",
    "algorithm_of",
    "collectives",
    "datatypes",
    "drawing",
    "errors",
    "expectation",
    "grid",
    "in_process",
    "layout",
    "movement",
    "orthogonal",
    "over_mpi",
    "phases",
    "program",
    "rank",
    "registry",
    "resolve",
    "schedule",
    "steps",
    "trace",
    "units",
    "verification",
]
