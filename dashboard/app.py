"""The dashboard: its pages in the template, and what is opened at the start."""

import logging
import weakref
from collections.abc import Callable
from typing import Any

import panel as pn
import param
from bokeh.models import CustomJS
from panel.io import hold
from panel.util import edit_readonly
from panel.viewable import Viewer

from dashboard.pages import page_class
from dashboard.pages.data.chooser import UPLOAD
from dashboard.pages.frame import follow, look
from dashboard.pages.frame.connection import CONNECTION
from dashboard.pages.frame.first import First
from dashboard.pages.frame.permalink import Permalink
from dashboard.pages.frame.share import Share
from dashboard.pages.frame.views import ViewBar
from dashboard.pages.frame.weighed import Weighed
from dashboard.pages.parts.growing import Growing
from dashboard.pages.parts.later import hand_over, live_session
from dashboard.pages.parts.loading import bytes_below, load, read
from dashboard.pages.parts.reports import plain
from dashboard.pages.parts.scripts import MAP_KEYS, NAMES
from dashboard.pages.parts.widgets import Alert, Page, RadioButtonGroup
from dashboard.server.memory import give_back_later
from dashboard.server.patches.lean import LATE, NAVIGATION_CLASS, PAGES_CLASS
from dashboard.server.permission import may_enter
from dashboard.server.template import template
from dashboard.session.samples import Start, start_with
from dashboard.session.state import BEGIN, PAGES, State

_LOG = logging.getLogger(__name__)
TITLE = "colltune"
#: Files of fewer bytes in all are read before the page is sent.
AT_ONCE_BYTES = 16 << 20


def read_ahead(start: Start) -> None:
    """Read what a session would read before its page is sent, and import the pages that it opens with.

    Faults are left for the session to show.
    """
    for name in (BEGIN, "Decisions"):
        page_class(name)
    if sum(map(bytes_below, start.paths)) <= AT_ONCE_BYTES:
        read(start.paths, start.hints)


