"""Formulas against simulation: how well each holds over numbers of processes and segments."""

import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dashboard.domain.models import MODEL_NAMES, ModelName
from dashboard.models.collectives.model import CollectiveModel, Variant
from dashboard.models.errors import UnitError
from dashboard.models.p2p import Hockney, LogGP, PLogP, PointToPointModel
from dashboard.models.programs import programs_of
from dashboard.models.registry import ALL, model_of
from dashboard.models.simulator import simulate
from loaders import disk

#: Networks as the formulas take them: g covers o, and both overheads.
NETWORKS: Mapping[ModelName, PointToPointModel] = {
    "hockney": Hockney.of_microseconds(alpha=50, beta=0.01, gamma=0.003, delta=0.002),
    "loggp": LogGP.of_microseconds(latency=40, overhead=3, gap=8, gap_per_byte=0.01, gamma=0.003, delta=0.002),
    "plogp": PLogP.of_microseconds(
        latency=40,
        sizes=(0, 1, 1024, 65536, 4194304),
        gap=(8, 8, 20, 700, 45000),
        send_overhead=(2, 2, 4, 60, 4000),
        receive_overhead=(3, 3, 6, 90, 6000),
        gamma=0.003,
        delta=0.002,
    ),
}
COMM_SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64)
SEGMENT_COUNTS = (1, 2, 3, 4, 8, 16, 32, 64)
MOST_OF_A_BLOCK = 8
SEGMENT = 1024
TABLE = Path(__file__).with_name("comparison.json")
ROUNDING = 1e-9

Verdict = Literal["exact", "bound", "off"]


class Comparison(NamedTuple):
    """How one formula compares with the simulation."""

    #: Which formula.
    collective: str
    algorithm: str
    model: ModelName
    variant: Variant
    #: ``exact``, ``bound`` (never less than the simulation), or ``off``.
    verdict: Verdict
    #: Least and largest deviation, percent of the simulated time.
    low: float
    high: float
    #: Processes and segments where it is so.
    low_at: tuple[int, int]
    high_at: tuple[int, int]


def compare(
    collective: str,
    algorithm: str,
    model: ModelName,
    *,
    variant: Variant = "corrected",
    network: PointToPointModel | None = None,
    comm_sizes: Sequence[int] = COMM_SIZES,
    segment_counts: Sequence[int] = SEGMENT_COUNTS,
) -> Comparison:
    """Compare one formula with the simulated schedule.

    Parameters
    ----------
    network
        Parameters; without, those of `NETWORKS`.
    comm_sizes, segment_counts
        Where; messages are so many segments of 1 KiB long, whether they are cut or not.
    """
    network = NETWORKS[model] if network is None else network
    known = model_of(collective, algorithm)
    differences: list[tuple[float, tuple[int, int]]] = []
    for processes in comm_sizes:
        if known.applies(processes):
            for count in _counts(known, segment_counts):
                size, segment = sizes(known, processes, count)
                simulated = simulate(programs_of(collective, algorithm, processes, size, segment), network).time
                predicted = float(known.predict(network, processes, size, segment, variant=variant))
                differences.append((100 * (predicted / simulated - 1), (processes, count)))
    low, high = min(differences), max(differences)
    verdict: Verdict = "off"
    if low[0] > -100 * ROUNDING:
        verdict = "exact" if high[0] < 100 * ROUNDING else "bound"
    return Comparison(collective, algorithm, model, variant, verdict, low[0], high[0], low[1], high[1])


def sizes(known: CollectiveModel, processes: int, count: int) -> tuple[int, int]:
    """Message and segment size that give so many segments: of each half, of each block, or of the message."""
    vector = {"half": 2 * SEGMENT, "block": processes * SEGMENT}.get(known.segmented, SEGMENT)
    if known.algorithm in ("ring", "rabenseifner") and known.collective != "reduce_scatter":
        vector = processes * SEGMENT
    return vector * count, SEGMENT if known.segmented else 0


def _counts(known: CollectiveModel, counts: Sequence[int]) -> Sequence[int]:
    if known.collective == "barrier":
        return (1,)
    # Every block of the ring is cut: P times as many segments as elsewhere, each of them sent P - 1 times.
    return [count for count in counts if count <= MOST_OF_A_BLOCK] if known.segmented == "block" else counts


def table() -> tuple[Comparison, ...]:
    """Comparisons of all formulas over `COMM_SIZES` and `SEGMENT_COUNTS`, as the package has them on file."""
    rows: list[dict[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))
    return tuple(
        Comparison(**{**row, "low_at": tuple(row["low_at"]), "high_at": tuple(row["high_at"])}) for row in rows
    )


def write_table() -> None:
    """Simulate everything, which takes minutes, and put it on file for `table`.

    Every formula as it is by default and as it was printed; printed ones of mixed units are left out.
    """
    rows = []
    for known, model in product(ALL, MODEL_NAMES):
        variants: tuple[Variant, ...] = ("corrected", "as_published") if printed(known, model) else ("corrected",)
        for variant in variants:
            each = compare(known.collective, known.algorithm, model, variant=variant)
            each = each._replace(low=round(each.low, 2) + 0.0, high=round(each.high, 2) + 0.0)
            rows.append(json.dumps(each._asdict()))
    disk.write_text(TABLE, "[\n" + ",\n".join(rows) + "\n]\n")


def printed(known: CollectiveModel, model: ModelName) -> bool:
    """Whether a formula is printed otherwise, and in units that can be added."""
    formula = known.formula(model)
    if formula.printed is None:
        return False
    try:
        formula.printed.unit()
    except UnitError:
        return False
    return True
