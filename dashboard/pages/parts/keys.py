"""For the browser: maps and toolbars by keyboard, one stop for Tab each, with arrows inside."""

from pathlib import Path

#: Arrows go over the cells of a map as the pointer does, so that its figures are shown; Enter is a tap, Escape leaves.
#: A map is a figure of which the hover tool knows the edges of the cells (`dashboard.plots.hover`).
MAP_KEYS = Path(__file__).with_name("keys.js").read_text(encoding="utf-8")
