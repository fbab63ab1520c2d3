"""Applications in all variants compute what one process computes; weights of Adams methods as specified."""

import json
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.benchmarks.applications import systems
from dashboard.benchmarks.applications.communication import empty
from dashboard.benchmarks.applications.order import Order, shares
from dashboard.benchmarks.applications.weights import radau, weights
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.library import Installation
from dashboard.models.applications import answers_in
from tests.cli.command import Run
from tests.conftest import ran

pytestmark = pytest.mark.slow

#: Run in one start of eight ranks: sizes that 8 does not divide, both systems, K = 4 and 8.
ORDERS = [
    *(
        Order("jacobi", variant, 8, 101, ways=("original", "orthogonal", "2x2x2"), repetitions=1, steps=99)
        for variant in ("row", "column", "reduce_bcast", "gather_scatter")
    ),
    Order("jacobi", "row", 8, 60, inner={"allgather": "gather_bcast:gather=linear:bcast=linear"}, steps=99),
    Order("pab", "data", 8, 162, ways=("original", "4x2"), repetitions=1, steps=4),
    Order("pabm", "data", 8, 101, repetitions=1, stages=8, iterations=2, system="dense", steps=4),
    Order("pab", "task", 8, 101, repetitions=1, stages=8, system="dense", steps=4),
    Order("pabm", "task", 8, 162, repetitions=1, iterations=3, steps=4),
]
PROGRAM = """
import json, sys
from pathlib import Path
from mpi4py import MPI
from dashboard.benchmarks.applications.order import Order
from dashboard.benchmarks.applications.worker import Ranks
orders = [Order.from_json(each) for each in json.loads(Path(sys.argv[1]).read_text())]
results = [Ranks(MPI, each, None).run() for each in orders]
if MPI.COMM_WORLD.rank == 0:
    Path(sys.argv[2]).write_text(json.dumps(results))
"""


@pytest.fixture(scope="module")
def results(
    installation: Installation, mpirun_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    """What became of all orders."""
    folder = tmp_path_factory.mktemp("applications")
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "orders.json").write_text(json.dumps([each.to_json() for each in ORDERS]), encoding="utf-8")
    program = [str(folder / name) for name in ("program.py", "orders.json", "results.json")]
    command = [str(installation.mpiexec), "-n", "8", sys.executable, "-m", "mpi4py", *program]
    environment = {**mpirun_environment, "PYTHONPATH": str(Path(__file__).parents[2])}
    ran(command, env=environment, timeout=180)
    read: list[dict[str, Any]] = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return read


def test_all_variants_and_ways_have_the_iterates_of_one_process(results: list[dict[str, Any]]) -> None:
    assert len(results) == len(ORDERS)
    for order, result in zip(ORDERS, results, strict=True):
        for way in result["ways"]:
            assert way["difference"] < 1e-11, (order, way["way"])
            assert way["steps"] == result["alone"]["steps"]
        if order.application == "jacobi":
            assert 3 < result["alone"]["steps"] < 99
            assert result["alone"]["residual"] < 1e-7


def test_every_phase_has_its_time(results: list[dict[str, Any]]) -> None:
    original, square, cube = results[1]["ways"]
    assert set(original["phases"]) == {"compute", "allreduce", "allgather"}
    assert square["grid"] == "2x4"
    assert {name for name in square["phases"] if name.startswith("allg")} == {
        "allgather, phase 1 of 2x4",
        "allgather, phase 2 of 2x4",
    }
    assert len(cube["phases"]) == 7
    for way in (original, square, cube):
        (seconds,) = way["seconds"]
        # A rank's phases add up to its time; the way takes that of the slowest rank, which may have lacked a core.
        assert 0.1 * seconds < sum(turns[0]["mean"] for turns in way["phases"].values()) < 1.01 * seconds
        assert all(turns[0]["max"] <= 1.01 * seconds for turns in way["phases"].values())
    tasks = results[-1]["ways"]
    assert [set(way["phases"]) for way in tasks] == [
        {"compute", "allgather within a stage", "allgather between stages"}
    ] * 2


def test_no_page_of_a_buffer_is_touched_first_by_a_timed_step() -> None:
    # So much memory the system gives anew.
    memory = empty(1 << 23)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    memory += 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 8


