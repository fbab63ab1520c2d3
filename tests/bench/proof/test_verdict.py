"""What is said of a region when calls sent this or that."""

import json
from dataclasses import replace
from pathlib import Path

from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.proof.order import Call, Key, Order, Seen, line_of, read_lines, sum_of
from dashboard.benchmarks.proof.parts import by_sum, parts_of
from dashboard.benchmarks.proof.regions import Region
from dashboard.benchmarks.proof.report import lines_of, markdown
from dashboard.benchmarks.proof.target import OWN, RULES
from dashboard.benchmarks.proof.verdict import Proof, Verdict, by_parts, judge, taken
from dashboard.benchmarks.ranks.cellrun import graph_of
from dashboard.decisions import Method
from dashboard.tuning.rules import facts_of

HERE, THERE = Cell("bcast", 4, 10), Cell("bcast", 8, 10)
REGION = Region("bcast", {"comm_size": (2.0, 8.0)}, Method("chain", "chain"), (HERE, THERE))
NAMES = ("chain", "pipeline", "linear", OWN)
#: Who sends the same: the library's own decision is linear.
GRAPHS = {"chain": "c", "pipeline": "p", "linear": "l", OWN: "l"}


def results(rules: str, **graphs: str) -> dict[Key, Seen]:
    """Both cells, where the rules send what `rules` names."""
    sent = {**GRAPHS, **graphs}
    calls = {RULES: sent[rules], **sent}
    return {(cell, name): Seen("", {"digest": text}) for cell in (HERE, THERE) for name, text in calls.items()}


def test_the_method_asked_for_is_proven_where_no_other_sends_the_same() -> None:
    verdict = judge(REGION, "chain", results("chain"), NAMES)
    assert (verdict.state, verdict.seen, verdict.like) == ("proven", "chain", ())


def test_methods_that_send_the_same_everywhere_are_not_told_apart() -> None:
    verdict = judge(REGION, "chain", results("chain", pipeline="c"), NAMES)
    assert (verdict.state, verdict.like) == ("same graph", ("pipeline",))
    assert "8 processes; same graph as pipeline, not told apart" in "".join(lines_of(proof(verdict)))


def test_one_size_that_differs_tells_methods_apart() -> None:
    outcome = {**results("chain", pipeline="c"), (THERE, "pipeline"): Seen("", {"digest": "p"})}
    assert judge(REGION, "chain", outcome, NAMES).state == "proven"


def test_methods_that_were_not_called_are_not_said_to_send_the_same() -> None:
    late = {key: seen for key, seen in results("chain", pipeline="c").items() if key[1] != "linear"}
    verdict = judge(REGION, "chain", late, NAMES)
    assert (verdict.state, verdict.like) == ("same graph", ("pipeline",))
    assert verdict.why == "not compared with linear: not called at these sizes"
    alone = {key: seen for key, seen in late.items() if key[1] != "pipeline"}
    verdict = judge(REGION, "chain", alone, NAMES)
    assert (verdict.state, verdict.like) == ("same graph", ())
    (line,) = [line for line in lines_of(proof(verdict)) if "seen at" in line]
    assert line.endswith(
        "seen at 2 sizes of 4, 8 processes; not compared with pipeline, linear: not called at these sizes"
    )


def test_something_else_is_named() -> None:
    verdict = judge(REGION, "chain", results("pipeline"), NAMES)
    assert (verdict.state, verdict.seen) == ("other", "pipeline")
    own = judge(REGION, "chain", results(OWN), NAMES)
    assert own.seen == "linear, as the library decides by itself"


def test_what_failed_or_was_not_reached_is_no_proof() -> None:
    failed = {**results("chain"), (THERE, RULES): Seen("refused: MPI_ERR_ARG")}
    assert judge(REGION, "chain", failed, NAMES).why == "8 processes, 10 B: refused: MPI_ERR_ARG"
    assert judge(REGION, "chain", {}, NAMES).state == "not run"
    half = {key: seen for key, seen in results("chain").items() if key[0] == HERE}
    assert "1 of 2 sizes" in judge(REGION, "chain", half, NAMES).why
    for asked in ("chain", None):
        assert judge(REGION, asked, {}, NAMES, stopped="aborts").why == "aborts"


