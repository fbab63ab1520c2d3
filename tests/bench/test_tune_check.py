"""Rules and the library's own decision in one job of the real library: who acts is seen in the messages."""

import json
from pathlib import Path
from typing import Any

import pytest

from dashboard.benchmarks import tune_check
from dashboard.benchmarks.campaigns.protocol import Protocol
from dashboard.benchmarks.campaigns.wish import Wish, make_plan
from dashboard.benchmarks.errors import CampaignError, PlanError
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Fixed
from dashboard.benchmarks.libraries.methods import Method as Measured
from dashboard.benchmarks.libraries.mpich import Mpich
from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.decisions.function.cutting import without_slower
from dashboard.decisions.function.nodes import LEFT_ALONE
from dashboard.decisions.judged.improvement import improvement, judge
from dashboard.export.rules.lint import read_text
from dashboard.export.targets.mpich.selection import to_mpich
from loaders import open_results
from tests.bench.campaigns import run
from tests.cli.command import Run
from tests.conftest import ROOT, ran

pytestmark = pytest.mark.slow

RANKS = 4
#: Linear, then a pipeline of tiny segments, which nothing makes fast, then the library's own decision.
RULES = "1\n7\n1\n2\n3\n0 1 0 0\n32768 3 0 32\n131072 0 0 0\n"
SMALL, SLOW, OWN = 64, 65536, 131072
QUICK = Protocol(min_repetitions=15, max_repetitions=30, rounds=3, warm_up=1)


@pytest.fixture(scope="session")
def results(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tune_check")
    given = tune_check.with_rules(installation, tune_check.rules_of(folder))
    wish = Wish(RANKS, ("bcast",), (RANKS,), (SMALL, SLOW, OWN), protocol=QUICK)
    campaign = tune_check.prepare(folder, RULES, make_plan(wish, given))
    ended = run(campaign, given)
    assert ended["state"] == "finished", (ended, campaign.tail())
    return campaign.results


def graphs(results: Path) -> dict[tuple[str, int], dict[str, Any]]:
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()[1:]]
    if not any("graph" in point for point in lines):
        pytest.skip("this library counts no messages")
    return {(point["algorithm"], point["message_size"]): point["graph"] for point in lines}


