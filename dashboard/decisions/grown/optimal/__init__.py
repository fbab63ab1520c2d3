"""The best possible trees over communicator size and message size, proven so.

The trees are those whose every test cuts a rectangle of measured sizes in two ("guillotine" cuts). What they
cost is the sum of the penalties over the cells of each leaf, which takes the method of the least sum. The best of
at most K leaves, of a maximum depth, or at a price per leaf is found by dynamic programming over rectangles.
"""

from dashboard.decisions.grown.optimal.decide import optimal, optimal_depth, optimal_frontier, optimal_price
from dashboard.decisions.grown.optimal.family import FAMILY

__all__ = ["FAMILY", "optimal", "optimal_depth", "optimal_frontier", "optimal_price"]