class App(Viewer):
    """The pages with the navigation between them."""

    def __init__(self, start: Start) -> None:
        super().__init__()
        self.start = start
        self.state = State()
        self.state.navigated = True
        self.growing = Growing(self.state)
        self._failed: list[dict[str, Any]] | None = None
        self._pages: dict[str, Viewer] = {}
        self.permalink = Permalink(self.state, pn.state.location)
        # Small files are read before anything is drawn: then the first page sent has its maps already.
        at_once = sum(map(bytes_below, start.paths)) <= AT_ONCE_BYTES
        if at_once:
            results, self._failed, self.state.error = read(start.paths, start.hints)
            if results is not None:
                self.state.show(results)
            self._opened()
        else:
            # Before it has begun nobody is told that nothing is loaded.
            self.state.busy = "Loading …"
        if not at_once and pn.state.location is not None and pn.state.location.query_params.get("page") in PAGES:
            self.state.page = pn.state.location.query_params["page"]
        self.navigation = RadioButtonGroup(
            label="",
            options=list(PAGES),
            value=self.state.page,
            size="small",
            margin=(0, 12),
            sx=look.ON_HEADER,
            css_classes=[NAVIGATION_CLASS],
        )
        self.navigation.link(self.state, value="page", bidirectional=True)
        self.main = pn.Column(css_classes=[PAGES_CLASS], sizing_mode="stretch_width", margin=0)
        self.views = ViewBar(self.permalink.history, self.permalink.show, self.permalink.view)
        self.share = Share(self.state, self.permalink.link, ViewBar.STYLE)
        self.views.lines.append(self.share.line)
        self.first, self.weighed = First(self.state, self._upload), Weighed(self.state)
        self.notice = Alert(closeable=True, severity="warning", sizing_mode="stretch_width")
        self.state.param.watch(self._show_page, "page")
        self.state.param.watch(self._show_notice, "notice")
        self._show_page()
        self._show_notice()
        # When it is sent the document takes the frame's title.
        pn.state.onload(self._entitle)
        if not at_once:
            pn.state.onload(self.open)

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.navigation, *self._shown(), sizing_mode="stretch_width")

    def _shown(self) -> tuple[Viewer | pn.viewable.Viewable, ...]:
        """What stands below the header, whatever the page."""
        return self.notice, self.growing, self.first, self.weighed, self.main

    def page(self) -> Page:
        """Set the whole into the template."""
        return Page(
            title=TITLE,
            header=[pn.Row(self.navigation, self.views, self.share, margin=0, align="center")],
            main=[pn.Column(*self.views.lines, *self._shown(), sizing_mode="stretch_width", margin=(6, 8, 0, 8))],
            meta_description="From MPI benchmark files to decision functions",
            theme_toggle=True,
            theme_config=look.THEME,
            sx=look.FRAME,
            template=template(TITLE, Page._render_esm(compiled=True, server=True)),  # noqa: SLF001 - nothing else tells
        )

    async def open(self) -> None:
        """Load what is to be opened at the start; where that fails, the Data page says why."""
        self._failed = await load(self.state, self.start.paths, self.start.hints)
        self._opened()

    def _opened(self) -> None:
        if pn.state.location is not None:
            self.permalink.open()
        if self.state.results is None:
            self.state.page = "Data"
            if "Data" in self._pages:
                self._pages["Data"].show_failed(self._failed)

    def fail(self, exception: Exception) -> None:
        """Show what nobody foresaw as a sentence; the traceback is for the server's log."""
        _LOG.error("unforeseen error in a session", exc_info=exception)
        self.state.notice = (
            f"The dashboard itself failed ({type(exception).__name__}). What you see may be "
            "incomplete; reload the page. The server's log tells more."
        )

    def _show_page(self, *events: param.parameterized.Event) -> None:
        # A page is made when it is first asked for, and kept: its plots need not be drawn again.
        name = self.state.page
        with hold(pn.state.curdoc):
            if name not in self._pages:
                self._pages[name] = self._make(name)
                self.main.append(pn.Column(self._pages[name], name=name, sizing_mode="stretch_width", margin=0))
            for page in self.main:
                page.visible = page.name == name
        self._entitle()

    def _entitle(self) -> None:
        """Call the browser's tab, and what is bookmarked, by the page on show."""
        if (session := live_session()) is not None:
            # A page may be chosen at the end of what was awaited, when nobody holds the document.
            hand_over(session, lambda: setattr(session, "title", f"{self.state.page} · {TITLE}"))

    def _upload(self) -> None:
        self.state.page = "Data"
        self._pages["Data"].chooser.kind = UPLOAD

    def _make(self, name: str) -> Viewer:
        # A page that is not the first one shown is imported when it is: the first map need not wait for it.
        more: dict[str, tuple[Any, ...]] = {"Home": (self._upload,), "Data": (self.start,)}
        page = page_class(name)(self.state, *more.get(name, ()))
        if name == "Data" and self.state.results is None:
            page.show_failed(self._failed)
        return page

    def _show_notice(self, *events: param.parameterized.Event) -> None:
        self.notice.param.update(object=plain(self.state.notice), closed=False, visible=bool(self.state.notice))


def _weakly(method: Callable[[Exception], None]) -> Callable[[Exception], None]:
    # Panel keeps the handler by the session's document, and what the handler holds would hold the document.
    kept = weakref.WeakMethod(method)

    def handle(exception: Exception) -> None:
        fail = kept()
        if fail is not None:
            fail(exception)

    return handle


def create_app(start: Start | None = None) -> Page:
    """Make the dashboard for one session.

    Parameters
    ----------
    start
        What to open; default: what the environment names, or the sample data.
    """
    entry = may_enter()
    if not entry:
        _LOG.warning("a session was refused: %s", entry.reason)
        return Page(title=TITLE, main=[Alert(object=plain(f"Not opened: {entry.reason}."), severity="error")])
    # What these load is served from this machine, like all the rest.
    pn.extension("tabulator", reconnect=True)
    app = App(start_with() if start is None else start)
    pn.config.exception_handler = _weakly(app.fail)
    page = app.page()
    _detach(page)
    if pn.state.curdoc is not None:
        codes = follow.HISTORY, follow.TITLE, follow.SCHEME, NAMES, MAP_KEYS, LATE, CONNECTION
        pn.state.curdoc.js_on_event("document_ready", *(CustomJS(code=code) for code in codes))
        pn.state.on_session_destroyed(lambda _context: give_back_later())
    return page


class _Idle(param.Parameterized):
    """A busy flag that never changes."""

    busy = param.Boolean(default=False)


def _detach(page: Page) -> None:
    # The template watches the busy flag of the whole process: each event of any session would be sent to all of them,
    # and it would hold every closed one. Only another reference, not a plain value, makes it stop.
    with edit_readonly(page):
        page.busy = _Idle().param.busy
