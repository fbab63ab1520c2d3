"""The page stays small and quick: what the document holds after all pages, and what is said when the server is gone."""

from __future__ import annotations

import os
import re
import signal
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import bokeh
import pytest
from bokeh.embed import json_item
from bokeh.layouts import column
from bokeh.plotting import figure

from dashboard.server.patches.lean import EARLY, FIRST, LATE, MADE_FOR
from tests.browser.maps import wait_until_drawn
from tests.browser.tour import THERE, seen, settled
from tests.conftest import ROOT, WatchedPage
from tests.serving import Served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

EXACT = "Exact decision map"
BOKEH = Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.min.js"
#: How Bokeh itself installs a style sheet, in a document without this module's script.
_OWN_WAY = """() => {
    const {InlineStyleSheet} = Bokeh.require('core/dom'), part = document.createElement('div')
    const root = part.attachShadow({mode: 'open'})
    new InlineStyleSheet('a {}').install(root)
    return [root.querySelectorAll('style').length, root.adoptedStyleSheets.length]
}"""
#: What asked for the code of the widgets, each time.
_ASKED_FOR = """() => performance.getEntriesByType('resource')
    .filter(({name}) => name.includes('panel-material-ui.bundle.js')).map((each) => each.initiatorType)"""
_PAINTED_DARK = """() => [...Bokeh.index.query((view) => view.model.class_name === 'Page')][0].model.data.dark_theme
    && [...Bokeh.index.query((view) => view.canvas_view && view.model.title?.text)]
        .every(({model}) => model.background_fill_color === '#121212')"""
#: How often each map on show was painted, and how wide it is, by its title.
_DRAWN = """() => Object.fromEntries(
    [...Bokeh.index.query((view) => view.canvas_view && view.el.isConnected && view.model.title?.text)].map(
        ({model, _render_count, canvas_view, layout}) =>
            [model.title.text, [_render_count, canvas_view.bbox.width, layout.bbox.width]]))"""
_DRAWN_ANEW = f"""(before) => {{
    const now = Object.entries(({_DRAWN})())
    return now.length === Object.keys(before).length && now.every(([title, [count, width, inner]]) =>
        count > before[title][0] && width < before[title][1] && inner === width && width > 0)
}}"""
#: Two parts that share a sheet, one of which is then emptied, written anew and cleared.
_SHARING = """async () => {
    const dom = Bokeh.require('core/dom')
    const part = () => document.body.appendChild(document.createElement('div'))
    const roots = [part(), part()].map((each) => each.attachShadow({mode: 'open'}))
    const sheets = roots.map((root) => {
        const sheet = new dom.InlineStyleSheet(':host { opacity: 0.5 }')
        sheet.install(root)
        return sheet
    })
    const opacity = () => roots.map((root) => getComputedStyle(root.host).opacity)
    const result = {shared: roots[0].adoptedStyleSheets[0] === roots[1].adoptedStyleSheets[0], before: opacity()}
    sheets[0].replace(':host', {opacity: '0.25'})
    result.replaced = opacity()
    sheets[0].clear()
    await null
    result.cleared = opacity()
    dom.empty(roots[1])
    result.emptied = opacity()
    for (const share of ['0.5', '0.75', '0.5'])
        new dom.InlineStyleSheet(`:host { opacity: ${share} }`).install(roots[0])
    result.twice = opacity()
    for (const {host} of roots) host.remove()
    return result
}"""
#: Two columns of a figure each get other children in one frame, then a figure is changed: how often the page was laid
#: out and how often each figure was drawn, after each.
_TOGETHER = """async () => {
    const [root] = [...Bokeh.index.roots], columns = root.child_views
    const figures = columns.map((each) => each.child_views[0])
    const frame = () => new Promise((next) => requestAnimationFrame(() => setTimeout(next)))
    const frames = async () => { await frame(); await frame() }
    let laid = 0
    const {update_layout} = root
    root.update_layout = () => { laid += 1; update_layout.call(root) }
    const did = async (work) => {
        const before = figures.map((each) => each._render_count)
        laid = 0
        work()
        await frames()
        return [laid, ...figures.map((each, at) => each._render_count - before[at])]
    }
    await frames()
    return [
        await did(() => columns.forEach((each) => each.invalidate_layout())),
        await did(() => figures[0].invalidate_layout()),
        await did(() => columns[1].model.children[0].setv({height: 140})),
    ]
}"""
#: Models that a document knows that had another part every 50 ms, and lets go after 200 ms.
_CHANGING = """async () => {
    const Column = Bokeh.Models.get('Column'), {Document} = Bokeh.require('document')
    const document = new Document({recompute_timeout: 200}), root = new Column()
    document.add_root(root)
    for (let at = 0; at < 20; at += 1) {
        root.children = [new Column()]
        await new Promise((next) => setTimeout(next, 50))
    }
    return document._all_models.size
}"""


