"""How many bytes a computed value holds in memory, near enough to bound a store by it."""

import dataclasses
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

#: Of a large container so many parts are looked at, and stand for the others.
_SAMPLED = 256
#: Of what is too deep to be looked through.
_DEEP = 1 << 20


def footprint(value: Any, elsewhere: Iterable[int] = ()) -> int:
    """Bytes of a value and of what it refers to; what several of its parts refer to counts once.

    Parameters
    ----------
    value
        Anything that was computed.
    elsewhere
        Identities (`id`) of arrays that are held anyway.
    """
    try:
        return _held(value, set(elsewhere))
    except RecursionError:
        return _DEEP


def arrays_of(cubes: Iterable[xr.Dataset]) -> frozenset[int]:
    """Identities of the arrays that are in memory for these cubes."""
    held = (each._data for cube in cubes for each in cube.variables.values())  # noqa: SLF001 - `.data` would load
    return frozenset(id(_base(each)) for each in held if isinstance(each, np.ndarray))


def _base(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array that a view looks at, and so holds."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _held(value: Any, seen: set[int]) -> int:
    if value is None or isinstance(value, bool | int | float | type) or id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return _array(value, seen)
    if isinstance(value, pd.DataFrame | pd.Series | pd.Index):
        return int(np.sum(value.memory_usage(deep=True)))
    if isinstance(value, xr.Dataset | xr.DataArray):
        variables = value.variables.values() if isinstance(value, xr.Dataset) else [value.variable]
        # Only what is in memory: asking for the values of the others would load them.
        return sum(_held(each.values, seen) for each in variables if each._in_memory)  # noqa: SLF001
    parts = [] if isinstance(value, str | bytes | bytearray) else _inside(value)
    return sys.getsizeof(value, 64) + _parts(parts, seen)


def _array(value: np.ndarray[Any, Any], seen: set[int]) -> int:
    base = _base(value)
    if base is not value and id(base) in seen:
        return 0
    seen.add(id(base))
    return int(base.nbytes) + (_parts(base.ravel().tolist(), seen) if base.dtype == object else 0)


def _inside(value: Any) -> list[Any]:
    """What an object refers to: the parts of a container, the attributes of anything else."""
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if callable(value) and not dataclasses.is_dataclass(value) and not hasattr(value, "__dict__"):
        return []
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    own = [getattr(value, name, None) for name in slots if isinstance(name, str)]
    return [*own, *getattr(value, "__dict__", {}).values()]


def _parts(parts: list[Any], seen: set[int]) -> int:
    if len(parts) <= _SAMPLED:
        return sum(_held(part, seen) for part in parts)
    step = len(parts) // _SAMPLED
    sampled = parts[::step]
    return sum(_held(part, seen) for part in sampled) * len(parts) // len(sampled)
