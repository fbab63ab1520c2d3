"""Mentions of pages, which lead there."""


def page_link(name: str) -> str:
    """The name of a page as a link in Markdown; `dashboard.server.patches.lean` opens it in the same session."""
    return f"[{name}](?page={name})"


NO_RESULTS = f"No results are loaded. Open the page {page_link('Data')} to choose files, or the sample data."
