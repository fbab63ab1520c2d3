"""For the browser: what the widgets' library leaves out for those who cannot see, point or bear motion."""

from pathlib import Path

#: Gives names and roles to what has none, in each shadow root, now and whenever something is added to one; keys to
#: what has none. Bars and switches jump rather than glide where the reader's system asks for it.
NAMES = Path(__file__).with_name("accessible.js").read_text(encoding="utf-8")
#: Maps and toolbars are one stop for Tab each. Arrows go over the cells of a map as the pointer does, so that its
#: figures are shown; Enter is a tap, Escape leaves. A map is a figure of which the hover tool knows the edges of the
#: cells (`dashboard.plots.hover`).
MAP_KEYS = Path(__file__).with_name("keys.js").read_text(encoding="utf-8")
