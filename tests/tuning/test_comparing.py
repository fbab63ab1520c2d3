"""Rules against the library's own decision: what a comparison does not confirm is left to the library."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.methods import DEFAULT
from dashboard.benchmarks.tune_check import TUNED
from dashboard.commands.launching import measured_ranks
from dashboard.decisions.judged.improvement import OUTCOMES, leaves_of
from dashboard.export.rules.lint import read_rules
from dashboard.tuning import EXITS, Folder, Work, answer, compare, tune
from dashboard.tuning.compared import Compared
from dashboard.tuning.rules import Rules
from tests.tuning.machine import Machine, Times, better, summary, work_in

pytestmark = pytest.mark.slow


def compared(work: Work) -> tuple[Rules, Compared]:
    """Tune, and compare the rules that were exported once more."""
    tune(work)
    rules = compare.read(work, (work.folder.path / "export" / "rules.conf").read_text())
    return rules, compare.against(work, rules)


def slower(factor: float, where: Callable[[str, int], bool]) -> Times:
    """Times that are longer where an algorithm and a message size are so."""

    def times(collective: str, algorithm: str, comm_size: int, message_size: int) -> float:
        worse = factor if where(algorithm, message_size) else 1.0
        return worse * better(collective, algorithm, comm_size, message_size)

    return times


def test_what_fresh_launches_do_not_confirm_is_left_to_the_library(tmp_path: Path, machine: Machine) -> None:
    machine.fresh = slower(3.0, lambda algorithm, _: algorithm == "pipeline")
    tune(work_in(tmp_path))
    result = summary(tmp_path)
    assert result["outcome"] == "proven"
    assert not [rule for rule in result["compared"] if rule["kept"] and rule["method"].startswith("pipeline")]
    assert [rule for rule in result["compared"] if rule["verdict"] == "slower" and not rule["kept"]]
    text = (tmp_path / "bundle" / "README.md").read_text()
    assert re.search(r": pipeline is slower \([\d.]+ % more time in \d sizes?\)\n", text)
    rules_file = read_rules(tmp_path / "bundle" / "rules.conf", version="5.0")
    assert "bcast" not in rules_file.decisions
    # The head says of which trees they are left, and at how many sizes the library decides now.
    head = (tmp_path / "bundle" / "rules.conf").read_text()
    assert head.count("# Decision: Recommended, most leaves 15.") == len(rules_file.decisions) == 1
    assert measured_ranks(head) == max(work_in(tmp_path).asked.rows)
    decision = rules_file.decisions["allreduce"]
    chosen = decision.predict(*np.meshgrid(work_in(tmp_path).asked.rows, work_in(tmp_path).asked.columns))
    left = sum(decision.methods[place].algorithm == "default" for place in chosen.ravel())
    assert f"# Left to the library: {left} of the {chosen.size} sizes asked for, by the tree or after" in head
    assert 0 < left < chosen.size


def test_what_a_second_comparison_does_not_confirm_is_left_to_the_library(tmp_path: Path, machine: Machine) -> None:
    def fresh(collective: str, algorithm: str, comm_size: int, message_size: int) -> float:
        # The first comparison finds what was measured, and one method slower; then the gain of ring is gone.
        worse = 3.0 if algorithm == "pipeline" else 1.0
        if machine.campaigns.count("measure") and len(machine.campaigns) > 2 and algorithm == "ring":
            algorithm, worse = "default", 1.02
        return worse * better(collective, algorithm, comm_size, message_size)

    machine.fresh = fresh
    tune(work_in(tmp_path))
    result = summary(tmp_path)
    ring = [rule for rule in result["compared"] if rule["method"] == "ring"]
    assert ring
    assert not any(rule["kept"] for rule in ring)
    assert not [rule for rule in result["compared"] if rule["kept"] and rule["improvement"] <= 0]


def test_each_rule_is_compared_at_some_size_and_none_that_is_left_to_the_library(finished: Path) -> None:
    folder = Folder(finished)
    exported = finished / folder.facts("export")["rules"]
    rules = read_rules(exported, version="5.0").decisions
    given = next(
        file for file in (finished / "compare").glob("*/rules.conf") if file.read_text() == exported.read_text()
    )
    first = Campaign(given.parent).plan()
    for name, decision in rules.items():
        compared = {
            leaf for row, column, _ in first.only[name] for leaf in decision.leaf_places([row], [column]).tolist()
        }
        decided = {
            leaf
            for row in first.comm_sizes
            for leaf in decision.leaf_places(row, np.array(first.message_sizes)).tolist()
            if decision.methods[int(decision.tree.codes[leaf])].algorithm != DEFAULT
        }
        assert compared == decided


def test_of_a_rule_that_is_slower_as_a_whole_the_sizes_are_kept_where_it_is_faster(
    tmp_path: Path, machine: Machine
) -> None:
    machine.fresh = slower(6.0, lambda algorithm, message_size: algorithm == "ring" and message_size == 32768)
    work = work_in(tmp_path / "t", collectives=["allreduce"])
    result = answer(work.folder, tune(work))
    verdicts = {(rule["verdict"], rule["kept"]) for rule in result["compared"] if rule["method"] == "ring"}
    assert verdicts == {("slower", False), ("faster", True)}
    kept = [rule["improvement"] for rule in result["compared"] if rule["method"] == "ring" and rule["kept"]]
    assert kept == pytest.approx([100 / 3] * len(kept), abs=2)


def test_rules_act_only_between_sizes_that_were_compared_and_are_not_slower(tmp_path: Path, machine: Machine) -> None:
    # Ring is decided from half-way between two sizes on, by times of the larger one.
    machine.fresh = slower(6.0, lambda algorithm, message_size: algorithm == "ring" and message_size < 262144)
    work = work_in(tmp_path, collectives=["allreduce"], comm_sizes="4")
    tune(work)
    decided = read_rules(tmp_path / "export" / "rules.conf", version="5.0").decisions["allreduce"]
    kept = read_rules(tmp_path / "bundle" / "rules.conf", version="5.0").decisions["allreduce"]
    before, after = (
        [decision.methods[decision.predict_one(4, size)].algorithm for size in (131076, 262140, 262144)]
        for decision in (decided, kept)
    )
    assert before == ["ring"] * 3
    assert after == ["default", "default", "ring"]
    text = (tmp_path / "bundle" / "README.md").read_text()
    assert re.search(r"%\), in \d sizes compared \(64 B to 256 KiB\), 3 fresh launches of each comparison\n", text)
    assert re.search(r"262,143 B < message ≤ 256 KiB: ring, 3\d.* % less in 1 size compared\n", text)


def test_without_time_for_its_ends_a_rule_acts_at_the_sizes_compared(tmp_path: Path, machine: Machine) -> None:
    tune(work_in(tmp_path, collectives=["allreduce"], comm_sizes="4", seconds=2.0, message_sizes="32KiB-256KiB:x2"))
    gain = summary(tmp_path)["gain"]["allreduce"]
    decision = read_rules(tmp_path / "bundle" / "rules.conf", version="5.0").decisions["allreduce"]
    chosen = {
        size: decision.methods[decision.predict_one(4, size)].algorithm
        for end, step in zip(gain["sizes"], (-4, 4), strict=True)
        for size in (end, end + step)
    }
    assert {size for size, algorithm in chosen.items() if algorithm != "default"} == set(gain["sizes"])


def test_what_one_of_two_comparisons_shows_to_be_slower_is_cut_unless_both_say_otherwise(
    tmp_path: Path, machine: Machine
) -> None:
    _, first = compared(work_in(tmp_path, collectives=["allreduce"], comm_sizes="4"))
    improvement = first.improvements["allreduce"]
    harmed = improvement.cells["message_size"] == 32768

    def with_gain(gain: float, error: float) -> Compared:
        """The same with another gain at one of the sizes, which is not slower when corrected for their number."""
        table = {name: improvement.cells[name].where(~harmed, to) for name, to in (("gain", gain), ("error", error))}
        table["outcome"] = xr.full_like(improvement.cells["outcome"], OUTCOMES.index("no difference"))
        cells = improvement.cells.assign(table)
        return replace(first, improvements={"allreduce": replace(improvement, cells=cells)})

    def slower(last: Compared, before: Compared) -> int:
        return sum(verdict.slower for verdict in replace(last, before=before).alone("allreduce"))

    bad, noisy, good = with_gain(-0.2, 0.08**2), with_gain(0.1, 0.6**2), with_gain(0.2, 0.02**2)
    assert sum(verdict.slower for verdict in bad.alone("allreduce")) == 1
    assert slower(noisy, bad) == slower(bad, noisy) == 1
    assert slower(good, bad) == slower(bad, good) == slower(good, noisy) == 0


def test_what_is_left_of_a_rule_that_is_cut_is_faster_by_itself(tmp_path: Path, machine: Machine) -> None:
    rules, first = compared(work_in(tmp_path, collectives=["allreduce"], comm_sizes="4"))
    improvement = first.improvements["allreduce"]
    sizes = improvement.cells["message_size"]
    gain = xr.where(sizes == 64, -0.03, xr.where(sizes == 512, -0.3, 0.2))
    table = {"gain": gain, "error": xr.where(sizes == 64, 0.05**2, 0.01**2)}
    cells = improvement.cells.assign({name: 0 * improvement.cells[name] + to for name, to in table.items()})
    single = replace(first, improvements={"allreduce": replace(improvement, cells=cells)})
    (kept,) = compare._kept(rules, replace(single, before=single), set(), only_faster=False)
    chosen = [kept.methods[kept.predict_one(4, size)].algorithm for size in (64, 512, 4096, 262144)]
    assert chosen == ["default", "default", "recursive_doubling", "ring"]


def test_rules_that_the_library_does_not_obey_are_cut_and_what_is_left_is_proven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(disobeys=frozenset({("allreduce", "ring")})).put(monkeypatch)
    work = work_in(tmp_path)
    outcome = answer(work.folder, tune(work))
    assert outcome["outcome"] == "proven"
    rules = read_rules(tmp_path / "bundle" / "rules.conf")
    algorithms = {method.algorithm for decision in rules.decisions.values() for method in decision.methods}
    assert "pipeline" in algorithms
    assert "ring" not in algorithms
    text = (tmp_path / "bundle" / "README.md").read_text()
    assert "- left to the library: allreduce, " in text
    assert "ring is not what runs" in text
    # Export and proof stand as they were.
    assert not any(tune(work_in(tmp_path))[stage] for stage in ("lint", "prove", "compare"))


def test_a_collective_is_left_to_the_library_that_decides_otherwise_beside_its_rules(
    tmp_path: Path, machine: Machine
) -> None:
    machine.disobeys = frozenset({("allreduce", "default")})
    result = answer(work_in(tmp_path).folder, tune(work_in(tmp_path)))
    assert result["outcome"] == "proven"
    assert result["gain"].keys() == {"bcast"}
    assert "allreduce" not in read_rules(tmp_path / "bundle" / "rules.conf").decisions


@pytest.mark.parametrize(
    ("refused", "outcome"),
    [([("bcast", TUNED)], "proven"), (product(("bcast", "allreduce"), (DEFAULT, TUNED)), "short")],
)
def test_of_rules_that_are_refused_at_every_size_compared_the_readme_says_why_they_are_not_there(
    tmp_path: Path, machine: Machine, refused: Iterable[tuple[str, str]], outcome: str
) -> None:
    machine.refuses = frozenset(refused)
    result = answer(work_in(tmp_path).folder, tune(work_in(tmp_path)))
    assert result["outcome"] == outcome
    assert {*result["gain"]} == {"allreduce"} - {name for name, _ in machine.refuses}
    lines = [line for line in (tmp_path / "bundle" / "README.md").read_text().splitlines() if "MPI_ERR_OP" in line]
    assert [re.sub(r"\d+", "N", line) for line in lines] == [
        f"- left to the library: {name}: N rules, not compared: refused: MPI_ERR_OP"
        for name in ("bcast", "allreduce")
        if (name, TUNED) in machine.refuses
    ]


def test_rules_that_are_refused_when_they_are_compared_again_are_not_kept(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, turns = compare.against, list[int]()

    def against(*given: Any) -> Compared:
        turns.append(1)
        machine.refuses = frozenset({("bcast", TUNED)} if len(turns) > 1 else ())
        return real(*given)

    monkeypatch.setattr(compare, "against", against)
    result = answer(work_in(tmp_path).folder, tune(work_in(tmp_path)))
    assert {*result["gain"]} == {*read_rules(tmp_path / "bundle" / "rules.conf").decisions} == {"allreduce"}
    assert {row["verdict"] for row in result["compared"] if row["collective"] == "bcast"} >= {"once"}


def test_rules_that_ask_for_what_the_library_does_by_itself_gain_nothing(tmp_path: Path, machine: Machine) -> None:
    machine.differs = False
    result = answer(work_in(tmp_path).folder, tune(work_in(tmp_path)))
    assert (result["outcome"], result["gain"]) == ("nothing", {})
    said = "all that is left of the rules after comparing is what the library does by itself"
    assert result["stages"]["compare"]["said"] == said
    assert {row["verdict"] for row in result["compared"]}.isdisjoint({"faster"})
    assert not (tmp_path / "bundle" / "rules.conf").exists()


def test_what_a_workload_never_calls_is_left_to_the_library(tmp_path: Path, machine: Machine) -> None:
    calls = tmp_path / "calls.csv"
    calls.write_text("collective,comm_size,message_size,calls\nallreduce,4,262144,5\n")
    result = answer(work_in(tmp_path / "t").folder, tune(work_in(tmp_path / "t", workload=str(calls))))
    assert "bcast: the workload never calls it" in result["stages"]["decide"]["said"]
    assert Campaign(tmp_path / "t" / "measure").plan().methods.keys() == {"allreduce"}
    assert {row["collective"] for row in result["compared"]} == {"allreduce"}
    calls.write_text("collective,comm_size,message_size,calls\nscan,4,262144,5\n")
    with pytest.raises(PlanError, match="calls none of bcast, allreduce"):
        tune(work_in(tmp_path / "other", workload=str(calls)))


@pytest.mark.parametrize(
    ("given", "status", "said"), [({"proves": False}, 4, "not proven"), ({"noise": 1.5}, 5, "scattered too much")]
)
def test_what_is_unproven_or_too_noisy_gives_no_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], status: int, said: str
) -> None:
    Machine(**given).put(monkeypatch)
    work = work_in(tmp_path, ranks=3, collectives=["allreduce"])
    result = answer(work.folder, tune(work))
    assert EXITS[result["outcome"]] == status
    assert not (tmp_path / "bundle" / "rules.conf").exists()
    assert said in (tmp_path / "bundle" / "README.md").read_text()


def test_where_few_of_the_compared_times_can_be_trusted_nothing_is_said_to_be_no_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def falling(_collective: str, _algorithm: str, comm_size: int, message_size: int) -> float:
        # A sixth from each size to the next, and less where the second rule begins: none of the first can be right.
        return comm_size * 6.0 ** -float(np.log2(message_size)) * (1.0 if message_size <= 24576 else 1e-3)

    Machine(fresh=falling).put(monkeypatch)
    work = work_in(tmp_path, collectives=["allreduce"])
    result = answer(work.folder, tune(work))
    assert EXITS[result["outcome"]] == 5
    assert result["proven"] == result["regions"] > 0
    assert f"{result['proven']} of {result['regions']} regions run as asked" in work.facts("prove")["said"]
    text = (tmp_path / "bundle" / "README.md").read_text()
    assert "Times scattered too much" in text
    assert "compared by times that cannot be trusted" in text
    assert "--budget" not in text


def test_what_could_not_be_trusted_the_second_time_goes_by_the_first(tmp_path: Path, machine: Machine) -> None:
    _, first = compared(work_in(tmp_path))
    cells = first.improvements["allreduce"].cells
    lost = cells.where(cells["message_size"] < 16384).assign(
        outcome=cells["outcome"].where(cells["message_size"] < 16384, OUTCOMES.index("not measured")).astype(int)
    )
    gone = replace(first.improvements["allreduce"], cells=lost)
    again = replace(first, improvements={**first.improvements, "allreduce": gone})
    both = replace(again, before=first)
    own = [[verdict for verdict in each.alone("allreduce") if not verdict.default] for each in (both, first)]
    assert [(each.node, each.outcome, each.cells) for each in own[0]] == [
        (each.node, each.outcome, each.cells) for each in own[1]
    ]
    assert [each.mean for each in own[0]] == pytest.approx([each.mean for each in own[1]])
    alone = again.narrowed(first.decisions).alone("allreduce")
    assert {verdict.outcome for verdict in alone if verdict.method == "ring"} == {"not measured"}


def test_what_two_comparisons_show_together_is_kept(tmp_path: Path, machine: Machine) -> None:
    _, first = compared(work_in(tmp_path))
    # A gain of 10 %, of which one comparison is sure by two standard errors, and both together by 2.8.
    cells = first.improvements["allreduce"].cells
    gain = np.log(1 / 0.9)
    known = cells["gain"].where(np.isnan(cells["gain"]), gain)
    scattered = cells.assign(gain=known, error=xr.full_like(cells["error"], 0.0), freedom=cells["freedom"] * 0 + 1e9)
    for rule in first.alone("allreduce"):
        part = leaves_of(first.improvements["allreduce"], first.decisions["allreduce"]) == rule.node
        error = gain**2 * part.sum() / 4
        scattered["error"] = scattered["error"].where(~part, error)
    single = replace(first, improvements={"allreduce": replace(first.improvements["allreduce"], cells=scattered)})
    both = replace(single, before=single)

    def outcomes(compared: Compared) -> set[str]:
        return {each.outcome for each in compared.alone("allreduce", 0.01) if not each.default and each.cells}

    assert outcomes(single) == {"no difference"}
    assert outcomes(both) == {"faster"}
    assert {round(each.p, 4) for each in both.alone("allreduce") if not each.default and each.cells} == {0.0047}
