"""The version of MPICH whose complete selection file rules are put into."""

from collections.abc import Callable
from html import escape

import panel as pn
from panel.viewable import Viewer

from dashboard.export.targets.mpich.base import KNOWN, known
from dashboard.pages.parts.widgets import Select
from dashboard.session.state import State


class BaseFile(Viewer):
    """Chooses MPICH's own file by its version.

    Parameters
    ----------
    changed
        Called when there is another.
    """

    def __init__(self, state: State, changed: Callable[[], None]) -> None:
        super().__init__()
        self._standing = ""
        self.version = Select(
            label="MPICH",
            options={"as measured": "", **{version: version for version in KNOWN}},
            value=state.base_version,
            width=150,
            description="The version that will read the file, where the results do not tell one that is known; of "
            "another one, colltune export --base takes maint/tuning/coll/mpir/generic.json.",
        )
        self.version.link(state, value="base_version", bidirectional=True)
        self.note = pn.pane.HTML("", margin=(4, 10), width=300)
        self.line = pn.Row(self.version, self.note, margin=0)
        self.version.param.watch(lambda _: (self._tell(), changed()), "value")
        self._tell()

    def __panel__(self) -> pn.viewable.Viewable:
        return self.line

    @property
    def text(self) -> str | None:
        """The file of the version that was chosen; None: none was."""
        return known(self.version.value)

    def stand_on(self, name: str) -> None:
        """Tell the file that is changed where no version is chosen; an empty name where it is found otherwise."""
        self._standing = name
        self._tell()

    def _tell(self) -> None:
        if self.version.value:
            self.note.object = f"Made from that of MPICH {self.version.value}."
        elif self._standing:
            self.note.object = f"Made from {escape(self._standing)} itself; another can be chosen."
        else:
            self.note.object = (
                f"Made from that of the version measured ({KNOWN[0]} to {KNOWN[-1]} are known), else of the MPICH "
                "that is installed here; another can be chosen."
            )
