"""Measuring only what can change the decision: which sizes and methods come next, and when it is enough.

Of a grid of sizes a few lines are measured first. Then surfaces over these tell at every size of the grid what each
method takes and how sure that is; next is measured where the loss that is still to be expected of the present decision,
there and around, is largest for each second that measuring takes. Methods that cannot be the best at a size are not
measured there. It ends when the expected loss is as low as asked for, or the time is up.
"""

from dashboard.benchmarks.adaptive.goal import Goal

__all__ = ["Goal", "decided", "expected", "refine", "replay", "words"]
