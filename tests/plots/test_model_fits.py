"""What is shown of fits: intervals, notes and residuals of each method."""

import numpy as np
import pytest

from dashboard.models.fit import Fit, fit
from dashboard.models.observations import observe
from dashboard.models.predicting import Covered, candidates, predicted_cube
from dashboard.plots.colors import MethodKey
from dashboard.plots.models.fits import interval_table, method_table, residual_chart
from tests.models.networks import HOCKNEY


@pytest.fixture(scope="module")
def result() -> Fit:
    known = Covered.of("bcast", candidates("bcast", segment_sizes=(0, 8192)))
    cube = predicted_cube(known, [2, 4, 8, 16], [1, 1024, 65536], HOCKNEY)
    noise = np.random.default_rng(1).normal(1, 0.05, cube["time"].shape)
    return fit(observe(cube.assign(time=cube["time"] * noise)), "hockney")


def test_intervals_hold_their_values(result: Fit) -> None:
    table = interval_table(result)
    assert "95 % confidence intervals" in table
    assert "<td>α, latency</td>" in table
    low, high = result.intervals["beta"]
    for value in (result.value("beta"), low, high):
        assert f"{value * 1e9:.4g} ns/B" in table


def test_every_method_has_its_residuals(result: Fit) -> None:
    table = method_table(result)
    methods = list(dict.fromkeys(result.residuals["method"]))
    assert len(methods) > 7
    assert table.count("<tr>") == 1 + len(methods)
    assert f"{result.median_error:.2f} %" in table
    # They have the colours and letters of the maps.
    key = MethodKey.of(methods)
    for color, line, letter in zip(key.colors, key.lines, key.letters, strict=True):
        assert f'background: {color}">{letter}</span>' in table
        assert f"color: {line}" in table


def test_the_chart_has_a_point_for_each_time(result: Fit) -> None:
    points = residual_chart(result).get(1)
    assert len(points) == len(result.residuals)
    assert points.dimension_values("above") == pytest.approx(100 * result.residuals["residual"].to_numpy())
