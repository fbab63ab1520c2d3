"""What a report is made of: sections of parts, each a figure or a piece of HTML."""

from dataclasses import dataclass

import holoviews as hv


@dataclass(frozen=True)
class Part:
    """One piece of a section."""

    #: Above it; empty for none.
    title: str
    #: Text as HTML.
    html: str = ""
    #: Drawn beside each other, above the text.
    figures: tuple[hv.Element, ...] = ()
    #: Whether it is closed at first.
    folded: bool = False
    #: Whether it is left out on paper, where each section has a page.
    on_screen: bool = False


@dataclass(frozen=True)
class Section:
    """A chapter of the report."""

    title: str
    parts: tuple[Part, ...]
