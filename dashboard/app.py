"""The dashboard: its pages in the template, the address of the view, and what is opened at the start."""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import panel as pn
import param
from bokeh.models import CustomJS
from panel.io import hold
from panel.util import edit_readonly
from panel.viewable import Viewer

from dashboard.pages import page_class
from dashboard.pages.data.chooser import UPLOAD
from dashboard.pages.frame.connection import CONNECTION
from dashboard.pages.frame.first import First
from dashboard.pages.frame.share import Share
from dashboard.pages.frame.views import ViewBar
from dashboard.pages.parts.accessible import NAMES
from dashboard.pages.parts.growing import Growing
from dashboard.pages.parts.keys import MAP_KEYS
from dashboard.pages.parts.later import hand_over
from dashboard.pages.parts.loading import bytes_below, load, read
from dashboard.pages.parts.reports import plain
from dashboard.pages.parts.widgets import Alert, Page, RadioButtonGroup
from dashboard.server.memory import give_back_later
from dashboard.server.patches.lean import LATE, NAVIGATION_CLASS, PAGES_CLASS
from dashboard.server.permission import may_enter
from dashboard.server.template import template
from dashboard.session.address import AGAINST, DATA, PARAMETERS, TREATMENT, opening, unknown_names, value_of
from dashboard.session.history import History
from dashboard.session.recipes import as_link
from dashboard.session.registry import results_by_digest
from dashboard.session.samples import Start, start_with
from dashboard.session.state import BEGIN, PAGES, State

_LOG = logging.getLogger(__name__)
TITLE = "colltune"
ADDRESS_SECONDS = 0.4
#: Files of fewer bytes in all are read before the page is sent.
AT_ONCE_BYTES = 16 << 20


#: Panel hears nothing of the browser's way back; the address it leads to is a view's, so the page is opened again.
_FOLLOW_HISTORY = "window.addEventListener('popstate', () => window.location.reload())"


#: Nor does the browser's tab hear of the document's title.
_FOLLOW_TITLE = """
for (const shown of Bokeh.documents) {
    shown.on_change((event) => { if (event.kind === 'TitleChanged') document.title = event.title })
}
"""

#: The theme is what the reader's system has, until it is switched. On a busy machine the page is drawn after this, or
#: told once more what the server took it for: so it is seen to for some seconds.
_FOLLOW_SCHEME = """
let drawn = false
const follow = setInterval(() => {
    for (const {model} of Bokeh.index.query((view) => view.model.class_name === 'Page')) {
        if (!drawn) {
            // It is drawn dark already, of which the server, whose figures are to be dark too, knows nothing.
            model.data.setv({dark_theme: false}, {silent: true})
            // A slow start may take longer than this.
            setTimeout(stop, 20000)
        }
        if (!model.data.dark_theme) model.data.dark_theme = true
        drawn = true
    }
}, 100)
const stop = () => clearInterval(follow)
const switched = (event) => event.composedPath().some((each) => each.ariaLabel === 'Toggle theme')
if (!matchMedia('(prefers-color-scheme: dark)').matches) stop()
document.addEventListener('click', (event) => { if (switched(event)) stop() }, true)
"""


class Permalink:
    """Keeps the address of the page the address of the exact view.

    The address is written once the view has rested for `ADDRESS_SECONDS`, so that a slider's way leaves one
    entry in the browser's history, not hundreds.

    Parameters
    ----------
    state
        The view.
    location
        Panel's location, which holds the address.
    """

    def __init__(self, state: State, location: Any) -> None:
        self._state, self._location = state, location
        self.history = History()
        self._home = ""
        if location is not None and not location.search and pn.state.session_args:
            # A page that took long to arrive is made anew for its websocket, whose own address says nothing.
            location.search = f"?{urlencode(pn.state.session_args, doseq=True)}"
        self._written = "" if location is None else location.search
        self._waiting: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """Take the view from the address, and keep the address from now on; call it once results are there."""
        self._home = self._state.results_id
        self._read()
        self._location.param.watch(self._asked, "search")
        # Until then the browser is still to say with which address it came: one that was written before would differ
        # from that, and be left for what seems to be asked for.
        pn.state.onload(self._begin)

    def _asked(self, event: param.parameterized.Event) -> None:
        if event.new != self._written:
            self._read()

    def _read(self) -> None:
        self.show(dict(self._location.query_params))

    def show(self, query: Mapping[str, Any]) -> None:
        """Show a view, as `view` or an address tells it; what of it cannot be shown is noticed."""
        query, sentences = opening(query), unknown_names(query)
        wanted = str(query.get(DATA, self._home))
        if wanted != self._state.results_id:
            results = results_by_digest(wanted)
            if results is None:
                sentences.append(
                    "The address was made with other results, which are not loaded here; load them and open it again."
                )
            else:
                self._state.show(results)
        other = results_by_digest(str(query.get(AGAINST, "")))
        if other is not None:
            self._state.know(other)
        sentences += self._choose(query)
        self._state.notice = " ".join(sentences)

    def _choose(self, query: Mapping[str, Any]) -> list[str]:
        state = self._state
        sentences = state.from_query({name: value for name, value in query.items() if name not in TREATMENT})
        # What may take long is asked for when all else is chosen.
        values = {name: value_of(state, name, query) for name in TREATMENT}
        state.ask(**{PARAMETERS[name]: value for name, (value, _) in values.items()})
        return sentences + [sentence for _, refused in values.values() for sentence in refused]

    def _begin(self) -> None:
        self._state.param.watch(self._changed, [*self._state.linked(), "results_id"])
        self._changed()

    def _changed(self, *events: param.parameterized.Event) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        document = pn.state.curdoc
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._write()
            return
        self._waiting = loop.call_later(ADDRESS_SECONDS, hand_over, document, self._write)

    def view(self) -> dict[str, str]:
        """The view on show as names and values."""
        query = self._state.to_query()
        return query | ({DATA: self._state.results_id} if self._state.results_id != self._home else {})

    def link(self) -> str:
        """The address of the view on show, with its data, for somebody else."""
        place = "" if self._location is None else f"{self._location.protocol}//{self._location.hostname}"
        port = "" if self._location is None or not self._location.port else f":{self._location.port}"
        path = "" if self._location is None else self._location.pathname
        return as_link(self._state, f"{place}{port}{path}")

    def _write(self) -> None:
        query = self.view()
        self.history.note(query)
        self._written = f"?{urlencode(query)}" if query else ""
        self._location.search = self._written


