"""A view as one HTML file to send to somebody: it opens anywhere, without a network and without a server."""

from dashboard.report.contents import Contents
from dashboard.report.story import pictures, to_story
from dashboard.report.write import to_html

__all__ = ["Contents", "answer", "pictures", "to_html", "to_story"]
