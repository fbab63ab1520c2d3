"""The changes of Bokeh and Panel: still needed, still working, and no start that fails without them."""

import asyncio
import base64
import gzip
import inspect
import subprocess
import sys
import threading
from importlib.metadata import version
from typing import Any

import bokeh.server.server
import panel_material_ui as pmui
import pytest
from bokeh.application import Application
from bokeh.application.handlers import FunctionHandler
from bokeh.core.property.bases import Property
from bokeh.core.property.descriptors import PropertyDescriptor
from bokeh.core.property.singletons import Undefined
from bokeh.core.serialization import Deserializer
from bokeh.core.types import ID
from bokeh.document import Document
from bokeh.model import Model, util
from bokeh.models import Range1d
from bokeh.plotting import figure
from bokeh.protocol import Protocol
from bokeh.server.connection import ServerConnection
from bokeh.server.contexts import ApplicationContext
from bokeh.server.tornado import BokehTornado
from bokeh.server.urls import per_app_patterns
from panel.io import document
from panel.io.server import WSHandler
from tornado.locks import Lock

from dashboard.pages.parts.widgets import DiscreteSlider, Select
from dashboard.server.patches import PATCHES, Patch, install
from dashboard.server.patches.defaults import _get_default, _visit, _visit_references, _work_out
from dashboard.server.patches.delivery import _busy, _send_all, _waiting
from dashboard.server.patches.guarded import Guarded
from dashboard.server.patches.prompt import PromptSocket
from dashboard.server.patches.unpacking import MOST_BYTES, _decode
from tests.conftest import ROOT

#: Another Bokeh and Panel: each change finds something else than it was written for.
OTHERS = """
import bokeh.core.serialization, bokeh.server.server, bokeh.server.session, bokeh.server.urls, panel.io.document
from bokeh.core.property.descriptors import PropertyDescriptor
del bokeh.server.server.BokehTornado, bokeh.core.serialization.Deserializer._decode_bytes
del PropertyDescriptor._get_default
del panel.io.document._WRITE_BLOCK
[vars(bokeh.server.session).pop(name, None) for name in ("locks", "_run_in_executor")]
bokeh.server.urls.per_app_patterns.clear()
from dashboard.server.patches import install
print(*[patch.name for patch in install()])
"""
PACKED = {"data": base64.b64encode(gzip.compress(bytes(MOST_BYTES + 1))).decode()}


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.name)
def test_each_was_written_for_the_releases_that_are_installed(patch: Patch) -> None:
    assert all(version(name).startswith(tuple(f"{each}." for each in made)) for name, made in patch.made_for.items())


