"""What the ranks say when they cannot measure; the MPI is played."""

import math
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.plan import Plan, point_key
from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.libraries.methods import Method
from dashboard.benchmarks.ranks import worker as module
from dashboard.benchmarks.ranks.worker import Worker


class World:
    """A job whose ranks all say the same."""

    def __init__(self, size: int) -> None:
        self.size = size

    def Get_rank(self) -> int:
        return 0

    def Get_size(self) -> int:
        return self.size

    def bcast(self, value: Any, root: int = 0) -> Any:
        return value

    def allgather(self, value: Any) -> list[Any]:
        return [value] * self.size


class Mpi:
    """As much of mpi4py.MPI as a worker needs to look around."""

    def __init__(self, size: int, version: str) -> None:
        self.COMM_WORLD = World(size)
        self._version = version

    def Get_library_version(self) -> str:
        return self._version


def worker(folder: Path, size: int, version: str = "Some MPI 5.0.11", **plan: Any) -> Worker:
    given: dict[str, Any] = {"methods": {"bcast": (Method("a"),)}, "comm_sizes": (2,), "message_sizes": (8,)}
    campaign = Campaign.create(folder, Plan(4, **{**given, **plan}))
    return Worker(Mpi(size, version), campaign, 1, time.monotonic() + 10)


def test_ranks_that_each_run_alone_name_the_likely_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_STEP_ID", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALRANKID"):
        monkeypatch.delenv(name, raising=False)
    ranks = worker(tmp_path, 1)
    assert ranks.fault().startswith("1 of 4 ranks: is mpiexec that of")
    # Within a step of Slurm it was srun, or an mpiexec that srun started on other nodes.
    monkeypatch.setenv("SLURM_STEP_ID", "0")
    assert ranks.fault().startswith("1 of 4 ranks: srun started each of them alone")
    assert "--mpi=pmix (--start-option;" in ranks.fault()
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    assert "is mpiexec that of" in ranks.fault()


def test_another_library_than_planned_is_named(tmp_path: Path) -> None:
    assert "plan anew" in worker(tmp_path, 4, "Open MPI v4.1.4", library="Open MPI", library_version="5.0.11").fault()


def test_without_a_tool_interface_it_says_what_can_be_measured_and_what_to_install(tmp_path: Path) -> None:
    # This process has loaded no MPI, as one whose library has no tool interface.
    fault = worker(tmp_path, 4, settings={"bcast": ({"some_variable": 1},)}).fault()
    assert "methods cannot be switched" in fault
    assert "--algorithms default" in fault
    assert "install" in fault


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, float]]:
    """Message sizes whose cells were measured, and the most seconds of a point; nothing is measured."""
    cells: list[tuple[int, float]] = []

    def measure(_team: Any, _plan: Any, cell: Cell, methods: Any, *_: Any) -> list[Any]:
        cells.append((cell.message_size, _[-1]))
        return [{} for _ in methods]

    monkeypatch.setattr(module, "Methods", lambda *_: SimpleNamespace(free=lambda: None))
    monkeypatch.setattr(module, "clock_offset", lambda *_, **__: 0.0)
    monkeypatch.setattr(module.cellrun, "measure", measure)
    return cells


def able(ranks: Worker) -> Worker:
    ranks._mpi = SimpleNamespace(SUM=None, MAX=None, BYTE=None, FLOAT=None)
    return ranks


def test_only_what_was_measured_again_is_said_to_have_been_and_what_cannot_be_trusted_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measured: list[tuple[int, float]]
) -> None:
    sizes, said, lines = (8, 16, 32), [], []
    doubtful = {point_key(Cell("bcast", 2, size), Method("a")): "late" for size in sizes}
    monkeypatch.setattr(module.again, "doubted", lambda *_: dict(doubtful))
    monkeypatch.setattr(module, "say", said.append)
    ranks = able(worker(tmp_path, 4, message_sizes=sizes))

    def cells(todo: Any, writer: Any) -> str:
        assert ranks._members(todo[:2], World(2), [0, 1], writer)
        doubtful.pop(next(iter(doubtful)))
        return "time limit"

    monkeypatch.setattr(ranks, "_all_of", cells)
    # The time of measuring is up, that of measuring again is not.
    ranks._until = 0.0
    ranks._once_more(1, SimpleNamespace(append=lines.append))
    assert measured == [(8, math.inf), (32, math.inf)]
    assert [line["again"] for line in lines] == ["late"] * 2
    assert ranks._progress._now == "measured again: bcast, 2 processes, 32 B"
    (words,) = said
    assert words.startswith("2 points were measured again")
    assert "; 2 cannot be trusted yet" in words


@pytest.mark.parametrize(("left", "cells", "most"), [(60.0, [8, 16, 32], 30.0), (0.0, [8], 0.0)])
def test_what_was_chosen_begins_no_further_cell_when_the_time_of_measuring_is_up(
    tmp_path: Path, measured: list[tuple[int, float]], left: float, cells: list[int], most: float
) -> None:
    ranks = able(worker(tmp_path, 4))
    ranks._until = time.monotonic() + left
    methods = [Method("a"), Method("b")]
    block = [(Cell("bcast", 2, size), methods) for size in (8, 16, 32)]
    assert ranks._members(block, World(2), [0, 1], None)
    assert [size for size, _ in measured] == cells
    # All methods of a cell together take no more than what is left.
    assert all(seconds == pytest.approx(most, abs=1.0) for _, seconds in measured)


@pytest.mark.parametrize("size", [4, 8])
def test_enough_ranks_of_the_right_library_can_measure(tmp_path: Path, size: int) -> None:
    assert worker(tmp_path, size).fault() == ""
