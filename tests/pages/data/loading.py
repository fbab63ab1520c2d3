"""Loads what the page *Data* has chosen."""

import asyncio

from dashboard.pages.data.page import DataPage


def load(page: DataPage) -> None:
    asyncio.run(page.load())
