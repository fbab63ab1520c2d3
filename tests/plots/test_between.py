"""Times between the measured sizes as a chart."""

import holoviews as hv
import numpy as np
import pytest

from dashboard.decisions.surfaces.along import Slicing
from dashboard.plots.between import slice_chart
from dashboard.plots.colors import MethodKey
from tests.cubes import synthetic_cube


@pytest.mark.parametrize(("chosen", "ribbons"), [(-1, 1), (0, 2)])
def test_a_slice_is_drawn_with_and_without_a_choice_of_measured_methods(chosen: int, ribbons: int) -> None:
    cube = synthetic_cube(3, 5, 4, seed=1)
    along = Slicing(cube).along("message_size", int(cube["comm_size"][-1]))
    chart = slice_chart(along, np.full(along.sizes.size, chosen), MethodKey.of(cube["method"].values), "t")
    assert hv.render(chart).renderers
    assert sum(isinstance(layer, hv.Rectangles) for layer in chart) == ribbons
