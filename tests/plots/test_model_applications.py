"""Pictures of applications: every figure that is drawn is one of the answers'."""

from statistics import geometric_mean

import holoviews as hv
import pytest
import xarray as xr

from dashboard.models.applications import answers_in, phase_times
from dashboard.models.fitted_runtime import fitted
from dashboard.plots.models.applications import group_times, improvements, step_phases, step_times
from dashboard.session.samples import sample_data
from loaders import open_results

FOLDER = sample_data("fast-ethernet-grids")


@pytest.fixture(scope="module")
def allgather() -> xr.Dataset:
    """Measured times of allgathers, grids among them."""
    return open_results([FOLDER / "results.jsonl"])["allgather"].to_dataset()


def labelled(overlay: hv.Overlay) -> dict[str, hv.Curve]:
    """Curves by their entry in the legend."""
    return {element.label: element for element in overlay if isinstance(element, hv.Curve) and element.label}


def test_steps_and_gains_over_sizes() -> None:
    answers = answers_in(FOLDER / "jacobi_row.json")
    sizes = [answer["order"]["size"] for answer in answers]
    curves = labelled(step_times(answers, "Jacobi"))
    for place, name in enumerate(("original", "orthogonal 4x4")):
        ways = [answer["ways"][place] for answer in answers]
        curve = curves[name]
        assert curve["unknowns"].tolist() == sizes
        assert curve["step"] == pytest.approx([way["step"] for way in ways])
    gains = improvements({"jacobi_row": answers}, "gains")
    curve = labelled(gains)["jacobi_row, orthogonal 4x4"]
    assert curve["application_gain"] == pytest.approx([answer["ways"][1]["gain"]["mean"] for answer in answers])
    (bars,) = (element for element in gains if isinstance(element, hv.ErrorBars))
    assert (bars["application_gain"] - bars["below"]) == pytest.approx(
        [answer["ways"][1]["gain"]["low"] for answer in answers]
    )


def test_phases_add_up_to_less_than_the_step_of_the_slowest_rank() -> None:
    answer = answers_in(FOLDER / "pabm_task.json")[0]
    tops = list(step_phases({"pabm_task": answer}, "A step"))[-1]["step_to"]
    for top, way in zip(tops, answer["ways"], strict=True):
        assert 0.5 * way["step"] < top <= 1.01 * max(way["seconds"]) / way["steps"]


def test_a_slow_turn_counts_for_no_more_in_the_phases_than_in_the_step() -> None:
    phases = {"compute": [{"mean": 3e-3}, {"mean": 3e-2}], "allgather": [{"mean": 1e-3}, {"mean": 1e-2}]}
    way = {"steps": 2, "seconds": [4e-3, 4e-2], "phases": phases}
    times = phase_times(way)
    assert times["compute"] == pytest.approx(3 * times["allgather"])
    assert sum(times.values()) == pytest.approx(geometric_mean(way["seconds"]) / 2)


def test_groups_beside_their_runtime_functions(allgather: xr.Dataset) -> None:
    function = fitted(allgather, "default")
    dashed, solid = group_times(allgather, {"default": function}, 100_000, "allgather").values()[:2]
    assert solid["processes"].tolist() == [2, 4, 8, 16]
    assert solid["step"] == pytest.approx(allgather["time"].sel({"method": "default"})[:, -1].values)
    assert dashed["step"] == pytest.approx([function.seconds(size, 100_000) for size in (2, 4, 8, 16)])
