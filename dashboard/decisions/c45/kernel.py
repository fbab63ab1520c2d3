"""Compiled functions: what C4.5 computes is sequential and rounded at each step, which numpy cannot do fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function at its first call; the machine code is kept on disk for later starts.

    Notes
    -----
    No fast-math: IEEE rounding of every operation, and no contraction into fused multiply-adds, is what
    makes trees equal to Release 8's. In kernels ``float(x)`` and ``math.log(x)`` of a float32 stay float32;
    ``np.float64(x)`` does not.

    Compiling takes time by the number of numpy functions and array expressions rather than by the number of
    lines, and again for each kernel that calls the kernel: hence plain loops, and few kernels above others.

    The kept code of a function does not notice that a function of another module that it calls has changed:
    after editing one, remove this folder's ``__pycache__``.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither this folder nor the user's cache can be written: compile at each start
        compiled = numba.njit(**options)(function)
    return cast("Function", compiled)
