"""What a report is made of: sections of parts, each a figure or a piece of HTML."""

from dataclasses import dataclass

import holoviews as hv


@dataclass(frozen=True)
class Part:
    """One piece of a section.

    Attributes
    ----------
    title
        Above it; empty for none.
    html
        Text as HTML.
    figures
        Drawn beside each other, above the text.
    folded
        Whether it is closed at first.
    on_screen
        Whether it is left out on paper, where each section has a page.
    """

    title: str
    html: str = ""
    figures: tuple[hv.Element, ...] = ()
    folded: bool = False
    on_screen: bool = False


@dataclass(frozen=True)
class Section:
    """A chapter of the report."""

    title: str
    parts: tuple[Part, ...]
