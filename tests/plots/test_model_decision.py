"""Maps of decisions by models: colours of measured and other methods, and tables of what they cost."""

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import decision_map
from dashboard.decisions.measured.problem import Problem
from dashboard.models.deciding import Ensemble, model_decision, model_penalties
from dashboard.models.parameter_set import ParameterSet
from dashboard.plots.colors import MethodKey
from dashboard.plots.models.decision import chosen_methods, marks_legend, penalties_table
from dashboard.plots.scene import MapScene
from tests.models.networks import NETWORKS

NETWORK = ParameterSet("test network", NETWORKS)


def test_measured_methods_keep_their_colours_beside_others(fast_ethernet_bcast: xr.Dataset) -> None:
    dmap, problem = decision_map(fast_ethernet_bcast), Problem.of(fast_ethernet_bcast)
    scene = MapScene(fast_ethernet_bcast, dmap, MethodKey.of(dmap["method"].values), "bcast")
    decision = model_decision(problem, Ensemble(NETWORK, "loggp"), methods=["linear", "binomial", "pipeline 3000B"])
    key, chosen = chosen_methods(decision, scene)
    assert key.labels == (*scene.key.labels, "pipeline 3000B")
    assert key.colors[: len(scene.key.labels)] == scene.key.colors
    assert key.letters[: len(scene.key.labels)] == scene.key.letters
    for row, count in enumerate(scene.dmap["comm_size"].values):
        for column, size in enumerate(scene.dmap["message_size"].values):
            label = decision.methods[decision.predict_one(int(count), int(size))].label
            assert key.labels[chosen[row, column]] == label
    same, _ = chosen_methods(model_decision(problem, Ensemble(NETWORK, "loggp")), scene)
    assert same is scene.key


def test_penalties_are_written_with_those_of_votes_apart(fast_ethernet_bcast: xr.Dataset) -> None:
    penalties = model_penalties(Problem.of(fast_ethernet_bcast), NETWORK)
    table = penalties_table(penalties)
    assert table.count("<tr") == 1 + 5
    before, _, after = table.partition('<tr class="apart">')
    assert "PLogP" in before
    assert after.index("vote of all") < after.index("weight of all")
    fair, every = penalties["hockney"]
    assert f"{fair.mean:.2f} %" in table
    above = penalties_table(penalties, (fair, every))
    assert above.count("<tr") == 1 + 1 + 5
    assert above.index("decision on show") < above.index("Hockney")
    assert f"{every.max:.1f} %" in table or f"{every.max:.2f} %" in table


@pytest.mark.parametrize("count", [0, 3])
def test_marks_are_counted(count: int) -> None:
    marks = np.zeros((2, 4), dtype=bool)
    marks.flat[:count] = True
    assert f"{count} of 8 cells" in marks_legend(marks)
