"""The best trees at a price per leaf, and the best trees of a maximum depth."""

import numpy as np

from dashboard.decisions.grown.optimal.costs import Costs
from dashboard.decisions.grown.optimal.prices import Tick, improve, priced
from dashboard.decisions.grown.optimal.rectangles import Rectangles, halves
from dashboard.decisions.grown.optimal.tree import Spot, Tree, grown
from dashboard.domain.arrays import FloatArray, IntArray


class PriceSearch:
    """The tree of the least cost plus price times leaves; of equally good ones the fewest leaves.

    Parameters
    ----------
    price
        Per leaf, in percent (of one cell of weight 1).

    Attributes
    ----------
    bound
        None: nothing is better.
    """

    def __init__(self, costs: Costs, price: float, tick: Tick | None = None) -> None:
        rectangles = Rectangles(*costs.shape)
        leaves = costs.leaves(rectangles)
        # One more for each leaf: of equal sums the one of the fewest leaves is least.
        charge = np.rint(min(price * costs.unit, costs.highest_price) / costs.step) * costs.step + 1
        values = priced(leaves, rectangles, np.array([charge]), tick)
        self.tree = followed([values], leaves + charge, rectangles)
        self.bound: float | None = None


class DepthSearch:
    """The best tree of at most so many levels; of equally good ones one of the fewest leaves.

    Parameters
    ----------
    max_depth
        Most levels below the root.

    Raises
    ------
    OptionError
        When so few levels cannot do with methods that were measured wherever they are taken.
    """

    def __init__(self, costs: Costs, max_depth: int, tick: Tick | None = None) -> None:
        rectangles = Rectangles(*costs.shape)
        leaves = costs.leaves(rectangles) + 1.0
        levels = [leaves[:, None]]
        for depth in range(1, max_depth + 1):
            level = levels[0].copy()
            improve(level, levels[-1], rectangles, _part(tick, depth - 1, max_depth))
            if np.array_equal(level, levels[-1]):
                break
            levels.append(level)
        self.tree = followed(levels, leaves, rectangles)
        self.bound: float | None = None


def _part(tick: Tick | None, done: int, of: int) -> Tick | None:
    return None if tick is None else lambda share: tick((done + share) / of)


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
