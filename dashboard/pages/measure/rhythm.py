"""Looking again and again, beside the session, for as long as somebody looks at the page."""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from dashboard.pages.parts.later import hand_over, live_session

_LOG = logging.getLogger(__name__)
_LOOKERS = ThreadPoolExecutor(max_workers=4, thread_name_prefix="watching")


class Rhythm:
    """Calls `look` on another thread and `show` on the session's own, in turns; never two looks at once.

    Outside a session nothing comes by itself: `now` looks and shows before it returns.

    Parameters
    ----------
    ask
        Gives, on the session's thread, what `look` needs to know.
    look
        Called with that; touches nothing that is on the page.
    show
        Called with what was asked and what was seen.
    every
        Seconds between the end of one turn and the start of the next.
    failed
        Called with what went wrong in a turn, for the page to say so. The next turn comes all the same.
    """

    def __init__(
        self,
        ask: Callable[[], Any],
        look: Callable[[Any], Any],
        show: Callable[[Any, Any], None],
        every: float,
        failed: Callable[[Exception], None],
    ) -> None:
        self._ask, self._look, self._show, self._every, self._failed = ask, look, show, every, failed
        self._session: Any = None
        self._turn = 0
        self.running = False

    def start(self) -> None:
        """Look from now on."""
        if not self.running:
            self.running = True
            self.now()

    def stop(self) -> None:
        """Look no more; what is under way is not shown."""
        self.running = False
        self._turn += 1

    def now(self) -> None:
        """Look at once; the turns go on from here."""
        self._turn += 1
        self._session = live_session()
        if self._session is None:
            asked = self._ask()
            self._show(asked, self._look(asked))
        elif self.running:
            self._begin(self._turn)

    def _begin(self, turn: int) -> None:
        if turn == self._turn and self.running:
            asked = self._ask()
            _LOOKERS.submit(self._look, asked).add_done_callback(partial(self._seen, turn, asked))

    def _seen(self, turn: int, asked: Any, seen: Future[Any]) -> None:
        # Called on the other thread.
        if turn == self._turn:
            hand_over(self._session, partial(self._end, turn, asked, seen))

    def _end(self, turn: int, asked: Any, seen: Future[Any]) -> None:
        if turn != self._turn or not self.running:
            return
        try:
            self._show(asked, seen.result())
        except Exception as error:  # noqa: BLE001 - whatever it is, it is logged and said
            # One turn that fails, such as on a folder that goes away meanwhile, must not end all later ones.
            _LOG.exception("a look at the campaigns failed")
            self._failed(error)
        self._session.add_timeout_callback(partial(self._begin, turn), int(self._every * 1000))
