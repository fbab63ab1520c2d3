"""Menus that several pages have: of collectives, of processes per node, of versions of MPICH."""

from typing import Any

from dashboard.domain.written import BASE
from dashboard.export.targets.mpich.base import KNOWN
from dashboard.pages.parts.options import common
from dashboard.pages.parts.widgets import Select
from dashboard.session.state import DATA, State

#: Stands for the number that was measured most: a select shows nothing where its value is None.
_MOST = 0


def collective_menu(state: State, about: str) -> Select:
    """A menu of the collectives of the results that follows the state, and is followed by it."""
    menu = Select(label="Collective", options=[], width=170, description=about)

    def show(*_: Any) -> None:
        names = [name for name in state.param.collective.objects if name is not None]
        menu.param.update(options=names, value=state.collective, disabled=not names)

    def choose(event: Any) -> None:
        if event.new != state.collective and event.new in state.param.collective.objects:
            state.ask(collective=event.new)

    menu.param.watch(choose, "value")
    state.param.watch(show, list(DATA))
    show()
    return menu


def ppn_menu(state: State) -> Select:
    """A menu that follows the state, and is followed by it; hidden where the results hold no more than one number."""
    menu = Select(
        label="Processes per node",
        options=[],
        width=190,
        description="The slice of the measurements on show: what is best depends on how many processes share a "
        "node. The octree decides over all of them (dissertation, 5.3.2).",
    )

    def show(*_: Any) -> None:
        prepared = state.view.prepared
        most = "most measured" if prepared is None else f"most measured ({prepared.most_measured})"
        ppns = {most if ppn is None else str(ppn): ppn or _MOST for ppn in state.param.ppn.objects}
        label = "Slice: processes per node" if state.across else "Processes per node"
        menu.param.update(options=ppns, value=state.ppn or _MOST, visible=len(ppns) > 1, label=label)

    def choose(event: Any) -> None:
        ppn = event.new or None
        if ppn in state.param.ppn.objects:
            state.ask(ppn=ppn)

    menu.param.watch(choose, "value")
    state.param.watch(show, list(DATA))
    show()
    return menu


def mpich_menu(state: State) -> Select:
    """A menu of the versions of MPICH into whose complete selection files rules are put."""
    menu = Select(options=mpich_versions(), value=state.base, width=190, **common(BASE))
    menu.link(state, value="base", bidirectional=True)
    return menu


def mpich_versions(usual: str = "as measured") -> dict[str, str]:
    """Versions to choose from by title; `usual` stands for none of them."""
    return {usual: "", **{version: version for version in KNOWN}}
