"""``colltune view``: what an address shows, without a browser; and the address of what a command decides."""

import argparse
from urllib.parse import parse_qsl, urlsplit

import xarray as xr

from dashboard.commands import text as cli_text
from dashboard.commands.load import hints_of
from dashboard.commands.output import loading, say, show, working
from dashboard.commands.usage import Usage
from dashboard.decisions.grown.families import FAMILIES
from dashboard.models.family import family_of
from dashboard.session.address import DATA, opening, unknown_names
from dashboard.session.choice import RULES
from dashboard.session.prepared import Decided
from dashboard.session.recipes import as_command, as_link
from dashboard.session.registry import register
from dashboard.session.samples import start_with
from dashboard.session.state import State
from loaders import open_results
from loaders.workload import read_workload

#: Pages that show the decision itself, and those whose figures a command of their own gives.
_DECIDING, _OTHERS = ("Home", "Decisions", "Export"), ("Compare", "Frontier")


def view(args: argparse.Namespace) -> None:
    """Evaluate an address through the page's session, and answer as ``decide`` does.

    Raises
    ------
    Usage
        There is nothing to show, or the address asks for what these results cannot show.
    """
    state = _opened(args)
    # A bare query, or a whole address.
    query = dict(parse_qsl(urlsplit(args.address).query or args.address.partition("?")[2] or args.address))
    if not query and ("=" in args.address or "?" not in args.address):
        raise Usage(f"{args.address}: expected an address with names and values, such as '?collective=bcast&tree=cart'")
    for sentence in unknown_names(query):
        say(f"note: {sentence}")
    if query.pop(DATA, state.results_id) != state.results_id:
        say("note: the address was made with other results than these")
    if refused := state.from_query(opening(query)):
        raise Usage(" ".join(refused))
    with working() as progress:
        state.view.job(state.choice())(progress)
    decided = state.view.decided(state.choice())
    if decided is None:
        raise Usage("there are no results to decide on")
    for remark in state.view.remarks():
        say(f"note: {remark}")
    if state.page in _OTHERS:
        say(f"note: the address is of the page {state.page}; this is its decision, and the page's own figures are:")
        for line in as_command(state).splitlines():
            say(f"next: {line}")
    elif state.page not in _DECIDING:
        say(f"note: the address is of the page {state.page}, which needs a browser; this is the decision on the others")
    answer = decided.answer()
    show(args, answer, lambda: cli_text.decision_text(answer, "", None))


def _opened(args: argparse.Namespace) -> State:
    start = start_with(args.paths, hints_of(args))
    hints = dict(start.hints)
    if getattr(args, "format", None):
        hints["format"] = args.format
    state = State()
    with loading() as progress:
        state.show(register(open_results(start.paths, progress=progress, **hints)))
    if args.weights:
        # Known from now on: whether it weighs anything the address says.
        state.weigh(read_workload(args.weights))
        state.weigh(None)
    return state


def link_of(base: str, results: xr.DataTree, decided: Decided) -> str:
    """The address at which the page shows a decision made by a command.

    Raises
    ------
    Usage
        It stands on a file that the page does not know.
    """
    if decided.choice.family == RULES:
        raise Usage("--link: the page knows rules files only once they were checked there; it has no address for them")
    if decided.prepared.treatment.workload is not None:
        say("note: load the workload on the page, too, before the link is opened")
    state = State()
    state.show(register(results))
    collective, *together = decided.prepared.measured
    state.collective = collective
    state.treat(decided.prepared.treatment)
    state.together = tuple(together)
    # An address tells what differs from the defaults of the page, which are not those of a command with --parameters.
    with FAMILIES.also(family_of()):
        state.choose(decided.choice)
        return as_link(state, base)