def read_ahead(start: Start) -> None:
    """Read what a session would read before its page is sent, and import the pages that it opens with.

    Faults are left for the session to show.
    """
    for name in (BEGIN, "Decisions"):
        page_class(name)
    if sum(map(bytes_below, start.paths)) <= AT_ONCE_BYTES:
        read(start.paths, start.hints)


class App(Viewer):
    """The pages with the navigation between them.

    Parameters
    ----------
    start
        What to open.
    """

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
            sx=_ON_HEADER,
            css_classes=[NAVIGATION_CLASS],
        )
        self.navigation.link(self.state, value="page", bidirectional=True)
        self.main = pn.Column(css_classes=[PAGES_CLASS], sizing_mode="stretch_width", margin=0)
        self.views = ViewBar(self.permalink.history, self.permalink.show, self.permalink.view)
        self.share = Share(self.state, self.permalink.link, ViewBar.STYLE)
        self.first = First(self.state, self._upload)
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
        return pn.Column(self.navigation, self.notice, self.growing, self.first, self.main, sizing_mode="stretch_width")

    def page(self) -> Page:
        """Set the whole into the template."""
        lines, shown = (self.views.line, self.share.line), (self.notice, self.growing, self.first, self.main)
        return Page(
            title=TITLE,
            header=[pn.Row(self.navigation, self.views, self.share, margin=0, align="center")],
            main=[pn.Column(*lines, *shown, sizing_mode="stretch_width", margin=(6, 8, 0, 8))],
            meta_description="From MPI benchmark files to decision functions",
            theme_toggle=True,
            theme_config=_THEME,
            sx=_FRAME,
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
        if pn.state.curdoc is not None:
            pn.state.curdoc.title = f"{self.state.page} · {TITLE}"

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


#: One accent, in light and in dark; all else of the frame is neutral. Words are written as words, and what stands over
#: a slider is smaller than what is chosen in a field.
_WORDS = {
    # Framed: a map that is white, for nothing is lost, is seen to be one.
    "chart_style": "standard",
    "typography": {"button": {"textTransform": "none"}},
    "components": {
        "MuiFormLabel": {"styleOverrides": {"root": {"&:not(.MuiInputLabel-root)": {"fontSize": "14px"}}}},
        "MuiTab": {"styleOverrides": {"root": {"minWidth": 0, "padding": "12px 10px"}}},
    },
}
_THEME = {
    name: {"palette": {"primary": {"main": main}}, **_WORDS}
    for name, main in (("light", "#0b6bcb"), ("dark", "#5aa9ff"))
}
_FRAME = {
    "& .header.MuiAppBar-root": {
        "backgroundColor": "background.paper",
        "backgroundImage": "none",
        "color": "text.primary",
        "boxShadow": "none",
        "borderBottom": "1px solid",
        "borderColor": "divider",
    },
    "& .MuiToolbar-root": {"minHeight": "48px !important"},
    "& .header .title": {"color": "text.primary", "fontSize": "20px"},
}
_ON_HEADER = {
    "& .MuiToggleButton-root": {
        "border": 0,
        "borderRadius": 0,
        "px": 1.75,
        "color": "text.secondary",
        "textTransform": "none",
        "fontSize": "14px",
        "boxShadow": "none",
    },
    # The widget has a look of its own for the same elements by their other class.
    "& .MuiButtonBase-root.Mui-selected": {
        "color": "var(--panel-primary-color) !important",
        "backgroundColor": "transparent !important",
        "boxShadow": "inset 0 -2px currentColor",
        "fontWeight": 600,
    },
    "& .MuiButtonBase-root:hover": {"backgroundColor": "rgba(128, 128, 128, 0.15) !important"},
    # In a narrow window, and on a tablet held upright, all of the header is to fit beside the title.
    "@media (max-width: 1240px)": {"& .MuiToggleButton-root": {"px": 0.75, "fontSize": "13px", "letterSpacing": 0}},
    "@media (max-width: 860px)": {"& .MuiToggleButton-root": {"px": 0.25, "fontSize": "12px", "letterSpacing": 0}},
}


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
        codes = _FOLLOW_HISTORY, _FOLLOW_TITLE, _FOLLOW_SCHEME, NAMES, MAP_KEYS, LATE, CONNECTION
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
