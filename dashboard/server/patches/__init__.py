"""What is changed in the insides of Bokeh and Panel where they have no public way, and what is lost without it.

A change that does not fit the installed releases is left out: the start says so and goes on. `tests/test_patches.py`
fails with releases that a change was not written for, and once Bokeh and Panel do without it. `lean` is for the
browser, and looks there whether it fits.
"""

import sys
from collections.abc import Mapping
from pkgutil import resolve_name
from typing import NamedTuple

__all__ = ["PATCHES", "UNGUARDED", "install", "lean"]

UNGUARDED = (
    "a guard against strangers does not fit the installed Bokeh or Panel, so this machine alone can be served; install "
    "the releases of .ci/constraints.txt"
)


class Patch(NamedTuple):
    """A change."""

    #: Its module here, which has ``install()``.
    name: str
    #: Series of the releases that it was written for, of each library.
    made_for: Mapping[str, tuple[str, ...]]
    #: What is so without it, for the log.
    without: str
    #: Whether it stands before strangers: without it nobody else is served.
    guards: bool = False


_BOKEH, _PANEL = {"bokeh": ("3.9", "3.10")}, {"panel": ("1.9", "1.10")}
PATCHES = (
    Patch("guarded", _BOKEH | {"tornado": ("6",)}, "requests are not checked before they are served", guards=True),
    Patch("unpacking", _BOKEH, "what a browser sends may unpack to any size", guards=True),
    Patch("prompt", _BOKEH | _PANEL, "each answer takes up to 40 ms longer"),
    Patch("defaults", _BOKEH, "a page takes longer to open"),
    Patch("delivery", _BOKEH | _PANEL, "a change may be shown with the next one only"),
    Patch("own_thread", _BOKEH, "what two sessions do at a time may end up mixed"),
)


def install() -> tuple[Patch, ...]:
    """Change what every server that this process makes from now on does; may be called again.

    Returns
    -------
    tuple
        What was left out, since it does not fit; each is said on standard error.
    """
    return tuple(patch for patch in PATCHES if not _fits(patch))


def _fits(patch: Patch) -> bool:
    try:
        resolve_name(f"{__name__}.{patch.name}:install")()
    except Exception as error:  # noqa: BLE001 - whatever is there instead, the server starts
        releases = ", ".join(f"{name} {' and '.join(series)}" for name, series in patch.made_for.items())
        sys.stderr.write(f"colltune: warning: {patch.without}: written for {releases} ({error})\n")
        return False
    return True
