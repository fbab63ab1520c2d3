"""Points that no start of some ranks can measure: they need more nodes, or more processes on each, than it has."""

from dataclasses import dataclass

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.plan import Plan, placed, point_key
from dashboard.benchmarks.campaigns.protocol import Cell, PointKey
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers import started_by
from dashboard.benchmarks.launchers.launch import Launcher
from dashboard.domain.units import format_count


@dataclass(frozen=True)
class Reach:
    """Nodes of a start, and processes on each at most; None: not known before it runs."""

    nodes: int | None = None
    ppn: int | None = None
    #: Processes on each node, as the last start of the same ranks in the same way found them; empty: none has.
    filled: tuple[int, ...] = ()

    def lacks(self, cell: Cell) -> bool:
        """Whether a cell cannot be measured there, as far as is known."""
        if cell.ppn is None:
            return False
        if self.filled:
            names = [str(node) for node, ranks in enumerate(self.filled) for _ in range(ranks)]
            return placed(names, cell.comm_size, cell.ppn) is None
        lacks_nodes = self.nodes is not None and cell.comm_size // cell.ppn > self.nodes
        return lacks_nodes or (self.ppn is not None and cell.ppn > self.ppn)

    def beyond(self, plan: Plan) -> frozenset[PointKey]:
        """Points of a plan that cannot be measured there."""
        cells = [cell for cell in plan.cells() if self.lacks(cell)] if plan.ppns else []
        return frozenset(point_key(cell, method) for cell in cells for method in plan.methods_of(cell))


def reach_of(plan: Plan, launcher: Launcher, campaign: Campaign | None = None) -> Reach:
    """What the ranks of a plan have when a launcher starts them; by its last start, if its `campaign` has had one.

    Raises
    ------
    CampaignError
        When the ranks do not fit on the nodes that are asked for.
    """
    if not plan.ppns:
        return Reach()
    filled: tuple[int, ...] = ()
    if campaign is not None and started_by(campaign, launcher):
        filled = tuple(campaign.progress().get("nodes", ()))
    ppn = plan.ranks if launcher.nodes(plan.ranks) == 1 else launcher.ppn
    return Reach(launcher.nodes(plan.ranks), ppn, filled)


def why_beyond(points: frozenset[PointKey], reach: Reach) -> str:
    """Say what points that are beyond reach need, and what is there."""
    shapes = {(comm_size // ppn, ppn) for _, _, comm_size, _, ppn, _, _ in points if ppn}
    needed = ", ".join(f"{nodes} × {ppn}" for nodes, ppn in sorted(shapes))
    nodes, most = (len(reach.filled), max(reach.filled)) if reach.filled else (reach.nodes, reach.ppn)
    there = [] if nodes is None else [format_count(nodes, "node")]
    there += [] if most is None else [f"at most {format_count(most, 'process', 'processes')} on each"]
    return (
        f"{format_count(len(points), 'point')} at {needed} (nodes × processes on each) cannot be measured on "
        f"{' with '.join(there)}"
    )


def check_reach(campaign: Campaign, launcher: Launcher) -> None:
    """Check that a launcher can have something measured of what is missing of a campaign.

    Raises
    ------
    CampaignError
        When it cannot; the message says what is needed.
    """
    plan = campaign.plan()
    reach, left = reach_of(plan, launcher, campaign), set(plan.points()) - campaign.done().all
    beyond = reach.beyond(plan) & left
    if left and left == beyond:
        raise CampaignError(
            f"{campaign.folder}: nothing that is missing can be measured so: {why_beyond(beyond, reach)}; start it "
            "with other nodes (bench submit --nodes --tasks-per-node)"
        )
