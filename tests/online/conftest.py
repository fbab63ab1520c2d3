"""What tests of online tuning share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def single_thread() -> Iterator[None]:
    """Regressions in one thread, as learning has them: on a busy machine two wait for each other."""
    with threadpool_limits(1, user_api="openmp"):
        yield
