"""What the widgets' library leaves out for screen readers, and for those whom motion makes ill."""

from pathlib import Path

#: Gives names and roles to what has none, in each shadow root, now and whenever something is added to one; keys to
#: what has none. Bars and switches jump rather than glide where the reader's system asks for it.
NAMES = Path(__file__).with_name("accessible.js").read_text(encoding="utf-8")
