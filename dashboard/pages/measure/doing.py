"""What only those may do who may launch: done beside the session, one thing at a time, with a word on it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.benchmarks.errors import BenchError
from dashboard.pages.parts.reports import plain
from dashboard.pages.parts.widgets import Alert
from dashboard.server.permission import Permission


class Doing(Viewer):
    """Does what is asked for, and says how that went.

    Parameters
    ----------
    root
        Folder of the campaigns, which messages leave out.
    permission
        Says whether this session may; asked before each thing anew.
    before, after
        Called when something begins, and when it has ended.
    """

    def __init__(
        self, root: Path, permission: Callable[[], Permission], before: Callable[[], None], after: Callable[[], None]
    ) -> None:
        super().__init__()
        self._root, self._permission, self._before, self._after = root, permission, before, after
        self.allowed = permission()
        self.busy = False
        self.message = Alert(object="", severity="info", sizing_mode="stretch_width", visible=False, closeable=True)

    def __panel__(self) -> pn.viewable.Viewable:
        return self.message

    async def do(self, work: Callable[[], Any], doing: str) -> bool:
        """Do it on another thread; whether it was done.

        Parameters
        ----------
        doing
            Is said meanwhile.
        """
        self.allowed = self._permission()
        if not self.allowed:
            self.say(self.allowed.reason, "warning")
            return False
        if self.busy:
            return False
        self.busy = True
        self.say(doing, "info")
        self._before()
        try:
            await asyncio.to_thread(work)
        except (BenchError, OSError) as error:
            self.say(str(error).replace(f"{self._root}/", ""), "error")
            return False
        else:
            self.say("", "info")
            return True
        finally:
            self.busy = False
            self._after()

    def say(self, text: str, severity: str) -> None:
        """Say something; empty: nothing any more."""
        self.message.param.update(object=plain(text), severity=severity, visible=bool(text), closed=False)
