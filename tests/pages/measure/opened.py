"""The page *Measure*, opened, and its buttons pressed."""

import asyncio
from typing import Any

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.pages.measure.page import MeasurePage
from dashboard.session.state import State


def page_of(**chosen: Any) -> MeasurePage:
    """Open the page as one of those of the dashboard."""
    state = State(page="Measure")
    state.navigated = True
    page = MeasurePage(state)
    page.where.widgets["ranks"].value = 2
    for name, value in {"message_sizes": "8,64,512", "comm_sizes": "2", **chosen}.items():
        page.form.widgets[name].value = value
    return page


def press(action: Any) -> None:
    asyncio.run(action())


def campaign_of(page: MeasurePage) -> Campaign:
    return Campaign(page.root / page.state.campaign)
