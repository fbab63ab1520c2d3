"""Every formula against the simulation of its algorithm."""

import math

import pytest

from dashboard.domain.models import MODEL_NAMES, ModelName
from dashboard.models.collectives.model import CollectiveModel
from dashboard.models.compare import COMM_SIZES, SEGMENT_COUNTS, Comparison, compare, printed, table
from dashboard.models.p2p import PLogP
from dashboard.models.registry import ALL

FORMULAS = [(each, name) for each in ALL for name in MODEL_NAMES]
IDS = [f"{each.collective}-{each.algorithm}-{name}" for each, name in FORMULAS]
FEW_SIZES, FEW_COUNTS = (2, 3, 5, 7, 8, 16, 17), (1, 2, 5, 16)

#: Those that may tell less than the simulation, and by how many percent at most.
BELOW = {"gather-linear_sync-loggp": 3.0, "reduce_scatter-recursive_halving-hockney": 11.0}
BELOW["reduce_scatter-recursive_halving-plogp"] = 4.5
NO_GAP: tuple[ModelName, ...] = ("hockney", "plogp")
#: In these every message is where the formula has it.
EXACT: dict[str, tuple[ModelName, ...]] = {
    **dict.fromkeys(("barrier-flat_tree", "bcast-linear", "scatter-linear", "gather-linear"), MODEL_NAMES),
    **dict.fromkeys(("allgather-bruck", "allgather-recursive_doubling", "allgather-ring"), MODEL_NAMES),
    **dict.fromkeys(("allgather-neighbor_exchange", "alltoall-linear", "reduce-rabenseifner"), MODEL_NAMES),
    **dict.fromkeys(("reduce_scatter-ring", "allreduce-ring", "allreduce-rabenseifner", "scan-linear"), MODEL_NAMES),
    **dict.fromkeys(("barrier-double_ring", "barrier-bruck", "bcast-pipeline", "alltoall-pairwise"), NO_GAP),
    **dict.fromkeys(("gather-linear_sync", "reduce-flat_tree", "reduce-pipeline"), NO_GAP),
    "scan-linear_segmented": NO_GAP,
    **dict.fromkeys(("barrier-recursive_doubling", "bcast-binomial", "scatter-binomial"), ("hockney",)),
    **dict.fromkeys(("gather-binomial", "reduce-binomial"), ("hockney",)),
    **dict.fromkeys(("allreduce-recursive_doubling", "scan-binomial"), ("hockney",)),
}


def is_exact(each: CollectiveModel, model: ModelName) -> bool:
    return model in EXACT.get(f"{each.collective}-{each.algorithm}", ())


@pytest.mark.parametrize(("each", "model"), FORMULAS, ids=IDS)
def test_each_formula_is_exact_or_a_bound(each: CollectiveModel, model: ModelName) -> None:
    name = f"{each.collective}-{each.algorithm}-{model}"
    comparison = compare(each.collective, each.algorithm, model, comm_sizes=FEW_SIZES, segment_counts=FEW_COUNTS)
    if name in BELOW:
        assert -BELOW[name] < comparison.low < 0
    else:
        assert comparison.verdict == ("exact" if is_exact(each, model) else "bound")


CORRECTED = [(each, model) for each, model in FORMULAS if printed(each, model)]


@pytest.mark.parametrize(
    ("each", "model"), CORRECTED, ids=[f"{each.collective}-{each.algorithm}-{model}" for each, model in CORRECTED]
)
def test_corrections_come_closer_to_the_simulation(each: CollectiveModel, model: ModelName) -> None:
    right, wrong = (
        compare(
            each.collective, each.algorithm, model, variant=variant, comm_sizes=FEW_SIZES, segment_counts=(1, 2, 16)
        )
        for variant in ("corrected", "as_published")
    )
    assert right.low >= min(wrong.low, 0) - 1e-6
    assert right.high <= wrong.high + 1e-6 or right.low > wrong.low


def test_pipelines_hold_where_the_processor_is_the_bottleneck() -> None:
    busy = PLogP.of_microseconds(
        latency=40, sizes=(0, 1, 65536), gap=(8, 8, 700), send_overhead=(6, 6, 500), receive_overhead=(7, 7, 600)
    )
    comparison = compare("bcast", "pipeline", "plogp", network=busy, comm_sizes=(3, 8), segment_counts=(1, 16))
    wrong = compare(
        "bcast", "pipeline", "plogp", variant="as_published", network=busy, comm_sizes=(3, 8), segment_counts=(1, 16)
    )
    assert comparison.verdict == "exact"
    assert wrong.low < -20


def test_the_table_on_file_covers_every_formula() -> None:
    rows = table()
    assert {(row.collective, row.algorithm, row.model) for row in rows if row.variant == "corrected"} == {
        (each.collective, each.algorithm, name) for each, name in FORMULAS
    }
    assert max(COMM_SIZES) == max(SEGMENT_COUNTS) == 64
    assert all(row.verdict == "off" for row in rows if row.low < 0)


@pytest.mark.parametrize("row", table()[::11], ids=lambda row: "-".join(row[:4]))
def test_the_table_on_file_is_what_the_simulation_gives(row: Comparison) -> None:
    for deviation, (processes, count) in ((row.low, row.low_at), (row.high, row.high_at)):
        if processes * count <= 512:
            again = compare(*row[:3], variant=row.variant, comm_sizes=(processes,), segment_counts=(count,))
            assert math.isclose(again.low, deviation, abs_tol=0.006)
