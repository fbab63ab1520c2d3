"""The list of campaigns on the page *Measure*."""

from dashboard.measuring.kept import Entry
from dashboard.pages.measure.list import CampaignList


def test_of_many_folders_that_cannot_be_read_it_says_how_many() -> None:
    shown = CampaignList(lambda _: None)
    shown.show([], [f"{name}: torn" for name in "abcdefg"], "")
    assert shown.faults.object.count("Not listed: ") == 5
    assert shown.faults.object.endswith("and 2 more that cannot be read")
    shown.show([], [], "")
    assert not shown.faults.visible


def test_of_a_long_reason_the_first_words_stand_there() -> None:
    shown = CampaignList(lambda _: None)
    why = "1 of 2 ranks: srun started each of them alone: it needs an option such as --mpi=pmix (--start-option; …)"
    shown.show([Entry("mine", "failed", why, 21, 0, 0, ("bcast",), 2, "slurm", 1e9)], [], "")
    assert "(1 of 2 ranks: srun started" in shown.menu.items[0]["secondary"]
    assert " such as --mpi=pmix …) · 0 of 21" in shown.menu.items[0]["secondary"]


def test_points_that_were_refused_are_counted_as_everywhere() -> None:
    shown = CampaignList(lambda _: None)
    shown.show([Entry("mine", "finished", "", 1250, 1190, 60, ("bcast",), 2, "local", 1e9)], [], "")
    assert " · 1,190 of 1,250 points measured, 60 refused or wrong · " in shown.menu.items[0]["secondary"]
