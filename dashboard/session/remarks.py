"""What was done to measurements and labels before deciding, in words."""

from collections.abc import Sequence

import pandas as pd
import xarray as xr

from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.measured import trust
from dashboard.decisions.measured.noise import UNTESTABLE
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.measured.selection import WITHOUT, yardstick
from dashboard.decisions.measured.simplest import tied_words
from dashboard.decisions.measured.workload import in_words
from dashboard.decisions.surfaces import dense
from dashboard.domain.units import format_count
from dashboard.export.unsafe import LEFT_OUT as UNSAFE

#: Families whose trees depend on how ties are settled.
_BY_LABELS = ", ".join(family.title for family in FAMILIES.values() if family.labels)


def remarks_on(
    cube: xr.Dataset, problem: Problem, outliers: pd.DataFrame | None = None, tests: Sequence[xr.Dataset] = ()
) -> list[str]:
    """Say what was done to the measurements and labels.

    Parameters
    ----------
    cube
        As maps show it; its attributes tell what was left out and filled in.
    problem
        What trees learn, or are judged by; its provenance tells of ties and of a workload.
    outliers
        Those that are left out; None: they are not.
    tests
        What tests of ties found, of each table (`decisions.measured.noise.indistinguishable`).
    """
    chosen = {"selected": "Chosen of the results", "joined": "Put together although results differ in it"}
    said = [f"{words}: {cube.attrs[name]}." for name, words in chosen.items() if cube.attrs.get(name)]
    if WITHOUT in cube.attrs:
        said.append(f"Methods are left out: {cube.attrs[WITHOUT]}; penalties are against the {yardstick(cube.attrs)}.")
    said += [f"Unsafe methods are {cube.attrs[UNSAFE]}."] if UNSAFE in cube.attrs else []
    said += [f"Left out for deciding: {cube.attrs[trust.LEFT_OUT]}."] if trust.LEFT_OUT in cube.attrs else []
    said += [f"{text}." for text in cube.attrs.get("apart", "").split("; ") if text]
    if outliers is not None:
        said.append(_outlier_words(outliers))
    if cube.attrs.get("interpolation"):
        said.append(f"Missing times are interpolated for deciding, not for judging: {cube.attrs['interpolation']}.")
    if completed := "; ".join(str(part.cube.attrs.get("completion", "")) for part in problem.slices).strip("; "):
        said.append(f"Missing times are predicted for deciding, not for judging: {completed}.")
    if dense.NOTE in problem.slices[0].cube.attrs:
        predicted = "; ".join(part.cube.attrs[dense.NOTE] for part in problem.slices)
        said.append(f"Times between the measured sizes are predicted for deciding, not for judging: {predicted}.")
    labels, workload = (problem.provenance.get(name) for name in ("simplest", "workload"))
    if tests and not any(test.attrs["tested"] for test in tests):
        said.append(f"No cell can be tested for ties: {UNTESTABLE}.")
    if labels is not None:
        count = labels["relabelled"]
        said.append(
            f"Trees that learn the method of each cell ({_BY_LABELS}) learn the simplest of the "
            f"{tied_words(labels['tolerance'], tested=labels['ties'])}: {format_count(count, 'cell')} "
            f"{'has' if count == 1 else 'have'} another than the fastest. All others weigh times, whatever ties."
        )
    return [*said, *(f"{text}." for text in in_words(workload))]


def _outlier_words(table: pd.DataFrame) -> str:
    """Say what is left out, and what could be looked for."""
    looked = table.attrs["note"]
    single, cells = (int((table["kind"] == kind).sum()) for kind in ("repetition", "cell"))
    if not single + cells:
        return f"No outlier was found: nothing is left out ({looked})."
    parts = [format_count(count, what) for count, what in ((single, "repetition"), (cells, "cell")) if count]
    return f"Outliers are left out: {' and '.join(parts)} of single methods, listed under Noise ({looked})."
