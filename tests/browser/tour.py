"""What each page shows once it stands, what can be operated on it, and what axe-core finds there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

#: What each page has once it stands.
THERE = {
    "Home": "Bring your files",
    "Tune": "Start, safety check, proof",
    "Decisions": "Accuracy threshold",
    "Compare": "Compare all approaches",
    "Frontier": "Left out for judging",
    "Models": "Schedule",
    "Export": "Write a report",
    "Measure": "Campaign",
    "Online": "Learning from what programs call",
    "Data": "Load the sample data",
}
GRAVE = {"serious", "critical"}
#: What can be operated on the page, shadow roots and all; of a group with one stop for Tab, what that stop is: of
#: buttons the chosen one.
CONTROLS = """
const CONTROL = 'a[href], button, input, select, textarea, [role=combobox], [role=slider], [role=switch], [role=tab]'
const deep = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? deep(e.shadowRoot) : [])])
const name = (e) => e.getAttribute('aria-label') || (e.labels && [...e.labels].map((l) => l.textContent).join(' ')) ||
    e.textContent.trim() || e.getAttribute('title') || e.outerHTML.slice(0, 120)
const seen = (e) => e.checkVisibility({checkVisibilityCSS: true}) && e.getBoundingClientRect().width > 0
const chosen = (e) => e.closest('.MuiToggleButtonGroup-root')?.querySelector('[aria-pressed=true]')
const reachable = (e) => !e.disabled && e.getAttribute('aria-disabled') !== 'true' &&
    !e.getAttribute('aria-hidden') &&
    !(e.hasAttribute('aria-pressed') && (chosen(e) ? e !== chosen(e) : e.tabIndex < 0)) &&
    !(e.getAttribute('role') === 'tab' && e.getAttribute('aria-selected') !== 'true')
const controls = () => deep(document).filter((e) => e.matches(CONTROL) && seen(e) && reachable(e))
const focused = () => {
    let e = document.activeElement
    while (e && e.shadowRoot && e.shadowRoot.activeElement) e = e.shadowRoot.activeElement
    return e
}
"""


def seen(page: Page, text: str) -> Locator:
    """Find a text that can be seen."""
    return page.get_by_text(text).locator("visible=true").first


def settled(page: Page) -> None:
    """Wait until nothing is under way: no bar is seen, and all that is to be drawn is."""
    page.wait_for_function(
        f"""() => {{
            {CONTROLS}
            const busy = (e) => e.matches('[role=progressbar]:not([aria-valuenow="100"])')
            const bars = deep(document).filter((e) => busy(e) && seen(e))
            const there = window.Bokeh && Bokeh.documents.length > 0
            return there && bars.length === 0 && Bokeh.documents.every((d) => d.is_idle)
        }}""",
        # Not in each frame: to look through all of the page takes longer than one.
        polling=250,
    )


def grave(page: Page) -> list[str]:
    """Violations that axe-core calls serious or critical, each with what it was found on."""
    violations = [each for each in Axe().run(page).response["violations"] if each["impact"] in GRAVE]
    return [f"{each['id']}: {node['html'][:200]}" for each in violations for node in each["nodes"]]
