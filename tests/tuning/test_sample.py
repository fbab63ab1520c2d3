"""The tunings that come as sample data: what their READMEs say of them follows from their files."""

import json

import pytest

from dashboard.session.samples import sample_data
from dashboard.tuning import Folder, beside
from dashboard.tuning.bundled import readme, verdict
from dashboard.tuning.decide import UNMEASURED
from tests.cluster.tuned import judge


@pytest.mark.soak
@pytest.mark.parametrize("name", ["fast-ethernet-tuned", "fast-ethernet-4x2-tuned"])
def test_what_a_tuned_sample_gains_follows_from_the_campaign_that_judges_it(name: str) -> None:
    folder = sample_data(name)
    known = json.loads((folder / "judged.json").read_text())
    judged = judge(folder / "tuned", folder, folder / "judging")
    assert judged["gains_percent"].keys() == known["gains_percent"].keys()
    for collective, gains in judged["gains_percent"].items():
        assert gains == pytest.approx(known["gains_percent"][collective], abs=0.01)
        # What its comparisons left is no worse than the library's own decision where neither was measured for it.
        assert gains["tuned"] > -1
    assert judged["share_percent"] == pytest.approx(known["share_percent"])
    summary = json.loads((folder / "tuned" / "bundle" / "summary.json").read_text())
    assert summary["gain"] == Folder(folder / "tuned").facts("compare")["gain"]


def test_what_the_time_was_too_short_for_is_said_with_the_outcome() -> None:
    summary = json.loads((sample_data("fast-ethernet-tuned") / "tuned" / "bundle" / "summary.json").read_text())
    summary["decided"]["reduce"] = {"why_not": UNMEASURED}
    summary["spans"] = dict.fromkeys(["bcast", "allreduce"], summary["message_sizes"])
    text = readme(summary)
    assert f"{verdict(summary['outcome'], summary['decided'])}\nMeasured with 16 processes: bcast, " in text
    assert "The time was too short to measure reduce (--budget)." in text
    assert "nothing of them is slower than the library's own decision where compared. The time" in text
    # Sizes that were really measured, which need not be those that were asked for.
    assert "bcast, allreduce, communicators of 4 to 16, messages of 64 B to 64 KiB.\n" in text
    summary["spans"] |= {"reduce": [64, 128], "barrier": [0, 0]}
    assert "bcast (64 B to 64 KiB), allreduce (64 B to 64 KiB), reduce (64 B to 128 B), barrier, " in readme(summary)


def test_what_the_library_loses_by_itself_is_one_figure_wherever_it_is_said() -> None:
    folder = Folder(sample_data("fast-ethernet-tuned") / "tuned")
    decided = folder.facts("decide")["collectives"]
    rows = beside(folder, folder)
    assert {row["collective"]: row["default"] for row in rows} == {
        name: facts["penalty_of_default"] for name, facts in decided.items()
    }
