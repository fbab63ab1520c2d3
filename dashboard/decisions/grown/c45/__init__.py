"""C4.5 Release 8: decision trees by information gain, pruned by predicted errors (dissertation, 5.4).

`table` has the arrays; `choose` with `gain` and `groups` the choice of a test, `grow` and `prune` (by `predicted`
errors) make the trees, `classify` applies them. `learn` and `convert` lead from a problem to a decision function,
`report` gives the tables of the dissertation. What is compiled is imported only when a tree is asked for.
"""

from dashboard.decisions.grown.c45.family import FAMILY, c45, c45_many

__all__ = ["FAMILY", "c45", "c45_many", "report"]
