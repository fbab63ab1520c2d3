"""Which methods may be chosen: some are left out, such as those that a library in use does not have."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import xarray as xr

WITHOUT = "methods_left_out"
#: Ends the name that stands for all methods of an algorithm: ``chain *``.
ALL = " *"


def selectable(cube: xr.Dataset) -> dict[str, int]:
    """Names that methods can be left out by, with how many methods each stands for.

    Algorithms with several methods (segment sizes, parameters) come first, as ``algorithm *``, then every method by its
    label, in the order of algorithms and of segment sizes.
    """
    algorithms = _algorithms(cube)
    several = {name: algorithms.count(name) for name in dict.fromkeys(algorithms) if algorithms.count(name) > 1}
    families = {f"{name}{ALL}": count for name, count in several.items()}
    sizes = cube["segment_size"].values.tolist() if "segment_size" in cube.coords else [0] * len(algorithms)
    first = {name: place for place, name in reversed(list(enumerate(algorithms)))}
    ordered = sorted(range(len(algorithms)), key=lambda place: (first[algorithms[place]], sizes[place]))
    return {**families, **dict.fromkeys((str(cube["method"].values[place]) for place in ordered), 1)}


def left_out(cube: xr.Dataset, names: Collection[str]) -> list[str]:
    """Labels of the methods that these names stand for; names that the cube lacks stand for none."""
    pairs = zip(map(str, cube["method"].values), _algorithms(cube), strict=True)
    return [label for label, algorithm in pairs if label in names or f"{algorithm}{ALL}" in names]


def without_methods(cube: xr.Dataset, names: Collection[str]) -> xr.Dataset:
    """Leave methods out.

    Parameters
    ----------
    names
        As `selectable` gives them; those that the cube lacks are ignored.

    Returns
    -------
    xarray.Dataset
        The cube without them, which ``attrs["methods_left_out"]`` lists. Where none would be left: with all of them,
        and nothing measured.
    """
    gone = left_out(cube, names)
    if not gone:
        return cube
    if len(gone) == cube.sizes["method"]:
        cube = cube.assign(time=xr.full_like(cube["time"], np.nan))
    else:
        cube = cube.drop_sel(method=gone)
    return cube.assign_attrs({WITHOUT: ", ".join(gone)})


def yardstick(facts: Mapping[str, Any]) -> str:
    """What penalties are against, in words, by the attributes of a cube or the provenance of a decision."""
    return "best of the methods not left out" if facts.get(WITHOUT) else "best measured method"


def _algorithms(cube: xr.Dataset) -> list[str]:
    return [str(name) for name in cube["algorithm" if "algorithm" in cube.coords else "method"].values]