def test_a_method_that_cannot_be_forced_is_not_compared() -> None:
    refused = {**results("chain"), (HERE, "chain"): Seen("refused"), (THERE, "chain"): Seen("refused")}
    unforced = judge(REGION, "chain", refused, NAMES)
    assert (unforced.state, unforced.why) == ("not run", "to compare it with, it cannot be forced: refused")
    assert (unforced.region, len(unforced.points)) == (REGION, 2)
    assert judge(REGION, None, {}, NAMES).state == "not run"


def test_a_file_is_taken_where_it_changes_what_is_sent() -> None:
    pairs = [(REGION, "chain")]
    assert taken(pairs, results("chain")) == "yes"
    assert taken(pairs, results(OWN)) == "no"
    assert taken([(REGION, "linear")], results("linear")) == "no difference"
    assert taken(pairs, {}) == "unknown"


def test_parts_that_follow_other_rules_do_not_hide_the_library_s_own_decision() -> None:
    # reduce_scatter by a reduce: with rules for reduce the same algorithm sends other messages.
    left = replace(REGION, method=Method("default", "default", 0, {"library_id": 0}))
    outcome = results("pipeline", **{OWN: "o"})
    other = judge(left, OWN, outcome, NAMES)
    assert other.state == "other"
    same = {(cell, name): Seen("", {"digest": "o"}) for cell in (HERE, THERE) for name in (OWN, "pipeline")}
    verdict = by_parts(other, outcome, same, NAMES)
    assert (verdict.state, verdict.seen) == ("proven", OWN)
    assert "pipeline, as without rules" in verdict.why
    apart = {**same, (THERE, OWN): Seen("", {"digest": "x"})}
    assert by_parts(other, outcome, apart, NAMES).state == "other"
    assert by_parts(other, outcome, {}, NAMES).state == "other"
    uncalled = {key: seen for key, seen in outcome.items() if key[1] != "pipeline"}
    assert by_parts(other, uncalled, same, NAMES).state == "other"


def proof(*verdicts: Verdict, answer: str = "yes") -> Proof:
    return Proof("f.conf", "rules", "Open MPI 5.0.11", "graphs", 8, answer, verdicts)  # type: ignore[arg-type]


GOOD, OTHER = (judge(REGION, "chain", results(name), NAMES) for name in ("chain", "pipeline"))
FAR = Verdict(replace(REGION, cells=(), why_not="needs 16 processes", needs=16), "not run", why="needs 16 processes")


def test_a_report_says_no_more_than_was_watched() -> None:
    lines = lines_of(proof(OTHER, answer="no"))
    assert lines[1] == "Open MPI 5.0.11, up to 8 processes on one node, 0 s"
    assert lines[3].endswith("NOT TAKE THE FILE: at all sizes watched it decides as it does without")


def test_a_proof_holds_only_where_something_ran_and_nothing_else_was_seen() -> None:
    assert proof(GOOD, FAR).holds
    assert not proof(FAR).holds
    assert not proof(GOOD, OTHER).holds
    assert not proof(GOOD, answer="no").holds
    unseen = proof(GOOD, answer="no difference")
    assert (unseen.holds, unseen.outcome, proof(GOOD).outcome) == (True, "no difference", "proven")
    assert lines_of(unseen)[-1] == "NO DIFFERENCE: 1 region: 1 as without rules"
    assert facts_of(unseen)["said"] == "no difference: 1 of 1 regions run as asked"
    wrong = replace(proof(GOOD, FAR), errors=2)
    assert not wrong.holds
    assert "NOT PROVEN, 2 errors in the file: 2 regions" in lines_of(wrong)[-1]


def test_the_report_tells_all_of_it() -> None:
    text = "\n".join(lines_of(proof(GOOD, OTHER, FAR)))
    assert "3 to 8" in text
    assert "seen: pipeline, at 4 processes, 10 B" in text
    assert "bcast: 1 region not run: 16 processes or more needed, 8 allowed (--ranks)" in text
    assert text.endswith("NOT PROVEN: 3 regions: 1 proven, 1 other, 1 not run")
    assert lines_of(proof(GOOD, FAR))[-1] == "PROVEN WHERE RUN: 2 regions: 1 proven, 1 not run"
    assert lines_of(proof(GOOD))[-1] == "PROVEN: 1 region: 1 proven"
    assert "| bcast | 3 to 8 | all | chain | proven |" in markdown(proof(GOOD))
    everywhere = replace(GOOD, region=replace(REGION, bounds={}))
    assert "| bcast | all | all | chain | proven |" in markdown(proof(everywhere))
    record = json.loads(json.dumps(proof(GOOD, FAR).to_dict(), allow_nan=False))
    assert record["counts"]["proven"] == 1
    assert record["regions"][0]["bounds"] == {"comm_size": [2, 8]}