@pytest.mark.slow
def test_where_none_fits_the_start_says_what_is_lost_and_goes_on() -> None:
    done = subprocess.run([sys.executable, "-c", OTHERS], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [patch.name for patch in PATCHES]
    assert [line.split(": ")[2] for line in done.stderr.splitlines()] == [patch.without for patch in PATCHES]


def test_all_fit_what_is_installed_and_may_be_made_again() -> None:
    assert install() == ()
    assert install() == ()
    assert bokeh.server.server.BokehTornado is Guarded
    assert dict(per_app_patterns)["/ws"] is PromptSocket
    assert document._dispatch_msgs is _send_all
    assert PropertyDescriptor._get_default is _get_default
    assert util.visit_immediate_value_references is _visit_references


def test_bokeh_alone_unpacks_to_any_size() -> None:
    # Once it does not, `unpacking` goes.
    assert len(_decode(Deserializer(), PACKED)) > MOST_BYTES  # type: ignore[arg-type]
    install()
    with pytest.raises(ValueError, match="unpack to more than"):
        Deserializer()._decode_bytes(PACKED)  # type: ignore[arg-type]


def test_bokeh_and_panel_alone_wait_for_receipts_and_look_at_no_request() -> None:
    # Once they do not wait, `prompt` goes; once Bokeh looks at hosts and tokens itself, much of `guarded`.
    assert not any("nodelay" in inspect.getsource(kind) for kind in WSHandler.__mro__ if "bokeh" in kind.__module__)
    assert "nodelay" not in inspect.getsource(WSHandler)
    assert "find_handler" not in vars(BokehTornado)


def test_bokeh_alone_works_a_default_out_at_each_look(monkeypatch: pytest.MonkeyPatch) -> None:
    # Once it does not, `defaults` goes.
    model, descriptor = Range1d(), Range1d.lookup("min_interval")
    looks: list[str] = []
    work_out = Property.themed_default
    monkeypatch.setattr(
        Property, "themed_default", lambda self, *of, **how: looks.append(of[1]) or work_out(self, *of, **how)
    )
    for _ in range(2):
        _work_out(descriptor, model)
    assert looks == ["min_interval"] * 2
    for _ in range(2):
        _get_default(descriptor, model)
    assert len(looks) <= 3


def test_defaults_and_references_are_those_of_bokeh_alone() -> None:
    compared = 0
    for kind in set(Model.model_class_reverse_map.values()):
        if not kind.__module__.startswith("bokeh.models."):
            continue
        for _ in range(2):
            try:
                alone, model = kind(), kind()
            except Exception:  # noqa: BLE001, S112 - one that is not made so
                continue
            for name in set(kind.properties()) - model._property_values.keys() - alone._property_values.keys():
                descriptor = kind.lookup(name)
                if type(descriptor).__name__.startswith("Deprecated"):
                    continue
                known, expected = _get_default(descriptor, model), _work_out(descriptor, alone)
                assert type(known) is type(expected), (kind, name)
                if expected is Undefined or isinstance(expected, bool | int | float | str | None):
                    assert known is expected or known == expected, (kind, name)
                    compared += 1
    assert compared > 10_000
    drawn = figure(title="times")
    drawn.scatter([1, 2], [3, 4], legend_label="bcast")
    drawn.xaxis.axis_label = "message size"
    drawn.xaxis[0].apply_theme({"axis_label_text_font_style": "bold", "minor_tick_in": 7})
    assert drawn.xaxis[0].minor_tick_in == 7
    every = [drawn, *drawn.references()]
    for model in every:
        seen: tuple[list[Model], list[Model]] = [], []
        _visit_references(model, seen[0].append)
        _visit(model, seen[1].append)
        assert seen[0] == seen[1]
    assert len(every) > 20


class Connection:
    """Stands for a websocket to which something is being written."""

    def __init__(self) -> None:
        self.write_lock = Lock()
        self._socket = self.protocol = self

    def create(self, _kind: str, changes: list[str]) -> str:
        """As Panel 1.10 makes a message of changes, once they can be written."""
        return changes[0]


def test_what_waits_for_a_busy_websocket_is_sent_as_soon_as_it_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    # Panel alone looks again after a while: then nothing is sent yet when this looks.
    sent: list[str] = []
    monkeypatch.setattr(document, "dispatch_django", lambda _connection, msg: sent.append(msg) or [])

    async def wait() -> None:
        connection, doc = Connection(), Document()
        await connection.write_lock.acquire()
        kept = {connection: ["first", "second"]}, [([connection], ["first"]), ([connection], ["second"])]
        _waiting[doc], _busy[doc] = kept[hasattr(document, "_WRITE_EVENTS")], True
        sending = asyncio.ensure_future(_send_all(doc))
        await asyncio.sleep(0)
        assert not sent
        connection.write_lock.release()
        await sending
        assert sent == ["first", "second"]

    asyncio.run(wait())


def test_what_a_session_does_is_done_on_the_thread_of_its_server() -> None:
    install()
    done_on: list[int] = []

    class Noting(Protocol):
        def create(self, *of: Any) -> Any:
            done_on.append(threading.get_ident())
            return super().create(*of)

    class Socket:
        async def send_message(self, _message: Any) -> None:
            done_on.append(threading.get_ident())

    async def work() -> None:
        application = Application(FunctionHandler(lambda _document: done_on.append(threading.get_ident())))
        context = ApplicationContext(application, url="/")
        session = await context.create_session_if_needed(ID("a"))
        connection = ServerConnection(Noting(), Socket(), context, session)
        await session.with_document_locked(lambda: session.document.add_root(Range1d()))
        connection.detach_session()

    asyncio.run(work())
    # The page is made, a message of its change, and that is sent.
    assert done_on == [threading.get_ident()] * 3


def test_what_our_widgets_override_is_still_called_by_those_names() -> None:
    assert callable(pmui.Page._cleanup)
    assert isinstance(pmui.IntSlider._busy__ignore, list)
    assert pmui.IntSlider()._debounce > 0


@pytest.mark.parametrize(
    "slider", [pytest.param(pmui.DiscreteSlider, id="library"), pytest.param(DiscreteSlider, id="own")]
)
def test_a_slider_stays_at_its_value_when_others_are_offered(slider: Any) -> None:
    made = slider(label="", options={"2": 2, "4": 4}, value=4)
    shown = made.get_root().data
    made.options = {"2": 2, "3": 3, "4": 4}
    # Once the library's own does so, ours goes.
    assert shown.value == (1 if slider is pmui.DiscreteSlider else 2)


@pytest.mark.parametrize("select", [pytest.param(pmui.Select, id="library"), pytest.param(Select, id="own")])
def test_a_closed_menu_reads_as_what_is_chosen_is_called_now(select: Any) -> None:
    made = select(label="", options={"most measured (1)": 0, "4": 4}, value=0)
    shown = made.get_root().data
    made.options = {"most measured (4)": 0, "4": 4}
    assert shown.value == f"most measured ({1 if select is pmui.Select else 4})"
