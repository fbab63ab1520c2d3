"""Networks to test models on."""

from dashboard.domain.models import ModelName
from dashboard.models.p2p import Hockney, LogGP, PLogP, PointToPointModel
from tests.models.printed import NUMBERS

SIZES = (0.0, 1.0, 100.0, 1000.0, 10_000.0, 100_000.0, 10_000_000.0)
GAP = (9.0, 9.1, 11.5, 30.0, 160.0, 1520.0, 151_000.0)
SEND = (4.0, 4.1, 4.6, 9.0, 60.0, 600.0, 60_000.0)
RECEIVE = (5.0, 5.1, 6.0, 14.0, 110.0, 1100.0, 110_000.0)

N = NUMBERS
HOCKNEY = Hockney.of_microseconds(alpha=N["a"], beta=N["b"], gamma=N["c"], delta=N["d"])
LOGGP = LogGP.of_microseconds(
    latency=N["L"], overhead=N["o"], gap=N["gap"], gap_per_byte=N["G"], gamma=N["c"], delta=N["d"]
)
PLOGP = PLogP.of_microseconds(
    latency=N["L"], sizes=SIZES, gap=GAP, send_overhead=SEND, receive_overhead=RECEIVE, gamma=N["c"], delta=N["d"]
)
NETWORKS: dict[ModelName, PointToPointModel] = {"hockney": HOCKNEY, "loggp": LOGGP, "plogp": PLOGP}
