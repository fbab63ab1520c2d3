"""``colltune convert``: results saved in one file."""

import argparse
from pathlib import Path

import xarray as xr

from dashboard.commands.load import load
from dashboard.commands.output import say
from dashboard.commands.usage import Usage
from dashboard.decisions.measured import trust
from loaders import save_results

_SAVED_AS = (".nc", ".zarr", ".csv", ".occ")
#: Forms with less room than results have, by their suffix.
_FORMS = {".csv": "a table", ".occ": "OCC's form"}


def convert(args: argparse.Namespace) -> None:
    """Load results and save them."""
    if Path(args.output).suffix not in _SAVED_AS:
        raise Usage(f"-o {args.output}: the name must end in one of {', '.join(_SAVED_AS)}")
    results = load(args)
    save_results(results, args.output)
    if (form := _FORMS.get(Path(args.output).suffix)) is not None:
        _say_lost(results, form)
    say(f"wrote {args.output}: {', '.join(results.children)}")


def _say_lost(results: xr.DataTree, form: str) -> None:
    """Say what a form has no room for."""
    cubes = [node.to_dataset() for node in results.children.values()]
    lost = {
        "single repetitions": any("sample" in cube for cube in cubes),
        "which times cannot be trusted": any(len(trust.doubtful(cube)) for cube in cubes),
        "what the files say of the machine, and whether times are means or maxima": True,
    }
    if form == _FORMS[".occ"]:
        lost |= {
            "standard deviations": any("time_std" in cube for cube in cubes),
            "times of methods that ran as others": any("double_of" in cube for cube in cubes),
            "the statistic (it is read as OCC's own)": True,
        }
    say(f"note: {', '.join(name for name, there in lost.items() if there)}: not in {form}; .nc has all")
