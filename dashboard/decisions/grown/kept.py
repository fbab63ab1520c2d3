"""Compiled functions whose machine code is kept on disk for later starts."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def kept(function: Function, **options: Any) -> Function:
    """Compile a function at its first call, by options of `numba.njit`; it runs beside other threads."""
    try:
        return cast("Function", numba.njit(cache=True, nogil=True, **options)(function))
    except RuntimeError:  # neither its folder nor the user's cache can be written: compile at each start
        return cast("Function", numba.njit(nogil=True, **options)(function))