def test_the_rules_act_on_one_communicator_and_not_on_the_other(results: Path) -> None:
    sent = graphs(results)
    # Linear: the root sends to all others. Left alone the library takes another way.
    assert sent["tuned", SMALL]["busiest"] == sent["tuned", SMALL]["messages"] == RANKS - 1
    assert sent["default", SMALL]["busiest"] < RANKS - 1
    # A pipeline of 32 bytes: everyone but the last process sends all segments.
    assert sent["tuned", SLOW]["messages"] == (RANKS - 1) * (SLOW // 32)
    assert sent["default", SLOW]["messages"] < RANKS * RANKS


def test_a_rule_that_leaves_the_decision_to_the_library_sends_its_messages(results: Path) -> None:
    sent = graphs(results)
    assert sent["tuned", OWN]["digest"] == sent["default", OWN]["digest"]
    cells = improvement(open_results([results])["bcast"].to_dataset()).cells
    assert cells["same"].sel(message_size=OWN).all()


def test_a_rule_that_is_slower_is_found_and_dropped(results: Path) -> None:
    gains = improvement(open_results([results])["bcast"].to_dataset())
    decision = read_text(RULES).decisions["bcast"]
    verdicts = {verdict.method: verdict for verdict in judge(gains, decision)}
    assert verdicts["pipeline 32B"].outcome == "slower"
    assert verdicts["pipeline 32B"].max < -100
    kept, *_ = without_slower(decision, list(verdicts.values()))
    assert kept.methods[kept.predict_one(RANKS, SLOW)].label == "default"


def test_the_command_measures_once_judges_and_writes_what_is_left(
    installation: Installation, tmp_path: Path, colltune: Run
) -> None:
    rules, kept = tmp_path / "rules.conf", tmp_path / "kept.conf"
    rules.write_text(RULES)
    where = ("tune-check", rules, "--folder", tmp_path / "campaign", "--ranks", 2, "--keep-doubtful")
    sizes = ("--message-sizes", f"{SMALL},{SLOW}", "--repetitions", "6-12", "--time-limit", 90)
    answer = colltune(*where, *sizes, "--json", "--drop-slower", "-o", kept)
    assert answer.status == 0, answer.err
    (bcast,) = answer.json["collectives"].values()
    assert [row["comm_size"] for row in bcast["table"]] == [2, 0]
    assert {cell["message_size"] for cell in bcast["cells"]} == {SMALL, SLOW}
    slower = [rule for rule in bcast["rules"] if rule["outcome"] == "slower" and not rule["default"]]
    assert answer.json["dropped"] == {"bcast": len(slower)}
    assert answer.json["left"]["proven"] is True
    # With two processes the linear rule may be slower than the library's tree by chance: then none is left to prove.
    # Where none is gone there is nothing to measure that was not.
    gone = any((*answer.json["dropped"].values(), *answer.json["cut"].values()))
    assert set(answer.json["left"]["cells"]) == ({"bcast"} if gone and len(slower) < 2 else set())
    # What is left may be what the library does by itself.
    assert f"{kept}: {answer.json['left']['outcome']}" in answer.err
    assert colltune("lint", kept).status == 0
    assert ("32768 3" in kept.read_text()) == ("pipeline 32B" not in {rule["method"] for rule in slower})
    again = colltune(*where, *sizes, "--json")
    assert "everything is measured already" in again.err
    assert again.json["collectives"]["bcast"]["cells"] == bcast["cells"]
    rules.write_text(RULES.replace(" 32\n", " 64\n"))
    assert "was measured with other rules" in colltune(*where, *sizes).err


def test_other_rules_in_the_same_folder_are_refused(installation: Installation, tmp_path: Path) -> None:
    given = tune_check.with_rules(installation, tune_check.rules_of(tmp_path))
    plan = make_plan(Wish(2, ("bcast",), (2,), (8,)), given)
    tune_check.prepare(tmp_path, RULES, plan)
    with pytest.raises(CampaignError, match="was measured with other rules"):
        tune_check.prepare(tmp_path, RULES + "\n", plan)


def test_mpich_has_launches_with_the_file_and_launches_as_it_is(mpich: Path, selection: str, tmp_path: Path) -> None:
    bcast = DecisionFunction(
        "bcast", [LEFT_ALONE, Method("tree", "tree")], Split((Test("message_size", 64),), (Leaf(1), Leaf(0)))
    )
    rules, kept = tmp_path / "rules.json", tmp_path / "kept.json"
    rules.write_text(to_mpich([bcast], base=selection))
    colltune = (mpich.parent / "python", "-m", "dashboard.cli", "tune-check", rules, "--folder", tmp_path / "campaign")
    grid = ("--ranks", "2", "--message-sizes", "64,1024", "--repetitions", "5-6", "--keep-doubtful")
    done = ran([*colltune, *grid, "--drop-slower", "-o", kept, "--json"], cwd=ROOT)
    answer = json.loads(done.stdout)
    assert list(answer["collectives"]) == ["bcast"]
    assert [rule["default"] for rule in answer["collectives"]["bcast"]["rules"]] == [False, True]
    assert answer["left"]["proven"]
    orders = [json.loads(path.read_text()) for path in (tmp_path / "campaign" / "jobs").glob("*.json")]
    (starts,) = [order["starts"] for order in orders if "starts" in order]
    named = [start["environment"]["MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"] for start in starts]
    assert named == ["", str(tmp_path / "campaign" / "rules.conf")] * 3


def test_beside_rules_the_device_of_mpich_decides_what_they_are_not_for(tmp_path: Path) -> None:
    first = tune_check.with_rules(Installation(tmp_path, Mpich("5.0.2", {}, {}, {})), tmp_path / "rules.json", ["scan"])
    # What is left of rules is measured once more.
    left = tune_check.with_rules(first, tmp_path / "left.json", ["bcast"]).library
    assert left.forcing("allreduce", Measured(tune_check.TUNED)) == {
        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(tmp_path / "left.json"),
        "MPIR_CVAR_DEVICE_COLLECTIVES": "percoll",
        "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE": "0",
    }


def test_another_library_is_told_what_to_do_instead(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="Cray MPI cannot be measured with and without rules; install"):
        tune_check.with_rules(Installation(tmp_path, Fixed("Cray MPI", "9.0", "")), tmp_path)


def test_rules_for_what_cannot_be_measured_are_refused() -> None:
    with pytest.raises(PlanError, match="the rules are for alltoallw; measured with and without rules can be bcast"):
        tune_check.measurable({"alltoallw": None})
