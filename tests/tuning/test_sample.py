"""The tuning that comes as sample data: what its README says of it follows from its files."""

from __future__ import annotations

import json

import pytest

from dashboard.session.samples import sample_data
from dashboard.tuning import Folder
from tests.cluster.tuned import judge


def test_what_the_tuned_sample_gains_follows_from_the_campaign_that_judges_it() -> None:
    folder = sample_data("fast-ethernet-tuned")
    known = json.loads((folder / "judged.json").read_text())
    judged = judge(folder / "tuned", folder, folder / "judging")
    assert judged["gains_percent"].keys() == known["gains_percent"].keys()
    for name, gains in judged["gains_percent"].items():
        assert gains == pytest.approx(known["gains_percent"][name], abs=0.01)
        # What its comparisons left is no worse than the library's own decision where neither was measured for it.
        assert gains["tuned"] > -1
    assert judged["share_percent"] == pytest.approx(known["share_percent"])
    summary = json.loads((folder / "tuned" / "bundle" / "summary.json").read_text())
    assert summary["gain"] == Folder(folder / "tuned").facts("compare")["gain"]
