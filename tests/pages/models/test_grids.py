"""The tab *Grids*: bars and map of measured grids, and a sentence where there are none."""

import re
from pathlib import Path

import holoviews as hv
import pytest

from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.grids import MOST_GRIDS, Grids
from dashboard.pages.models.page import ModelsPage
from dashboard.plots.backend import use_bokeh
from dashboard.schedules.layout import layouts
from dashboard.session.registry import load_results
from dashboard.session.state import State
from loaders import RunWriter
from tests.pages.models.viewing import open_tab
from tests.states import sample_state

SIZES = (1000, 10_000, 100_000)
#: Percent that 4x4 gains, by size.
GAINS = (-40.0, 1.0, 60.0)


def measured(folder: Path, processes: int = 16, *, all_layouts: bool = False) -> State:
    """Broadcasts whose gains are known: 4x4 those above, all others 5 % at every size."""
    path = folder / "results.jsonl"
    with RunWriter(path, {"system": "made", "library": "none"}) as writer:
        point = {"collective": "bcast", "comm_size": processes, "repetitions": 5, "time_std": 0.0, "segment_size": 0}
        grids = [str(each) for each in layouts(processes, None if all_layouts else 2)]
        for place, size in enumerate(SIZES):
            writer.append({**point, "algorithm": "default", "message_size": size, "time": 1.0})
            writer.append({**point, "algorithm": "linear", "message_size": size, "time": 2.0})
            for grid in grids:
                gain = GAINS[place] if grid == "4x4" else 5.0
                named = {"grid": grid, "inner": "linear", "provider": "orthogonal"}
                made = {"algorithm": "orthogonal", "parameters": named, "time": 1 - gain / 100}
                writer.append({**point, **made, "message_size": size})
    state = State.of(load_results([path]))
    state.page = "Models"
    return state


def tab_over(state: State) -> Grids:
    """The tab, on show."""
    use_bokeh()
    choice = ModelChoice(state)
    choice.show(state.collective)
    part = Grids(choice)
    part.update()
    return part


@pytest.fixture
def tab(tmp_path: Path) -> Grids:
    """The tab over grids of two dimensions of 16."""
    return tab_over(measured(tmp_path))


def heights(tab: Grids) -> dict[str, tuple[str, str, str]]:
    """What the bars say: least, average and most by grid."""
    (bars,) = (each for each in tab.bars.object if isinstance(each, hv.Rectangles))
    columns = [bars.dimension_values(name) for name in ("name", "least", "average", "most")]
    return {name: tuple(rest) for name, *rest in zip(*columns, strict=True)}


def test_bars_are_of_the_interval_that_is_chosen(tab: Grids) -> None:
    assert not tab.message.visible
    assert list(heights(tab)) == ["2x8", "4x4", "8x2"]
    assert heights(tab)["4x4"] == ("−40.00 %", "7.00 %", "60.00 %")
    tab.low.value = 10_000
    assert heights(tab)["4x4"] == ("1.00 %", "30.50 %", "60.00 %")
    # Whichever is moved past the other: the interval lies between them.
    tab.high.value = 1000
    assert heights(tab)["4x4"] == ("−40.00 %", "−19.50 %", "1.00 %")


def test_the_original_is_the_method_that_is_chosen(tab: Grids) -> None:
    assert tab.original.value == "default"
    tab.original.value = "linear"
    assert heights(tab)["4x4"][2] == "80.00 %"


def test_the_map_frames_what_is_selected_at_each_size(tab: Grids) -> None:
    boxes, figures, marks, _ = tab.map.object
    assert len(boxes) == 9
    assert "−40" in figures.dimension_values("figure")
    # 4x4 at 100 kB alone; at the other sizes another grid, which gains 5 %.
    rows = dict(zip(marks.dimension_values("gain_size"), marks.dimension_values("gain_grid"), strict=True))
    assert rows[1.5] == 0.5
    assert {rows[-0.5], rows[0.5]} <= {-0.5, 1.5}
    assert "selected 0.0 %" in tab.note.object
    assert "always 4x4" in tab.note.object


def test_predictions_need_more_than_one_number_of_processes(tab: Grids) -> None:
    assert "too few for a runtime function" in tab.predicted.object


def test_predictions_and_deviations_of_kept_results() -> None:
    tab = tab_over(sample_state("fast-ethernet-grids", collective="bcast"))
    tab.original.value, tab.inner.value = "linear provider=own", "linear"
    assert "By a runtime function of linear provider=own, 100,000 B" in tab.predicted.object
    assert re.search(r"<td>4x4</td>.*?ms</td>.*?ms</td>.*?[0-9] %</td>", tab.predicted.object, re.DOTALL)
    # Linear in the number of processes, as a linear broadcast is.
    assert " p) b" in tab.predicted.object


def test_predictions_beyond_what_was_fitted_are_noted() -> None:
    tab = tab_over(sample_state("fast-ethernet-grids", collective="allgather"))
    assert "Nothing was fitted to 800,000 B, 400,000 B, 200,000 B, but to messages of" in tab.predicted.object


def test_too_many_grids_are_left_out_and_counted(tmp_path: Path) -> None:
    tab = tab_over(measured(tmp_path, 48, all_layouts=True))
    every = len(layouts(48))
    assert len(heights(tab)) == MOST_GRIDS < every
    assert f"{every - MOST_GRIDS} grids of less average improvement are not shown" in tab.note.object
    tab.dimensions.value = 2
    assert len(heights(tab)) == 8
    assert "not shown" not in tab.note.object


def test_without_grids_it_shows_a_published_machine_and_says_how_they_are_measured(page: ModelsPage) -> None:
    tab = open_tab(page, "Grids")
    assert isinstance(tab, Grids)
    assert "colltune bench run FOLDER -c bcast --grids all" in tab.predicted.object
    assert "CLiC" in tab.predicted.object
    tab.processes.value, tab.low.value, tab.high.value = 48, 100_000, 100_000
    # Derived of the printed functions: 2x24 and 24x2 gain 14.0 %, 4x12 and 12x4 24.8 %, 6x8 loses 1.4 %.
    tab.dimensions.value = 2
    averages = {name: float(average.rstrip(" %").replace("−", "-")) for name, (_, average, _) in heights(tab).items()}
    expected = {"2x24": 14.0, "3x16": 20.9, "4x12": 24.8, "6x8": -1.4, "8x6": -1.4, "12x4": 24.8, "24x2": 14.0}
    assert {name: averages[name] for name in expected} == pytest.approx(expected, abs=0.06)


def test_a_collective_without_phases_says_which_have_some(page: ModelsPage) -> None:
    tab = open_tab(page, "Grids")
    page.state.collective = "alltoall"
    assert "alltoall is not made of phases; grids are of bcast, reduce" in tab.message.object
