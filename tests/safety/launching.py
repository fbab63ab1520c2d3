"""Serves, as the dashboard is served, a page that only tells whether it may start jobs: in its title."""

import json
import sys

import panel as pn

from dashboard import serve as serving
from dashboard.cli import main
from dashboard.server.access import Access
from dashboard.server.permission import may_enter, may_launch
from dashboard.session.samples import Start


def page(start: Start) -> pn.pane.Str:
    """Make the page."""
    pn.state.curdoc.title = f"enter: {bool(may_enter())}, launch: {bool(may_launch())}."
    return pn.pane.Str("")


if __name__ == "__main__":
    serving.create_app, serving.TITLE, serving.warm_up = page, None, lambda start: None
    if sys.argv[1] == "serve":
        sys.exit(main(sys.argv[1:]))
    serving.serve(port=0, access=Access(**json.loads(sys.argv[1])))
