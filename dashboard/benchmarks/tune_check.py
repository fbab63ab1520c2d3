"""The library's own decision and a rules file measured in turns, as two methods of an ordinary campaign.

Open MPI reads the rules file at its start; whether a communicator takes notice of it is settled when that is made, by
the control variable ``coll_tuned_use_dynamic_rules``. So both have a communicator of their own in one job. MPICH has
one selection for the whole process, read at its start, and HAN heeds its rules on all communicators or on none: there
each of both has launches of its own. Their results are the methods ``default`` and ``tuned``, which every loader reads.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import CampaignError, PlanError
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import DEFAULT, Method, Variants
from dashboard.benchmarks.libraries.mpich import Mpich
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from dashboard.export.bundle import files_of
from dashboard.export.components import BELOW_COPIES, parameters
from dashboard.export.library_names import COMPARED
from dashboard.export.usage import MPICH_FILE, han_name, mpich_parameters
from loaders import disk
from loaders.collectives import COLLECTIVES

TUNED = "tuned"
#: Of the rules file in the campaign's folder.
RULES_NAME = "rules.conf"

_DYNAMIC = "coll_tuned_use_dynamic_rules"
_FILE = "coll_tuned_dynamic_rules_filename"
_PRIORITY = "coll_tuned_priority"


class _Both:
    """A library whose methods are its own decision and a rules file's; whoever it finds first answers both."""

    def methods(self, collective: str, variants: Variants) -> list[Method]:
        """The library's own decision, and the rules."""
        return [Method(DEFAULT, library_id=0), Method(TUNED)]

    def component(self, collective: str, method: Method) -> str:
        """None is asked for."""
        return ""


@dataclass(frozen=True)
class MpichWithRules(_Both, Mpich):
    """An MPICH that is given a selection; `rules` is the file, an absolute path, with rules for some `collectives`."""

    apart: bool = True
    rules: str = ""
    collectives: tuple[str, ...] = ()

    def forcing(self, collective: str, method: Method) -> dict[str, str]:
        """Variables of a launch with the file, or with none, as the library is by itself."""
        return mpich_parameters(self.rules, self.collectives) if method.algorithm == TUNED else {MPICH_FILE: ""}


@dataclass(frozen=True)
class WithRules(_Both, OpenMpi):
    """An Open MPI that is given a rules file; its methods are its own decision and the file's."""

    #: The file, an absolute path.
    rules: str = ""
    #: HAN's rules that belong to it, which then decide who answers; empty: tuned is asked first. HAN cannot be told to
    #: heed them or not while it runs, so that both methods have launches of their own.
    han: str = ""

    def settings(self, collective: str, method: Method) -> dict[str, int]:
        """Control variables that make new communicators heed the rules, or not."""
        own = super().settings(collective, Method(DEFAULT, library_id=0))
        if method.algorithm == DEFAULT:
            return own
        return own | {_DYNAMIC: 1, _PRIORITY: BELOW_COPIES}

    def forcing(self, collective: str, method: Method) -> dict[str, str]:
        """Variables of a launch that heeds both files, or none: HAN heeds its own on all communicators."""
        said = parameters(self.rules, self.han)
        if method.algorithm == DEFAULT:
            said = {name: "0" for name in said if "_use_dynamic_" in name}
        return {f"OMPI_MCA_{name}": value for name, value in said.items()}

    def environment(self, *, here: bool, graphs: bool) -> dict[str, str]:
        """Environment variables for ``mpiexec``, with the rules file."""
        said = super().environment(here=here, graphs=graphs)
        return said if self.han else said | {f"OMPI_MCA_{_DYNAMIC}": "1", f"OMPI_MCA_{_FILE}": self.rules}


def rules_of(folder: Path) -> Path:
    """The rules file in a campaign's folder, as the library is told it."""
    return folder.resolve() / RULES_NAME


def with_rules(
    installation: Installation, rules: Path, collectives: Iterable[str] = (), *, han: bool = False
) -> Installation:
    """The same installation, given a rules file.

    Parameters
    ----------
    collectives
        That the file has rules for.
    han
        Whether HAN's rules stand beside it.

    Raises
    ------
    PlanError
        When it is neither Open MPI nor MPICH: no other library is told of rules in this way.
    """
    library = installation.library
    if isinstance(library, Mpich):
        known = {**vars(library), "rules": str(rules), "collectives": tuple(collectives)}
        return replace(installation, library=MpichWithRules(**known))
    if isinstance(library, OpenMpi):
        beside = han_name(str(rules)) if han else ""
        known = {**vars(library), "apart": han, "rules": str(rules), "han": beside}
        return replace(installation, library=WithRules(**known))
    raise PlanError(
        f"{library.name} cannot be measured with and without rules; install Open MPI or MPICH, or measure a campaign "
        "with each and compare them with --results"
    )


def measurable(collectives: Collection[str]) -> tuple[str, ...]:
    """Those of some collectives that can be measured and that the libraries ask rules for.

    Raises
    ------
    PlanError
        When there is none.
    """
    names = tuple(name for name in collectives if name in COLLECTIVES and name in COMPARED)
    if not names:
        named = ", ".join(collectives) or "nothing"
        can = ", ".join(name for name in COLLECTIVES if name in COMPARED)
        raise PlanError(f"the rules are for {named}; measured with and without rules can be {can}")
    return names


def prepare(folder: Path, rules: str, plan: Plan) -> Campaign:
    """Make the campaign with its rules file, or find the one that is there.

    Parameters
    ----------
    rules
        Text of the rules file; with HAN's rules as `dashboard.export.targets.openmpi.nodes` joins them.
    plan
        Made for the installation of `with_rules` (with the file `rules_of` that folder).

    Raises
    ------
    CampaignError
        When the folder holds another plan or other rules, or cannot be written.
    """
    files = [(Path(name), text) for name, text in files_of(str(rules_of(folder)), rules)]
    try:
        if other := [file for file, text in files if file.exists() and disk.read_text(file) != text]:
            raise CampaignError(f"{folder} was measured with other rules ({other[0].name}); name another folder")
        campaign = Campaign.create(folder, plan)
        for file, text in files:
            disk.write_text(file, text)
    except OSError as error:
        raise CampaignError(f"{folder} cannot be written: {error.strerror or error}") from error
    return campaign
