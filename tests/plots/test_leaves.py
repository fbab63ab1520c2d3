"""Borders between regions that are no rectangles."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import decision_map, quadtree
from dashboard.plots.axes import Axes, size_axis
from dashboard.plots.decision_map import region_segments
from dashboard.plots.leaves import border_segments, leaf_segments
from dashboard.plots.ties import MOST_BOXES, tie_boxes
from tests.cubes import synthetic_cube

DMAP = decision_map(synthetic_cube(7, 11, 5, seed=5, noise=1))
AXES = Axes.of(DMAP)


def covered(segments: np.ndarray) -> set[tuple[float, ...]]:
    """Borders between single cells that lines run along."""
    x, y = AXES.x.edges, AXES.y.edges
    borders = set()
    for x0, y0, x1, y1 in segments:
        if x0 == x1:
            borders |= {("x", x0, at) for at in y[:-1] if min(y0, y1) <= at < max(y0, y1)}
        else:
            borders |= {("y", y0, at) for at in x[:-1] if min(x0, x1) <= at < max(x0, x1)}
    return borders


def test_rectangles_have_the_same_lines_either_way() -> None:
    decision = quadtree(DMAP, max_depth=3)
    places = decision.leaf_places(DMAP["comm_size"].values[:, None], DMAP["message_size"].values[None, :])
    by_cells = covered(border_segments(places, AXES))
    assert by_cells == covered(region_segments(decision.regions(), AXES)) == covered(leaf_segments(decision, AXES, {}))


@given(st.integers(0, 2**32 - 1))
def test_lines_run_exactly_where_neighbours_differ(seed: int) -> None:
    places = np.random.default_rng(seed).integers(0, 3, AXES.shape)
    crossed = (places[:, 1:] != places[:, :-1]).sum() + (places[1:] != places[:-1]).sum()
    assert len(covered(border_segments(places, AXES))) == crossed


@given(st.integers(0, 2**32 - 1))
def test_boxes_cover_the_tied_cells_and_no_others(seed: int) -> None:
    tied = np.random.default_rng(seed).random(AXES.shape) < 0.4
    boxes = tie_boxes(tied, AXES)
    x, y = AXES.x.centres[None, :, None], AXES.y.centres[:, None, None]
    inside = (boxes[:, 0] < x) & (x < boxes[:, 2]) & (boxes[:, 1] < y) & (y < boxes[:, 3])
    assert (inside.sum(axis=2) == tied).all()


def test_a_large_map_with_many_gaps_is_hatched_too() -> None:
    side = 400
    sizes = np.arange(1, side + 1)
    axes = Axes(size_axis("message_size", sizes), size_axis("comm_size", sizes))
    boxes = tie_boxes(np.random.default_rng(1).random((side, side)) < 0.5, axes)
    assert MOST_BOXES / 2 < len(boxes) < 1.1 * MOST_BOXES
    area = ((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])).sum()
    assert abs(area / side**2 - 0.5) < 0.02
