"""Decision maps, decision functions and what they cost."""

from dashboard.decisions.function.decision import DecisionFunction, Leaf, Method, Node, Rule, Split, Test
from dashboard.decisions.function.statistics import statistics
from dashboard.decisions.grown.quadtree import QuadtreeBuilder, exact, quadtree
from dashboard.decisions.judged.penalty import PenaltySummary, penalty, summarise
from dashboard.decisions.measured.map import decision_map, methods_of, select_ppn
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
    "function",
    "grown",
    "judged",
    "measured",
    "methods_of",
    "penalty",
    "quadtree",
    "select_ppn",
    "statistics",
    "summarise",
    "surfaces",
]
