"""The layers that the maps of a tree are drawn of, on the page and in a report."""

import holoviews as hv
import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import decision_map, penalty, quadtree
from dashboard.plots.colors import MethodKey
from dashboard.plots.decision_map import MOST_IN_LINE, NO_LINES
from dashboard.plots.scene import MapScene
from dashboard.plots.ties import VEILS, counted_legend, sureness_legend
from tests.cubes import synthetic_cube


def scene_of(cube: xr.Dataset) -> MapScene:
    dmap = decision_map(cube)
    return MapScene(cube, dmap, MethodKey.of(dmap["method"].values), "bcast")


@pytest.fixture(scope="module")
def scene() -> MapScene:
    return scene_of(synthetic_cube(5, 4, 6, seed=3))


def penalties(scene: MapScene) -> xr.Dataset:
    return penalty(scene.cube, quadtree(scene.dmap, max_depth=0))


def test_choices_that_were_not_measured_are_dotted() -> None:
    cube = synthetic_cube(5, 4, 6, seed=3)
    tree = quadtree(decision_map(cube), max_depth=0)
    cube["time"][int(penalty(cube, tree)["chosen"][0, 0]), 1, 1:3] = np.nan
    table = penalty(cube, tree)
    scene = scene_of(cube)
    counted = scene.penalty_layers(table)["penalty counted"]
    boxes = counted.draw()
    assert len(boxes) == 1
    unmeasured = table["unmeasured"].values
    assert np.argwhere(unmeasured).tolist() == [[1, 1], [1, 2]]
    assert [column.tolist() for column in counted.columns.values()] == [[boxes.array()[0][place]] for place in range(4)]
    assert "2 cells: the chosen method was not measured there" in counted_legend(unmeasured)
    assert counted_legend(np.zeros_like(unmeasured)) == ""


def test_codes_are_read_on_cells_that_cannot_be_trusted(scene: MapScene) -> None:
    best = scene.dmap["best"].values
    layers = scene.method_layers("tree", best, NO_LINES, untrusted=np.ones(best.shape, dtype=bool))
    assert list(layers).index("tree untrusted") < list(layers).index("tree text")
    (renderer,) = hv.render(layers["tree untrusted"].draw()).renderers
    # A code is 9 pixels high: fewer than two lines cross it.
    assert renderer.glyph.hatch_scale > 9


def test_layers_lie_from_the_ground_up_with_one_image(scene: MapScene) -> None:
    best = scene.dmap["best"].values
    lines, tied = scene.segments(quadtree(scene.dmap), 100), np.zeros(best.shape, dtype=bool)
    assert list(scene.method_layers("tree", best, lines)) == ["tree ground", "tree", "tree regions", "tree text"]
    hatched = list(scene.method_layers("exact", best, lines, tied=tied, estimated=tied))
    assert hatched == ["exact ground", "exact", "exact ties", "exact estimates", "exact regions", "exact text"]
    assert list(scene.penalty_layers(penalties(scene))) == [
        "penalty ground",
        "penalty",
        "penalty counted",
        "penalty text",
    ]


def test_a_map_of_many_cells_has_no_letters() -> None:
    wide = scene_of(synthetic_cube(2, MOST_IN_LINE + 1, 2, seed=3))
    best = wide.dmap["best"].values
    assert "tree text" not in wide.method_layers("tree", best, wide.segments(None, 100))
    assert "penalty text" not in wide.penalty_layers(penalties(wide))


def test_regions_are_drawn_of_trees_that_have_few(scene: MapScene) -> None:
    tree = quadtree(scene.dmap)
    assert len(scene.segments(tree, tree.leaves)) > 0
    assert scene.segments(tree, tree.leaves - 1).shape == scene.segments(None, tree.leaves).shape == (0, 4)


def test_trees_are_told_the_collective_and_the_processes_per_node(scene: MapScene) -> None:
    placed = scene_of(synthetic_cube(5, 4, 6, seed=3).assign_attrs(ppn=2))
    assert placed.given == {"collective": "bcast", "ppn": 2}
    assert scene.given == {"collective": "bcast"}


def test_what_is_not_sure_is_faded_the_more_the_less_sure_it_is(scene: MapScene) -> None:
    sureness = np.ones(scene.axes.shape)
    sureness[0, :3], sureness[1, 0] = [0.85, 0.85, 0.2], np.nan
    layers = scene.method_layers("exact", scene.dmap["best"].values, np.empty((0, 4)), sureness=sureness)
    veils = [layers[f"exact veil {number}"].draw() for number in range(len(VEILS))]
    assert [len(veil) for veil in veils] == [1, 0, 1]
    assert veils[0].array()[0][2] == veils[2].array()[0][0] == scene.axes.x.edges[2]
    alphas = [hv.render(veil).renderers[0].glyph.fill_alpha for veil in (veils[0], veils[2])]
    assert alphas == [VEILS[0][1], VEILS[2][1]]
    text = sureness_legend(sureness, "plain interpolation")
    assert all(f"below {limit:.0%}: {count} cell" in text for (limit, _), count in zip(VEILS, (2, 0, 1), strict=True))
    assert "exact veil 0" not in scene.method_layers("exact", scene.dmap["best"].values, np.empty((0, 4)))
