"""Views that tell what they set themselves from what somebody chooses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from panel.viewable import Viewer


class Filling(Viewer):
    """A view whose widgets are followed only where it does not set them itself."""

    _filling = False

    @contextmanager
    def filling(self) -> Iterator[None]:
        """While not somebody but the page itself sets them."""
        before, self._filling = self._filling, True
        try:
            yield
        finally:
            self._filling = before
