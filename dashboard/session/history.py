"""The views of one session one after the other: what undo goes back through, and redo forward."""

from collections.abc import Mapping

import param

View = dict[str, str]
#: Views further back are forgotten.
KEPT = 200


class History(param.Parameterized):
    """Views as names and values of an address, and which of them is shown."""

    undoable = param.Boolean(default=False, doc="Whether there is a view to go back to.")
    redoable = param.Boolean(default=False, doc="Whether there is a view that was gone back from.")

    def __init__(self) -> None:
        super().__init__()
        self._views: list[View] = []
        self._at = -1

    def note(self, view: Mapping[str, str]) -> None:
        """Take the view that is shown now; what was gone back from is forgotten if it is another."""
        entry = dict(view)
        if self._views and entry == self._views[self._at]:
            return
        self._views = [*self._views[: self._at + 1], entry][-KEPT:]
        self._at = len(self._views) - 1
        self._tell()

    def undo(self) -> View | None:
        """The view before; None if there is none."""
        return self._step(-1) if self.undoable else None

    def redo(self) -> View | None:
        """The view that was gone back from; None if there is none."""
        return self._step(1) if self.redoable else None

    def _step(self, by: int) -> View:
        self._at += by
        self._tell()
        return dict(self._views[self._at])

    def _tell(self) -> None:
        self.param.update(undoable=self._at > 0, redoable=self._at + 1 < len(self._views))
