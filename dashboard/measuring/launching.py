"""Where campaigns run, what there is to measure with, and how they are started and resumed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns import control, fresh, limits
from dashboard.benchmarks.campaigns.campaign import UNDER_WAY, Campaign
from dashboard.benchmarks.campaigns.reach import reach_of, why_beyond
from dashboard.benchmarks.errors import BenchError, CampaignError, NoMpiError, PlanError
from dashboard.benchmarks.launchers import launcher_of, site, slurm
from dashboard.benchmarks.launchers.launch import Launcher, cores_of
from dashboard.benchmarks.launchers.slurm import Request
from dashboard.benchmarks.libraries.library import Installation, find
from dashboard.benchmarks.libraries.own_settings import allocated_nodes
from dashboard.domain import units
from dashboard.domain.jobs import SLURM
from dashboard.measuring.asked import Offer
from dashboard.measuring.kept import create, folder_of
from dashboard.session.registry import Bounded

SHORTEST_LIMIT, LONGEST_LIMIT = 10.0, 7 * 86400.0


def parse_duration(text: str) -> float:
    """Read seconds from ``90``, ``90 s``, ``30 min``, ``2 h``, ``1 d``, ``1:30:00`` or Slurm's ``1-12:00``.

    Raises
    ------
    PlanError
        When it is none of these, or shorter or longer than a job may be.
    """
    try:
        seconds = units.parse_duration(text)
    except ValueError:
        seconds = 0.0
    if SHORTEST_LIMIT <= seconds <= LONGEST_LIMIT:
        return seconds
    allowed = f"{SHORTEST_LIMIT:g} s to {LONGEST_LIMIT / 86400:g} days"
    raise PlanError(f"time limit {text!r}: allowed are {allowed}, such as 90 s, 30 min, 2 h, 1 d or 1:30:00")


@dataclass(frozen=True)
class Place:
    """Where a campaign is to run."""

    #: Fields of `dashboard.benchmarks.launchers.slurm.Request`; None: on this machine.
    slurm: Mapping[str, Any] | None = None
    #: Time limit as typed; empty: by the estimate.
    limit: str = ""

    @property
    def here(self) -> bool:
        """Whether that is this machine."""
        return self.slurm is None

    @property
    def spread(self) -> bool:
        """Whether the ranks are on several nodes, as far as is known."""
        if self.slurm is None:
            return allocated_nodes() > 1 or _site_here().launch != site.HERE
        return int(self.slurm["nodes"] or 0) > 1

    def words(self) -> list[str]:
        """Where it runs, as ``colltune bench run`` or, of Slurm, ``bench submit`` takes it."""
        try:
            words = [f"--time-limit={parse_duration(self.limit):g}"] if self.limit.strip() else []
            if self.here and site.read().launch == site.SLURM:
                words.append(f"--launch={site.HERE}")
        except PlanError:
            # The form says what is wrong with it, or with the site's file.
            words = []
        for option in SLURM:
            if value := (self.slurm or {}).get(option.name):
                given = [f"{key}={word}" for key, word in value.items()] if isinstance(value, Mapping) else value
                words += option.typed(given)
        return words

    def seconds(self, offered: Offer) -> float:
        """Time limit of the job."""
        return parse_duration(self.limit) if self.limit.strip() else offered.limit

    def launcher(self, installation: Installation) -> Launcher:
        """Give what launches there.

        Raises
        ------
        BenchError
            A field of the request is not allowed; the message says what is.
        """
        return (_site_here() if self.here else site.read()).launcher(installation, request=self.request)

    @property
    def request(self) -> Request | None:
        """What is asked of Slurm: what was chosen, for the rest what the site says; None: on this machine.

        Raises
        ------
        BenchError
            A field is not allowed; the message says what is.
        """
        if self.slurm is None:
            return None
        chosen = ((option, self.slurm.get(option.name)) for option in SLURM)
        return site.read().request(**{option.name: value for option, value in chosen if value != option.default})


def _site_here() -> site.Site:
    """What the site says of starting ranks without its Slurm."""
    said = site.read()
    return replace(said, launch=site.HERE) if said.launch == site.SLURM else said


@dataclass(frozen=True)
class Surroundings:
    """What this machine has to measure with."""

    #: The MPI, or why there is none and what to install.
    installation: Installation | None = None
    no_mpi: str = ""
    #: Why there is no Slurm (empty: there is), and its partitions.
    no_slurm: str = ""
    partitions: tuple[Mapping[str, Any], ...] = ()


_FOUND: Bounded[Surroundings] = Bounded(1, 1 << 20)


def look_around(*, again: bool = False) -> Surroundings:
    """Find the MPI and Slurm of this machine; what was found is kept for all sessions, but not that Slurm is silent.

    Parameters
    ----------
    again
        Look once more, such as after something was installed.
    """
    known = None if again else _FOUND.get("found")
    if known is not None:
        return known
    no_slurm, partitions, no_mpi, installation, silent = slurm.available(), [], "", None, False
    if not no_slurm:
        try:
            partitions = slurm.partitions()
        except BenchError as error:
            no_slurm, silent = f"Slurm does not answer: {error}", True
    try:
        installation = find()
    except NoMpiError as error:
        no_mpi = str(error)
    around = Surroundings(installation, no_mpi, no_slurm, tuple(partitions))
    if not silent:
        _FOUND.put("found", around)
    return around


def start_new(root: Path, name: str, offered: Offer, place: Place, installation: Installation) -> Campaign:
    """Make a campaign and launch it; where it cannot be launched, nothing of it stays.

    Raises
    ------
    BenchError
        When the name is taken or not allowed, or it cannot be launched.
    """
    launcher, seconds = place.launcher(installation), place.seconds(offered)
    campaign = create(root, name, offered.plan)
    fresh.start(campaign, launcher, installation, seconds, asked=seconds if place.limit.strip() else None)
    return campaign


def resume(campaign: Campaign, installation: Installation) -> None:
    """Launch what is missing of a campaign, where it was launched before, for as long as was asked for then.

    Where nothing is, times that cannot be trusted are measured again.

    Raises
    ------
    BenchError
        When it runs, nothing is missing nor measured again, or it cannot be launched.
    """
    launcher = launcher_of(campaign)
    cores = cores_of(launcher)
    again = control.doubts_of(campaign).seconds if campaign.complete() else 0.0
    seconds = limits.limit_again(campaign, cores, again)
    control.start(campaign, site.again(launcher, installation), installation, seconds, again=True)


def rerun(campaign: Campaign, installation: Installation) -> None:
    """Launch what is missing of a campaign, and what was refused or wrong of it once more.

    Raises
    ------
    BenchError
        As `resume`; while it runs, nothing of its results is changed.
    """
    if (state := control.status(campaign)["state"]) in UNDER_WAY:
        raise CampaignError(f"campaign {campaign.folder.name} is {state}: cancel it, or wait until it has ended")
    campaign.retry_refused()
    resume(campaign, installation)


def within_reach(offered: Offer, place: Place, installation: Installation) -> Offer:
    """What of an offer can be measured where it is to run; the rest of it is a remark.

    Raises
    ------
    BenchError
        Nothing of it can, or a field of the request is not allowed.
    """
    plan = offered.plan
    launcher = place.launcher(installation)
    reach = reach_of(plan, launcher)
    if not (beyond := reach.beyond(plan)):
        return offered
    estimate = plan.estimate(beyond, cores_of(launcher))
    if not estimate.points:
        raise PlanError(f"nothing would be measured: {why_beyond(beyond, reach)}")
    return replace(
        offered,
        **vars(estimate),
        cells=sum(not reach.lacks(cell) for cell in plan.cells()) // plan.launches,
        remarks=(*offered.remarks, f"{why_beyond(beyond, reach)}: left out."),
    )


def preview(root: Path, name: str, offered: Offer, place: Place, installation: Installation) -> str:
    """Give the batch script or the command line that starting would run; nothing of it stays on disk.

    Raises
    ------
    BenchError
        The name or a field of the request is not allowed.
    """
    folder, launcher = folder_of(root, name), place.launcher(installation)
    return fresh.preview(folder, offered.plan, launcher, installation, place.seconds(offered))
