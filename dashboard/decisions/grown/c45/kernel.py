"""Compiled functions: what C4.5 computes is sequential and rounded at each step, which numpy cannot do fast."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numpy as np

from dashboard.decisions.grown.kept import Function, kept

#: Compiling all kernels takes some 15 s: so long a process may interpret them instead, spread over any number of trees.
AFFORDED_S = 3.0
#: Seconds that the interpreter takes for a case with one attribute and one class, roughly.
CASE_S = 60e-6
_interpreting: ContextVar[bool] = ContextVar("interpreting", default=False)
_spent = 0.0


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
    return kept(function, error_model="numpy")


@contextmanager
def interpreted_if_sooner(first: Callable[..., Any], work: int) -> Iterator[None]:
    """Interpret kernels that `run` is asked for while that is sooner done than compiling them.

    Parameters
    ----------
    first
        A kernel: where it has been compiled, on this machine, all have.
    work
        Cases times attributes times classes.
    """
    global _spent  # noqa: PLW0603 - of the process, as compiled code is
    sooner = _spent + work * CASE_S < AFFORDED_S and not _compiled(first)
    token, start = _interpreting.set(sooner), time.perf_counter()
    try:
        with np.errstate(all="ignore") if sooner else nullcontext():
            yield
    finally:
        _interpreting.reset(token)
        _spent += time.perf_counter() - start if sooner else 0


def run(function: Function) -> Function:
    """Give a kernel as it is to be called from outside of kernels: compiled, or interpreted."""
    return cast("Function", _plain(function)) if _interpreting.get() else function


def _compiled(dispatcher: Any) -> bool:
    if dispatcher.signatures:
        return True
    folder = Path(dispatcher.stats.cache_path or "")
    return any(folder.glob(f"*.{dispatcher.py_func.__name__}-*.nbi"))


@cache
def _plain(dispatcher: Any) -> Callable[..., Any]:
    """The function of a kernel, which calls those of other kernels."""
    function = dispatcher.py_func
    names = {name: function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__}
    names = {name: _plain(value) if hasattr(value, "py_func") else value for name, value in names.items()}
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)