@pytest.fixture
def page(serve_dashboard: Callable[..., Served], watched_page: WatchedPage) -> Page:
    """Dashboard on the sample data in the dark, its first map drawn."""
    watched_page.page.emulate_media(color_scheme="dark")
    watched_page.page.goto(serve_dashboard().url + "?tree=quadtree")
    wait_until_drawn(watched_page.page, EXACT)
    return watched_page.page


@pytest.fixture(scope="module")
def own_server() -> Iterator[Served]:
    """Serve the dashboard, for a test that holds it up and one after it that stops it."""
    command = [sys.executable, "-m", "panel", "serve", "dashboard", "--address", "127.0.0.1", "--port", "0"]
    with Served(command, ROOT) as served:
        yield served


def test_it_was_made_for_the_releases_that_are_installed() -> None:
    assert all(version(name).startswith(tuple(f"{each}." for each in series)) for name, series in MADE_FOR.items())


def test_parts_share_their_style_sheets_and_all_is_dark_where_the_system_is(page: Page) -> None:
    page.locator(f"#{FIRST}").wait_for(state="detached")
    page.wait_for_function(_PAINTED_DARK)
    assert page.evaluate(_ASKED_FOR) == ["link"]
    assert page.evaluate(_SHARING) == {
        "shared": True,
        "before": ["0.5", "0.5"],
        "replaced": ["0.25", "0.5"],
        "cleared": ["1", "0.5"],
        "emptied": ["1", "1"],
        # The last one decides, as after the theme went there and back.
        "twice": ["0.5", "1"],
    }


def test_bokeh_alone_does_not_share_them_nor_let_go_while_it_changes(watched_page: WatchedPage) -> None:
    # Once it shares them, the module goes; it lets go from 3.10 on.
    watched_page.page.add_script_tag(path=BOKEH)
    assert watched_page.page.evaluate(_OWN_WAY) == [1, 0]
    assert (watched_page.page.evaluate(_CHANGING) > 20) == version("bokeh").startswith("3.9.")


def test_what_has_left_the_page_is_let_go_while_it_changes(watched_page: WatchedPage) -> None:
    watched_page.page.add_script_tag(path=BOKEH)
    watched_page.page.add_script_tag(content=EARLY)
    assert watched_page.page.evaluate(_CHANGING) < 10


@pytest.mark.slow
def test_what_comes_together_is_laid_out_once_and_draws_what_has_changed(watched_page: WatchedPage) -> None:
    page = watched_page.page
    figures = [figure(width=200, height=120) for _ in range(2)]
    for each in figures:
        each.scatter([1, 2], [1, 2])
    page.set_content("<div id='here'></div>")
    page.add_script_tag(path=BOKEH)
    page.add_script_tag(content=EARLY)
    # Drawn once all of it is.
    page.evaluate("(item) => Bokeh.embed.embed_item(item)", json_item(column(*map(column, figures)), "here"))
    page.wait_for_function("Bokeh.documents[0].is_idle")
    together, changed, resized = page.evaluate(_TOGETHER)
    assert together == [1, 0, 0]
    assert changed == [1, 1, 0]
    assert resized[1] == 0
    assert resized[2] > 0


def test_where_bokeh_is_another_the_page_stands_all_the_same(watched_page: WatchedPage) -> None:
    said: list[str] = []
    watched_page.page.on("console", lambda message: said.append(message.text))
    watched_page.page.evaluate("window.Bokeh = {require: () => ({StyleSheet: class {}, InlineStyleSheet: class {}})}")
    watched_page.page.add_script_tag(content=EARLY)
    watched_page.page.evaluate(f"() => {{ {LATE} }}")
    assert [each.partition(":")[0] for each in said] == ["colltune"] * 6
    assert watched_page.errors == []


def test_before_its_scripts_have_come_the_page_has_an_outline_in_the_colours_of_the_system(
    serve_dashboard: Callable[..., Served], watched_page: WatchedPage
) -> None:
    page = watched_page.page
    page.emulate_media(color_scheme="dark")
    page.route("**/*.js*", lambda route: route.abort())
    page.goto(serve_dashboard().url + "?tree=quadtree")
    assert page.locator(f"#{FIRST} header").inner_text() == "colltune"
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(18, 18, 18)"


