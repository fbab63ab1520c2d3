"""Surfaces and the recommended tree of 59 methods at 27 × 48 sizes: at most 3 s; each part by itself.

Seconds of the processor, so that others on the machine do not count; the second of two runs, when compiled code is
there.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import xarray as xr

from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.surfaces import Surfaces
from dashboard.decisions.surfaces.grid import comm_sizes_between, message_sizes_between
from tests.cubes import named, synthetic_cube

METHODS, ROWS, COLUMNS = 59, 27, 48


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of the second of two runs, and what it gave."""
    work()
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def cases() -> Iterator[tuple[str, xr.Dataset]]:
    """Results to decide on, by how much of them is missing."""
    for missing in (0.0, 0.1):
        yield f"{missing:.0%} missing", synthetic_cube(ROWS, COLUMNS, METHODS, 3, noise=0.1, missing=missing)
    cube = synthetic_cube(ROWS, COLUMNS, METHODS, 3, noise=0.1)
    in_all = cube["comm_size"] * cube["message_size"]
    methods = ["default", *map(str, range(1, METHODS))]
    blocks = named(cube.where(in_all <= in_all.quantile(0.7)), methods).assign_attrs(collective="allgather")
    yield "blocks whose largest 30 % in all are missing", blocks


def main() -> None:
    """Print the figures."""
    for name, cube in cases():
        times, sizes = cube["time"].values, (cube["comm_size"].values, cube["message_size"].values)
        wanted = comm_sizes_between(sizes[0]), message_sizes_between(sizes[1])
        took, _ = seconds(lambda times=times, sizes=sizes, wanted=wanted: Surfaces(times, *sizes).at(*wanted))
        growth, decision = seconds(lambda cube=cube: FAMILIES["recommended"].grow(Problem.of(cube)))
        print(
            f"{METHODS} methods, {ROWS} × {COLUMNS}, {name}: surfaces at {len(wanted[0])} × "
            f"{len(wanted[1])} sizes {took:.2f} s; recommended tree of {decision.leaves} leaves {growth:.2f} s"
        )


if __name__ == "__main__":
    main()
