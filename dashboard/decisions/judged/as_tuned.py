"""A decision and the library's own one as two methods of one cube, taken from a campaign that measured all methods."""

import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import default_of
from dashboard.decisions.grown.default import lacking
from dashboard.decisions.judged.improvement import DEFAULT, TUNED
from dashboard.decisions.judged.penalty import penalty
from dashboard.decisions.measured.doubles import DOUBLE_OF
from dashboard.decisions.measured.map import methods_of, select_ppn
from dashboard.domain.errors import DecisionError


def as_tuned(cube: xr.Dataset, decision: DecisionFunction, ppn: int | None = None) -> xr.Dataset:
    """Give the times of the library's default and those of what a decision chooses, cell by cell.

    Parameters
    ----------
    cube
        Results of one collective, the default among its methods.
    decision
        What is to be compared with it.
    ppn
        As for `select_ppn`.

    Returns
    -------
    Dataset
        A cube with the methods ``default`` and ``tuned``. Where the decision leaves a call to the library, or
        chooses what was not measured, ``tuned`` is not there: nothing can be won or lost, or nothing is known.

    Raises
    ------
    DecisionError
        When nobody measured the library's default, or it is left out.
    """
    flat = select_ppn(cube, ppn)[0].drop_vars(DOUBLE_OF, errors="ignore")
    methods = methods_of(flat)
    place = default_of(methods)
    if place is None:
        otherwise = "measure a method 'default' beside the others, or the rules and the default in turns by"
        raise DecisionError(lacking(flat.attrs, f"{otherwise} 'colltune tune-check'"))
    chosen = penalty(flat, decision)["chosen"].drop_vars("method", errors="ignore")
    known = (chosen >= 0) & (chosen != place)
    others = [name for name, coord in flat.coords.items() if coord.dims == ("method",)]
    bare = flat.drop_vars(others)
    timed = [name for name, variable in bare.data_vars.items() if "method" in variable.dims]
    taken = bare[timed].isel(method=chosen.where(known, place).astype(int))
    counts = {name: taken[name].where(known, 0) for name in ("repetitions",) if name in taken}
    tuned = taken.where(known).assign(counts)
    both = xr.concat([bare[timed].isel(method=place), tuned], dim="method", coords="minimal", compat="override")
    both = both.assign_coords(
        method=[DEFAULT, TUNED], algorithm=("method", [DEFAULT, TUNED]), segment_size=("method", [0, 0])
    )
    return both.transpose("method", *SIZES, ...).assign_attrs(flat.attrs)
