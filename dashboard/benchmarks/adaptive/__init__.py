"""Measuring only what can change the decision: which sizes and methods come next, and when it is enough.

Of a grid of sizes a few lines are measured first. Then surfaces over these tell at every size of the grid what each
method takes and how sure that is; next is measured where the loss that is still to be expected of the present decision,
there and around, is largest for each second that measuring takes. Methods that cannot be the best at a size are not
measured there. It ends when the expected loss is as low as asked for, or the time is up.

Until then all times count, also those that cannot be trusted, which may be measured again. What is said of it at its
end and later is by those that decide (`decided`), as `refine` has it.
"""

from dashboard.benchmarks.adaptive.goal import Goal

__all__ = ["Goal", "decided", "expected", "refine", "replay", "words"]
