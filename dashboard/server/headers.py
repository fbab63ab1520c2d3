"""What every answer of the server tells the browser: what not to do with it, how it is packed, how long it is kept."""

from http import HTTPStatus
from typing import Any

from tornado.web import GZipContentEncoding, OutputTransform

# Bokeh's pages run inline scripts and functions made of text, so these are allowed; what is not, and would be needed to
# carry data away, is any other site: as a source of scripts, as an address to send to, as a frame around the page.
_CONTENT = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "worker-src": "'self' blob:",
    "connect-src": "'self' data: blob:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
HEADERS = {
    "Content-Security-Policy": "; ".join(f"{what} {whence}" for what, whence in _CONTENT.items()),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
#: Below this are scripts, styles and fonts, which are the same for everybody.
_STATIC = "/static/"
#: Seconds for which a file is kept whose address changes with it, and one whose name mostly does.
_FOR_GOOD, _A_DAY = 315_360_000, 86_400


class SafeHeaders(OutputTransform):
    """Adds `HEADERS` to each answer; Tornado takes it as one of the application's ``transforms``."""

    def __init__(self, request: Any) -> None:
        pass

    def transform_first_chunk(
        self,
        status_code: int,
        headers: Any,
        chunk: bytes,
        finishing: bool,  # noqa: FBT001 - Tornado's
    ) -> tuple[int, Any, bytes]:
        """Add the headers before the first bytes go out."""
        for name, value in HEADERS.items():
            headers.setdefault(name, value)
        headers["Server"] = "colltune"
        return status_code, headers, chunk


class SmallStatic(GZipContentEncoding):
    """Packs static files, and has browsers keep them; Tornado takes it as one of the application's ``transforms``.

    Pages stay as they are: they hold what is a session's own, of which the size of a packed answer would tell. Files
    are packed quickly, not to the last byte, for this is done between the answers to others.
    """

    GZIP_LEVEL = 1

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self._static = _STATIC in request.path
        self._seconds = _FOR_GOOD if request.query else _A_DAY
        self._gzipping = self._gzipping and self._static

    def transform_first_chunk(
        self,
        status_code: int,
        headers: Any,
        chunk: bytes,
        finishing: bool,  # noqa: FBT001 - Tornado's
    ) -> tuple[int, Any, bytes]:
        """Say how long it may be kept, and pack its first bytes."""
        if self._static and status_code == HTTPStatus.OK and "Cache-Control" not in headers:
            headers["Cache-Control"] = f"max-age={self._seconds}"
        packed: tuple[int, Any, bytes] = super().transform_first_chunk(status_code, headers, chunk, finishing)
        return packed