def test_weights_are_those_of_the_specification() -> None:
    two = weights(np.array([1 / 3, 1.0]))
    assert two.predictor == pytest.approx(np.array([[-1 / 12, 5 / 12], [-3 / 4, 7 / 4]]))
    assert two.corrector == pytest.approx(np.array([[-0.009259, 0.194444], [-0.15, 0.75]]), abs=1e-6)
    assert two.implicit == pytest.approx([0.148148, 0.4], abs=1e-6)
    four = weights(radau(4))
    assert four.abscissae == pytest.approx([0.088588, 0.409467, 0.787659, 1], abs=1e-6)
    assert four.implicit == pytest.approx([0.037260, 0.129481, 0.217231, 0.263566], abs=1e-6)
    assert four.predictor.sum(axis=1) == pytest.approx(four.abscissae)
    assert four.corrector.sum(axis=1) + four.implicit == pytest.approx(four.abscissae)


def test_slopes_of_parts_are_parts_of_the_slopes() -> None:
    y = systems.start("sparse", 128) + np.sin(np.arange(128))
    slopes = systems.slopes("sparse", 128, 1, 0, 128)(0.0, y)
    cut = [systems.slopes("sparse", 128, 1, 30 * part, min(30 * part + 30, 128))(0.0, y) for part in range(5)]
    assert np.concatenate(cut).tolist() == slopes.tolist()
    # Diffusion moves and makes nothing: what is left of the sum is the reaction.
    u, v = y[:64], y[64:]
    assert slopes.sum() == pytest.approx((1 + u**2 * v - 4.4 * u + 3.4 * u - u**2 * v).sum())
    spectrum = np.linalg.eigvals(np.array([systems.slopes("dense", 20, 3, 0, 20)(0.0, each) for each in np.eye(20)]))
    assert (spectrum.real < 0).all()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"application": "gauss"}, "application 'gauss': allowed are jacobi, pab, pabm"),
        ({"variant": "rows"}, "variant 'rows': allowed are row, column"),
        ({"processes": 7}, "there is no such grid of 7 processes"),
        ({"processes": 1}, "there is no such grid of 1 process$"),
        ({"ways": ("2x3",)}, "there is no such grid of 8 processes"),
        ({"application": "pab", "variant": "data"}, "2 N² unknowns, such as 98 or 128"),
        ({"application": "pab", "variant": "task", "size": 128, "stages": 3}, "need a multiple of 3"),
    ],
)
def test_what_cannot_be_run_is_refused(changes: dict[str, Any], why: str) -> None:
    given = {"application": "jacobi", "variant": "row", "processes": 8, "size": 100, **changes}
    with pytest.raises(PlanError, match=why.replace("(", r"\(")):
        Order(**given)
    assert shares(10, 4) == (3, 3, 2, 2)


def test_the_command_runs_predicts_and_says_what_was_gained(
    installation: Installation, tmp_path: Path, done: Run
) -> None:
    output = tmp_path / "jacobi.json"
    words = "orthogonal run jacobi --ranks 4 --size 64,72 --repetitions 2 --machine clic-lam --json -o"
    answers = done(*words.split(), output).json["runs"]
    assert answers == answers_in(output)
    assert [each["order"]["size"] for each in answers] == [64, 72]
    answer = answers[0]
    original, other = answer["ways"]
    # All ranks are on this node.
    assert answer["rank_nodes"].endswith(" 0-3")
    assert other["within_nodes"] == [1, 1]
    # Phases of 2 x 2 by the printed functions: gather and broadcast of blocks of 128 and 256 bytes.
    gather, bcast = 0.009 + (-0.0825 + 0.0929 * 2) * 1e-6 * 128, (-0.085 + 0.092 * 2) * 1e-6 * 256
    second = 0.009 + (-0.0825 + 0.0929 * 2) * 1e-6 * 256 + (-0.085 + 0.092 * 2) * 1e-6 * 512
    alone = answer["alone"]["seconds"] / answer["alone"]["steps"]
    assert other["predicted"] == pytest.approx(alone / 4 + gather + bcast + second)
    assert other["deviation"] == pytest.approx(100 * (other["step"] - other["predicted"]) / other["step"])
    assert set(other["gain"]) == {"mean", "low", "high", "p"}
    assert "gain" not in original


@pytest.mark.usefixtures("installation")
def test_single_things_are_counted_as_one(done: Run) -> None:
    words = "orthogonal run jacobi --ranks 1 --size 1 --ways original --repetitions 1 --steps 1"
    assert done(*words.split()).out.startswith(
        "jacobi row, 1 unknown, 1 process on 1 node; 1 step, 1 turn; one process"
    )