def test_orders_and_results_come_back_as_they_were_written(tmp_path: Path) -> None:
    call, other = Call("chain", {"algorithm": 2}), Call(RULES, {})
    order = Order("messages", ("count",), set_at_call=False, calls={HERE: (call, other), THERE: (other,)})
    order.save(tmp_path / "order.json")
    assert Order.load(tmp_path / "order.json") == order
    assert order.without([(HERE, "chain"), (THERE, RULES)]).calls == {HERE: (other,)}
    lines = (
        line_of(HERE, "chain", None) + line_of(HERE, "chain", Seen("", {"digest": "c"})) + line_of(THERE, RULES, None)
    )
    path = tmp_path / "results.jsonl"
    path.write_text(lines + '{"cell": {"coll')
    assert read_lines(path) == ({(HERE, "chain"): Seen("", {"digest": "c"})}, (THERE, RULES))


def test_an_algorithm_that_calls_other_collectives_is_known_by_what_these_send_together() -> None:
    cell = Cell("allreduce", 3, 64)
    reduce_rows, bcast_rows = [[], [(0, 1, 64)], [(0, 1, 64)]], [[(1, 1, 64), (2, 1, 64)], [], []]
    both = [[(1, 1, 64), (2, 1, 64)], [(0, 1, 64)], [(0, 1, 64)]]
    region = Region("allreduce", {}, Method("nonoverlapping", "nonoverlapping"), (cell,))
    assert parts_of(region.method, cell) == (Cell("reduce", 3, 64), Cell("bcast", 3, 64))
    assert parts_of(Method("linear", "linear"), Cell("allgather", 3, 64))[1] == Cell("bcast", 3, 192)
    assert parts_of(Method("default", "default"), Cell("allgatherv", 3, 64))[0] == Cell("gatherv", 3, 64)
    for name, algorithm, last in (
        ("reduce_scatter", "non-overlapping", "scatterv"),
        ("reduce_scatter_block", "basic_linear", "scatter"),
    ):
        parts = (Cell("reduce", 3, 192), Cell(last, 3, 64))
        assert parts_of(Method(algorithm, algorithm), Cell(name, 3, 64)) == parts

    def seen(rows: list[list[tuple[int, int, int]]]) -> Seen:
        return Seen("", {**graph_of(rows), "sum": sum_of(rows)})

    calls = {
        (cell, RULES): seen(both),
        # Forced without the rules its parts are others.
        (cell, "nonoverlapping"): seen([[(1, 2, 128)], [(2, 2, 128)], []]),
        (Cell("reduce", 3, 64), RULES): seen(reduce_rows),
        (Cell("bcast", 3, 64), RULES): seen(bcast_rows),
    }
    verdict = judge(region, "nonoverlapping", calls, ("nonoverlapping", OWN))
    assert verdict.state == "other"
    proven = by_sum(verdict, calls)
    assert (proven.state, proven.seen) == ("proven", "nonoverlapping")
    assert "reduce and bcast" in proven.why
    for change in (
        {(cell, RULES): seen([[(1, 1, 64), (2, 1, 65)], [(0, 1, 64)], [(0, 1, 64)]])},
        {(Cell("bcast", 3, 64), RULES): Seen("x")},
    ):
        assert by_sum(verdict, {**calls, **change}) == verdict
    # So it is where the library takes this algorithm by itself, and only there.
    left = replace(region, method=Method("default", "default"))
    for alone, state in ((calls[cell, "nonoverlapping"], "proven"), (seen([[(1, 3, 192)], [], []]), "other")):
        with_own = {**calls, (cell, OWN): alone}
        assert by_sum(judge(left, OWN, with_own, ("nonoverlapping", OWN)), with_own).state == state
    del calls[Cell("bcast", 3, 64), RULES]
    assert by_sum(verdict, calls) == verdict
    assert by_sum(OTHER, results("pipeline")) == OTHER
