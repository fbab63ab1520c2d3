"""The best trees at a price per leaf, and the best trees of a maximum depth."""

import numpy as np

from dashboard.decisions.grown.optimal.costs import Costs
from dashboard.decisions.grown.optimal.prices import Tick, improve, part_of, priced
from dashboard.decisions.grown.optimal.rectangles import Rectangles, halves
from dashboard.decisions.grown.optimal.tree import Spot, Tree, grown
from dashboard.domain.arrays import FloatArray, IntArray


def best_at_price(costs: Costs, price: float, tick: Tick | None = None) -> Tree:
    """Find the tree of the least cost plus price times leaves; of equally good ones the fewest leaves.

    Parameters
    ----------
    price
        Per leaf, in percent (of one cell of weight 1).
    """
    rectangles = Rectangles(*costs.shape)
    leaves = costs.leaves(rectangles)
    # One more for each leaf: of equal sums the one of the fewest leaves is least.
    charge = np.rint(min(price * costs.unit, costs.highest_price) / costs.step) * costs.step + 1
    return followed([priced(leaves, rectangles, np.array([charge]), tick)], leaves + charge, rectangles)


def best_of_depth(costs: Costs, max_depth: int, tick: Tick | None = None) -> Tree:
    """Find the best tree of at most so many levels below the root; of equally good ones one of the fewest leaves."""
    rectangles = Rectangles(*costs.shape)
    leaves = costs.leaves(rectangles) + 1.0
    return followed(levels_of(leaves[:, None], rectangles, max_depth, tick), leaves, rectangles)


def levels_of(alone: FloatArray, rectangles: Rectangles, depth: int, tick: Tick | None = None) -> list[FloatArray]:
    """``(rectangle, n)`` what trees of at most 0, 1, … levels are worth, up to where more change nothing.

    Parameters
    ----------
    alone
        What rectangles are worth as leaves.
    depth
        Most levels.
    """
    levels = [alone]
    for done in range(depth):
        level = alone.copy()
        improve(level, levels[-1], rectangles, part_of(tick, done / depth, 1 / depth))
        if np.array_equal(level, levels[-1]):
            break
        levels.append(level)
    return levels


def followed(levels: list[FloatArray], leaves: FloatArray, rectangles: Rectangles) -> Tree:
    """Follow the choices down from the whole grid; below the first of `levels` is itself."""

    def sides(state: tuple[Spot, int]) -> tuple[tuple[Spot, int], ...]:
        """Both halves with the level of each; none where a leaf is as good."""
        spot, level = state
        here = np.array(spot)[:, None]
        number = int(rectangles.index(here)[0])
        worth = levels[level][number, 0]
        if worth == leaves[number]:
            return ()
        below = max(level - 1, 0)
        _, first, second = halves(here)
        sums = levels[below][rectangles.index(first), 0] + levels[below][rectangles.index(second), 0]
        cut = int((sums == worth).argmax())
        return (_spot(first[:, cut]), below), (_spot(second[:, cut]), below)

    return grown((_spot(rectangles.grid[:, 0]), len(levels) - 1), sides, lambda state: state[0])


def _spot(column: IntArray) -> Spot:
    top, left, height, width = column.tolist()
    return top, left, height, width
