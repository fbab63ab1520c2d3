"""A tuning that is looked at again on a machine that has changed, and two of them beside each other."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.libraries.methods import DEFAULT, Method
from dashboard.benchmarks.safety.verdict import Finding
from dashboard.export.rules.lint import read_rules
from dashboard.tuning import STAGES, Folder, again, answer, beside, measure, rules, tune
from dashboard.tuning.compare import settled
from tests.cli.command import Run
from tests.tuning.machine import Machine, Times, better, default_best, summary, work_in

pytestmark = pytest.mark.slow


def test_rules_that_still_hold_are_left_as_they_are(tuned: Path, machine: Machine) -> None:
    before = (tuned / "bundle" / "rules.conf").read_text()
    result = again(work_in(tuned))
    assert result["anew"] == []
    assert {name for name, check in result["checked"].items() if check["holds"]} == {"bcast", "allreduce"}
    for check in result["checked"].values():
        assert check["now"] == pytest.approx(check["before"], abs=3)
    assert (tuned / "bundle" / "rules.conf").read_text() == before
    # Each check measures anew: what was measured a month ago says nothing of today.
    campaigns = len(machine.campaigns)
    again(work_in(tuned))
    assert len(machine.campaigns) == campaigns + 1
    assert len(json.loads((tuned / "history.json").read_text())) == 2


def test_only_what_does_not_hold_any_more_is_measured_anew(tuned: Path, machine: Machine) -> None:

    def changed(collective: str, algorithm: str, comm_size: int, message_size: int) -> float:
        if collective == "bcast":
            factor = {"pipeline": 3.0, "binomial": 0.5}
            return factor.get(algorithm, 1.0) * 1e-6 * comm_size * (1 + message_size / 4096)
        return better(collective, algorithm, comm_size, message_size)

    machine.times, told = changed, set[str]()
    result = again(replace(work_in(tuned), tell=lambda stage, *_: told.add(stage)))
    assert told == {stage.name for stage in STAGES}
    assert result["anew"] == ["bcast"]
    assert result["checked"]["allreduce"]["holds"]
    assert result["checked"]["bcast"]["now"] < 0 < result["checked"]["bcast"]["before"]
    made = read_rules(tuned / "bundle" / "rules.conf", version="5.0").decisions
    assert made["bcast"].methods[made["bcast"].predict_one(4, 32768)].algorithm == "binomial"
    assert made["allreduce"].methods[made["allreduce"].predict_one(4, 262144)].algorithm == "ring"
    assert tune(work_in(tuned))["compare"] is False


@pytest.mark.parametrize(
    ("proof", "left"),
    [
        (
            {"unsafe": (Finding("bcast", Method("pipeline"), ("plain",), (2,), "plain", "hangs", 1),)},
            {"allreduce"},
        ),
        ({"errors": 1}, set()),
        ({"taken": "no"}, set()),
    ],
)
def test_what_is_not_proven_any_more_is_not_compared_and_does_not_hold(
    tuned: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch, proof: dict[str, Any], left: set[str]
) -> None:
    monkeypatch.setattr(rules, "prove", lambda *given: replace(machine.prove(*given), **proof))
    monkeypatch.setattr(sys.modules[again.__module__], "_anew", lambda *_: None)
    result = again(work_in(tuned))
    assert set(result["anew"]) == {"bcast", "allreduce"} - left
    assert {name for name, check in result["checked"].items() if check["now"] is not None} == left
    assert bool(machine.campaigns) == bool(left)


def test_the_bundle_names_what_is_unsafe_by_the_last_check_of_each_collective(
    tuned: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for best, unsafe in (("binomial", "pipeline"), ("basic_linear", "binomial")):

        def changed(collective: str, algorithm: str, *sizes: int, best: str = best) -> float:
            if collective != "bcast":
                return better(collective, algorithm, *sizes)
            return {DEFAULT: 1.0, best: 0.5}.get(algorithm, 3.0) * better(collective, DEFAULT, *sizes)

        found = Finding("bcast", Method(unsafe), ("plain",), (2,), "plain", "hangs", 1)
        monkeypatch.setattr(measure, "faulty_of", lambda _, found=found: (found,))
        machine.times = changed
        assert again(work_in(tuned))["anew"] == ["bcast"]
        lines = (tuned / "bundle" / "README.md").read_text().splitlines()
        assert [line for line in lines if "unsafe" in line] == [f"- excluded as unsafe: {found}"]
        assert [each["why"] for each in answer(Folder(tuned), {})["excluded"]] == [str(found)]


def test_of_what_was_measured_anew_in_vain_the_bundle_says_why_it_is_left_to_the_library(
    tuned: Path, machine: Machine
) -> None:
    def timed(factors: dict[str, float]) -> Times:
        def seconds(name: str, algorithm: str, *sizes: int) -> float:
            if name != "bcast":
                return better(name, algorithm, *sizes)
            return factors.get(algorithm, 3.0) * better(name, DEFAULT, *sizes)

        return seconds

    machine.times, machine.fresh = timed({DEFAULT: 1.0, "binomial": 0.5}), timed({DEFAULT: 1.0})
    assert again(work_in(tuned))["anew"] == ["bcast"]
    assert {*read_rules(tuned / "bundle" / "rules.conf", version="5.0").decisions} == {"allreduce"}
    text = (tuned / "bundle" / "README.md").read_text()
    assert re.search(r"- left to the library: bcast, [^\n]*: binomial is slower", text)
    # What is said of a collective's decision is that of these measurements, in the next check as well.
    said = Folder(tuned / "again" / "1").facts("decide")["collectives"]["bcast"]
    before = Folder(tuned).facts("decide")["collectives"]
    assert said != before["bcast"]
    machine.times = machine.fresh = default_best
    assert again(work_in(tuned))["anew"] == ["allreduce"]
    for decided in (summary(tuned)["decided"], answer(Folder(tuned), {})["decided"]):
        assert decided["bcast"] == said
        assert decided["allreduce"] != before["allreduce"]


def test_of_rules_that_are_not_proven_since_they_ask_for_what_is_unsafe_the_bundle_says_so(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Finding("allreduce", Method("ring"), ("plain",), (2,), "plain", "hangs", 1)
    monkeypatch.setattr(rules, "prove", lambda *given: replace(machine.prove(*given), unsafe=(found,)))
    tune(work_in(tmp_path, ranks=3, collectives=["allreduce"]))
    assert f"- proof: the rules ask for what is unsafe: {found}\n" in (tmp_path / "bundle" / "README.md").read_text()


def test_where_nothing_is_better_any_more_no_rules_are_left(tuned: Path, machine: Machine) -> None:
    machine.times = default_best
    assert sorted(again(work_in(tuned))["anew"]) == ["allreduce", "bcast"]
    assert not (tuned / "bundle" / "rules.conf").exists()
    machine.times = better
    assert sorted(again(work_in(tuned))["anew"]) == ["allreduce", "bcast"]
    assert (tuned / "bundle" / "rules.conf").exists()


def test_rules_that_were_joined_are_not_kept_where_they_are_not_proven(tuned: Path, machine: Machine) -> None:
    work = work_in(tuned)
    file = tuned / work.facts("compare")["rules"]
    facts, files = settled(work, rules.read(work, file.read_text()), {"holds": False}, "joined")
    assert (facts["rules"], facts["outcome"], files) == (None, "unproven", [])
    assert not machine.campaigns


def test_where_nothing_was_tuned_nothing_can_be_checked(tmp_path: Path, machine: Machine) -> None:
    with pytest.raises(CampaignError, match="nothing was tuned here"):
        again(work_in(tmp_path))


def test_the_rules_of_another_site_are_judged_by_these_measurements(
    tuned: Path, tmp_path: Path, machine: Machine, done: Run, refused: Run
) -> None:
    def there(collective: str, algorithm: str, comm_size: int, message_size: int) -> float:
        factor = 0.3 if algorithm == "basic_linear" else 1.0
        return factor * 1e-6 * comm_size * (1 + message_size / 4096)

    machine.times = there
    tune(work_in(tmp_path / "there"))
    rows = {row["collective"]: row for row in beside(Folder(tuned), Folder(tmp_path / "there"))}
    # Linear broadcast takes three times the library's own decision here, and the best a third of it at most.
    assert rows["bcast"]["other"] > 150
    assert rows["allreduce"]["own"] < rows["allreduce"]["default"] < rows["allreduce"]["other"]
    assert done("tune", tuned, "--compare", tmp_path / "there", "--json").json["collectives"] == list(rows.values())
    assert "holds no measurements" in refused("tune", tuned, "--compare", tmp_path / "none").err
    (tmp_path / "campaign").mkdir()
    (tmp_path / "campaign" / "state.json").write_text('{"launcher": {"name": "local"}}', encoding="utf-8")
    assert "campaign is no folder of colltune tune" in refused("tune", tuned, "--compare", tmp_path / "campaign").err


def test_collectives_that_only_one_of_two_tunings_has_rules_of_are_named_with_the_reason(
    tuned: Path, tmp_path: Path, machine: Machine, done: Run
) -> None:
    alone, none = Folder(tmp_path / "alone"), Folder(tmp_path / "none")
    tune(work_in(alone.path, collectives=["bcast"]))
    rows = {row["collective"]: row for row in beside(Folder(tuned), alone)}
    assert rows["bcast"]["why"] == ""
    assert rows["allreduce"]["own"] is not None
    assert rows["allreduce"]["why"] == f"no rules in {alone.path}, which did not tune it"
    rows = {row["collective"]: row for row in beside(alone, Folder(tuned))}
    assert rows["allreduce"]["why"] == f"not measured in {alone.path}"
    assert f"-  not measured in {alone.path}" in done("tune", alone.path, "--compare", tuned).out
    machine.times = default_best
    tune(work_in(none.path))
    with pytest.raises(CampaignError, match=r"no rules of .*none can be judged .* bcast: no rules in .*none, all is"):
        beside(Folder(tuned), none)
