"""Decision maps, decision functions and what they cost."""

from dashboard.decisions.function import DecisionFunction, Leaf, Method, Node, Rule, Split, Test
from dashboard.decisions.map import decision_map, methods_of, select_ppn
from dashboard.decisions.penalty import PenaltySummary, penalty, summarise
from dashboard.decisions.quadtree import QuadtreeBuilder, exact, quadtree
from dashboard.decisions.statistics import statistics, sweep_depth, sweep_threshold
from dashboard.domain.errors import DecisionError, DecisionFormatError, NothingMeasuredError, OptionError

__all__ = [
    "DecisionError",
    "DecisionFormatError",
    "DecisionFunction",
    "Leaf",
    "Method",
    "Node",
    "NothingMeasuredError",
    "OptionError",
    "PenaltySummary",
    "QuadtreeBuilder",
    "Rule",
    "Split",
    "Test",
    "decision_map",
    "exact",
    "methods_of",
    "penalty",
    "quadtree",
    "select_ppn",
    "statistics",
    "summarise",
    "sweep_depth",
    "sweep_threshold",
]
