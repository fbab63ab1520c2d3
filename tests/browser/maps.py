"""Where things lie on a drawn map, asked of Bokeh in the browser, what the statistics beside it say, and selects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

# The view of the plot with a title, once all of it is painted; else null.
_VIEW = """
const view_of = (title) => {
    if (!window.Bokeh) return null
    for (const doc of Bokeh.documents)
        for (const model of doc._all_models.values())
            if (model.type === 'Figure' && model.title && model.title.text === title) {
                const view = Bokeh.index.find_one(model)
                if (view && view.has_finished()) return view
            }
    return null
}
"""
# What is on the canvas of the plot with a title, in short; null until it is painted.
_PIXELS = f"""
(title) => {{
    {_VIEW}
    const view = view_of(title)
    if (view === null) return null
    const {{canvas}} = view.canvas_view.primary
    let sum = 7
    for (const byte of canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data)
        sum = (sum * 31 + byte) | 0
    return `${{canvas.width}} × ${{canvas.height}}: ${{sum}}`
}}
"""
_POINT = """
const labelled = (axis, text) => {
    const labels = axis.major_label_overrides
    for (const [at, label] of labels instanceof Map ? labels : Object.entries(labels))
        if (label === text) return Number(at)
    throw new Error(`no tick of the axis is labelled ${text}`)
}
"""


#: Milliseconds between two looks. To look in each frame keeps the page from painting: all its models are gone through.
LOOK = 100


def wait_until_drawn(page: Page, title: str, seconds: float = 180.0) -> None:
    """Return when the plot with this title is painted."""
    page.wait_for_function(
        f"(title) => {{ {_VIEW} return view_of(title) !== null }}", arg=title, timeout=seconds * 1000, polling=LOOK
    )


def point_at(page: Page, title: str, x_label: str, y_label: str) -> tuple[float, float]:
    """Tell where on the screen a plot has what its axes' ticks with these labels point at, in CSS pixels."""
    at = page.evaluate(
        f"""([title, x_label, y_label]) => {{
            {_VIEW} {_POINT}
            const view = view_of(title), figure = view.model
            const x = view.frame.x_scale.compute(labelled(figure.below[0], x_label))
            const y = view.frame.y_scale.compute(labelled(figure.left[0], y_label))
            const box = view.el.getBoundingClientRect()
            return [box.left + x, box.top + y]
        }}""",
        [title, x_label, y_label],
    )
    return float(at[0]), float(at[1])


def settled_pixels(page: Page, title: str) -> str:
    """Give a digest of the pixels of the plot with this title once they have stayed the same for a second."""
    return str(
        page.evaluate(
            f"""async (title) => {{
                const pixels = {_PIXELS}
                let last = null
                for (let same = 0; same < 10; ) {{
                    await new Promise((resolve) => setTimeout(resolve, 100))
                    const now = pixels(title)
                    same = now !== null && now === last ? same + 1 : 0
                    last = now
                }}
                return last
            }}""",
            title,
        )
    )


def wait_for_other_pixels(page: Page, title: str, than: str, seconds: float = 180.0) -> str:
    """Wait until the plot with this title shows others than these pixels, and give a digest of them once settled."""
    page.wait_for_function(
        f"([title, than]) => {{ const now = ({_PIXELS})(title); return now !== null && now !== than }}",
        arg=[title, than],
        timeout=seconds * 1000,
        polling=LOOK,
    )
    return settled_pixels(page, title)


def wait_for_statistic(page: Page, row: str) -> None:
    """Wait until a row of the statistics says this, such as ``leaves 46``."""
    table = page.get_by_role("table", name="Statistics")
    table.get_by_role("row", name=re.compile(rf"(^|\s){re.escape(row)}$")).wait_for()


def choose(page: Page, label: str, option: str) -> None:
    """Choose an entry of a select."""
    page.get_by_label(label, exact=True).first.click()
    page.get_by_role("listbox").or_(page.locator(".MuiMenu-paper, .MuiPopover-paper")).first.wait_for()
    page.locator(".MuiMenu-paper, .MuiPopover-paper").get_by_text(option, exact=True).click()
