"""Processes per node: each page whose figures are of one number of them says which, and offers the others."""

from typing import Any

import numpy as np
import pytest

from dashboard.pages.compare.page import ComparePage
from dashboard.pages.decisions.page import DecisionsPage
from dashboard.pages.export.page import ExportPage
from dashboard.pages.frontier import FrontierPage
from dashboard.pages.models.page import ModelsPage
from tests.cubes import cube_of, synthetic_cube
from tests.states import state_of


@pytest.mark.parametrize("make", [DecisionsPage, ComparePage, FrontierPage, ModelsPage, ExportPage])
def test_each_page_says_which_number_its_figures_are_of_and_offers_the_others(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the frontier holds is looked at in `test_frontier`.
    monkeypatch.setattr("dashboard.decisions.judged.frontier._suitable", lambda _: ["quadtree"])
    time = np.random.default_rng(1).random((3, 2, 4, 2))
    time[0, 0, 0, 0] = np.nan
    state = state_of(bcast=cube_of(time, [2, 4], [1, 2, 4, 8]), reduce=synthetic_cube(3, 4, 4, seed=1))
    state.collective = "bcast"
    page = make(state)
    menu = page.controls.ppn if make is DecisionsPage else page.ppn
    assert menu.visible
    assert list(menu.options) == ["most measured (2)", "1", "2"]
    menu.value = 1
    assert state.ppn == 1
    state.ppn = None
    assert menu.value == menu.options["most measured (2)"]
    state.collective = "reduce"
    assert not menu.visible