@pytest.mark.slow
def test_what_is_shared_follows_the_view_and_is_copied(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Link, command, Python").click()
    copied = {}
    seen(page, "max_depth=3").wait_for()
    for title in ("Link", "As command", "As Python"):
        page.get_by_role("button", name=f"Copy: {title}").click()
        page.wait_for_function("navigator.clipboard.readText().then((text) => text !== window.before)")
        copied[title] = page.evaluate("navigator.clipboard.readText().then((text) => window.before = text)")
    assert copied["Link"].startswith("http://127.0.0.1:")
    assert copied["As command"].startswith("colltune ")
    assert "max_depth=3" in copied["As Python"]
    page.get_by_role("slider", name="Maximum depth").press("ArrowRight")
    page.get_by_text("max_depth=4").wait_for()
    tallest = max(each.bounding_box()["height"] for each in page.locator("pre").all() if each.is_visible())
    assert tallest <= 132
    page.keyboard.press("Escape")
    page.get_by_text("max_depth=4").wait_for(state="hidden")


@pytest.mark.slow
def test_a_page_that_is_named_is_a_link_to_it_in_the_same_session(page: Page) -> None:
    page.evaluate("window.session = 'kept'")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("button", name="Two campaigns").click()
    page.get_by_role("link", name="Data", exact=True).click()
    seen(page, THERE["Data"]).wait_for()
    assert "page=Data" in page.url
    assert page.evaluate("window.session") == "kept"


@pytest.mark.soak
def test_a_page_that_comes_back_is_not_drawn_anew(page: Page) -> None:
    page.get_by_role("button", name="Compare", exact=True).click()
    seen(page, THERE["Compare"]).wait_for()
    page.get_by_role("button", name="Decisions", exact=True).click()
    wait_until_drawn(page, EXACT)
    # Sweeps come after the maps; with them, what is above is laid out once more.
    seen(page, "Both ways to limit a tree").wait_for()
    settled(page)
    drawn = page.evaluate(_DRAWN)
    read = page.locator(".main-content")
    read.evaluate("(each) => each.scrollTo(0, 300)")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("button", name="Decisions", exact=True).click()
    assert read.evaluate("(each) => each.scrollTop") == 0
    # Two frames: sizes are heard of after the first, and what follows is done before the second.
    page.evaluate("new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))")
    assert page.evaluate(_DRAWN) == drawn
    # Drawn in other colours and made narrower while it was away, with a canvas that has no size there.
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("button", name="Toggle theme").click()
    page.set_viewport_size({"width": 1180, "height": 900})
    page.get_by_role("button", name="Decisions", exact=True).click()
    page.wait_for_function(_DRAWN_ANEW, arg=drawn)


def drawn_page(server: Served, watched_page: WatchedPage) -> Page:
    watched_page.page.set_default_timeout(40_000)
    watched_page.page.goto(server.url + "?tree=quadtree")
    wait_until_drawn(watched_page.page, EXACT)
    # It is drawn before it is connected, from when on its title says which page is shown.
    watched_page.page.wait_for_function("document.title.includes('·')")
    return watched_page.page


_LATE_ANSWER = """(name) => new Promise((done) => {
    const [main] = Bokeh.index.query((view) => view.class_list?.has('colltune-pages'))
    for (const {model} of main.child_views) model.setv({visible: model.name === name}, {sync: false})
    requestAnimationFrame(() => requestAnimationFrame(() => done(
        main.child_views.filter(({el}) => el.isConnected && el.offsetHeight).map(({model}) => model.name))))
})"""


@pytest.mark.slow
def test_a_click_is_answered_while_the_server_does_nothing(own_server: Served, watched_page: WatchedPage) -> None:
    page = drawn_page(own_server, watched_page)
    page.get_by_role("button", name="Data", exact=True).click()
    seen(page, THERE["Data"]).wait_for()
    os.kill(own_server.process.pid, signal.SIGSTOP)
    try:
        page.get_by_role("button", name="Decisions", exact=True).click()
        seen(page, THERE["Decisions"]).wait_for()
        page.get_by_role("button", name="Models", exact=True).click()
        page.get_by_role("status").get_by_text("Models").wait_for()
        page.get_by_role("alert").get_by_text("The server is slow to answer").wait_for()
    finally:
        os.kill(own_server.process.pid, signal.SIGCONT)
    seen(page, THERE["Models"]).wait_for()
    assert page.get_by_role("status").get_by_text("Models").count() == 0
    # What the server shows for an earlier click, after the last.
    assert page.evaluate(_LATE_ANSWER, "Decisions") == ["Models"]
    assert watched_page.errors == []


@pytest.mark.slow
def test_a_server_that_is_gone_is_said(own_server: Served, watched_page: WatchedPage) -> None:
    page = drawn_page(own_server, watched_page)
    own_server.stop()
    page.get_by_role("alert").get_by_text(
        re.compile(r"^The server does not answer.* connecting again( in \d+ s)? …$")
    ).wait_for()
    page.get_by_role("button", name="Reload").wait_for()
    page.get_by_role("slider", name="Accuracy threshold").wait_for()


@pytest.mark.slow
def test_a_server_that_was_started_anew_is_said_to_need_a_reload(watched_page: WatchedPage) -> None:
    command = [sys.executable, "-m", "dashboard.cli", "serve", "--no-browser", "--port"]
    with Served([*command, "0"], ROOT) as served:
        page = drawn_page(served, watched_page)
    with Served([*command, str(urlsplit(served.url).port)], ROOT) as served:
        page.get_by_role("alert").get_by_text("The server runs, but knows nothing of this page").wait_for()
        assert page.get_by_role("alert").get_by_role("button").all_inner_texts() == ["Reload"]
    assert not any("Traceback" in line for line in served.output)
