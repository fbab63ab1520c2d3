"""The campaign that a session sets beside the one on show: its measurements, and what both are treated as."""

from dataclasses import replace

import xarray as xr

from dashboard.decisions.judged.portability import ppn_of_both
from dashboard.domain.errors import OptionError
from dashboard.session.registry import Results, load_results, results_by_digest
from dashboard.session.samples import SAMPLES, sample_start
from dashboard.session.view import View


def measured_in(campaign: str, collective: str) -> xr.Dataset:
    """Measurements of a campaign, which is named by the digest of its results or is a sample.

    Raises
    ------
    OptionError
        It is no longer kept, or has no such collective.
    """
    if campaign in SAMPLES:
        start = sample_start(campaign)
        results: Results | None = load_results(start.paths, **start.hints)
    else:
        results = results_by_digest(campaign)
    if results is None:
        raise OptionError("campaign B is no longer kept here; load it again on the page Data")
    if collective not in results.tree.children:
        raise OptionError(f"campaign B has no {collective}; it holds {', '.join(map(str, results.tree.children))}")
    return results.tree[collective].to_dataset()


def of_both(view: View, other: xr.Dataset) -> tuple[View, str]:
    """The view at the processes per node that both campaigns have, where none are chosen, and a note on these."""
    measured, treatment = view.measured(), view.treatment
    if measured is None or treatment.ppn is not None or treatment.across:
        return view, ""
    ppn, note = ppn_of_both(measured, other)
    return view.changed(treatment=replace(treatment, ppn=ppn)), note
