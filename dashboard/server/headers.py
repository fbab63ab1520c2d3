"""What every answer of the server tells the browser not to do with it."""

from __future__ import annotations

from typing import Any

from tornado.web import OutputTransform

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
