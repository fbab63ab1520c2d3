"""What the maps show of their axes when other data come."""

import pytest
import xarray as xr
from bokeh.document import Document
from bokeh.models import Plot

from dashboard.pages.decisions.page import DecisionsPage
from dashboard.session.registry import register
from dashboard.session.state import State
from tests.cubes import synthetic_cube


@pytest.mark.slow
def test_maps_of_other_data_show_their_sizes_alone_and_move_together() -> None:
    state, cube = State(), synthetic_cube(6, 8, 3, seed=1)
    state.show(register(xr.DataTree.from_dict({"bcast": cube.assign_attrs(digest="all sizes")})))
    root = DecisionsPage(state).maps.__panel__().get_root(Document())
    fewer = cube.isel(comm_size=slice(1, 3), message_size=slice(2, 5)).assign_attrs(digest="fewer sizes")
    state.show(register(xr.DataTree.from_dict({"bcast": fewer})))
    maps = list(root.select({"type": Plot}))
    assert len(maps) == 3
    ((columns, rows),) = {(each.x_range, each.y_range) for each in maps}
    assert columns.end - columns.start == fewer.sizes["message_size"]
    assert rows.end - rows.start == fewer.sizes["comm_size"]
