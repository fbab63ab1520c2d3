"""The address of the page is the address of the exact view."""

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import panel as pn
import param

from dashboard.pages.parts.later import hand_over
from dashboard.session.address import AGAINST, DATA, PARAMETERS, TREATMENT, opening, unknown_names, value_of
from dashboard.session.history import History
from dashboard.session.recipes import as_link
from dashboard.session.registry import results_by_digest
from dashboard.session.state import State

ADDRESS_SECONDS = 0.4


class Permalink:
    """Keeps the address of the page the address of the exact view.

    The address is written once the view has rested for `ADDRESS_SECONDS`, so that a slider's way leaves one
    entry in the browser's history, not hundreds.

    Parameters
    ----------
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
        # As `colltune view` reads it: Panel makes numbers of what looks like them, of version 5.0 as of 1e3 in a name.
        self.show(dict(parse_qsl(self._location.search.removeprefix("?"))))

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
        self._state.param.watch(self._changed, [*PARAMETERS.values(), "results_id"])
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
