"""Who answered each call, by HAN's own words, and what that says of the regions of two rules files."""

from dataclasses import replace

import pytest

from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.proof.order import NOT_STEADY, Key, Seen
from dashboard.benchmarks.proof.regions import Region
from dashboard.benchmarks.proof.target import RULES
from dashboard.benchmarks.proof.verdict import Verdict
from dashboard.benchmarks.proof.who import by_word, taken_by_word
from dashboard.benchmarks.ranks.selection import answered
from dashboard.decisions import Method

ONE_NODE, EVEN, UNEVEN, ALONE = (Cell("bcast", size, 10) for size in (2, 8, 5, 4))
PLACED = {ONE_NODE: (2,), EVEN: (2, 2, 2, 2), UNEVEN: (2, 2, 1), ALONE: (1, 1, 1, 1)}
#: As Open MPI 5.0.11 prints them with coll_han_verbose 100, on four nodes.
SEARCHED = "[node01:01110] coll:han:get_dynamic_rule HAN searched"
FOUND = (
    f"{SEARCHED} a rule for collective 7 (bcast) on topological level 2 (global_communicator) for a 8 configuration "
    "size for a 8 sized message. Found a rule for collective 7 (bcast) on topological level 2 (global_communicator) "
    "for a 1 configuration size for a 0 sized message : component {}\n"
)
NO_RULE = f"{SEARCHED} for collective 11 (reduce) but did not find any rule for this collective\n"
LACKING = (
    "[node01:01110] coll:han:mca_coll_han_bcast_intra_dynamic HAN did not find any valid module for collective 7 "
    "(bcast) with topological level 2 (global_communicator) on communicator (3/MPI COMM 3 DUP FROM 0). Please check "
    "dynamic file/mca parameters\n"
)


def test_who_answered_is_heard_from_what_han_says_of_the_call_itself() -> None:
    assert answered(FOUND.format("3 (tuned)"), "bcast") == ("tuned", "")
    assert answered(NO_RULE, "reduce") == ("han", "")
    inner = f"{SEARCHED} for topologic level 0 (intra_node) rule for collective 7 (bcast) but did not find any rule\n"
    gathered = f"{SEARCHED} for collective 0 (allgather) but did not find any rule for this collective\n{inner}"
    assert answered(gathered, "bcast") == ("", "")
    name, why = answered(FOUND.format("5 (adapt)") + LACKING, "bcast")
    assert name == "adapt"
    assert why == "adapt is not selected for this communicator, so HAN falls back to another one"


def judged(wanted: str, who: dict[Cell, str], state: str = "not run", lacking: str = "") -> Verdict:
    """Verdict on a region in which the calls were given to these components."""
    region = Region("bcast", {}, Method(wanted, wanted), tuple(who))
    results = {(cell, RULES): Seen(who=name, lacking=lacking, placed=PLACED[cell]) for cell, name in who.items()}
    return by_word(Verdict(region, state), wanted, results)  # type: ignore[arg-type]


def test_a_component_is_proven_where_it_answered_on_several_nodes() -> None:
    verdict = judged("han", {ONE_NODE: "", EVEN: "han"})
    assert (verdict.state, verdict.seen) == ("proven", "han")
    assert [point["comm_size"] for point in verdict.points] == [8]
    assert verdict.why.startswith("1 of 2 sizes")
    assert judged("han", {ONE_NODE: "", UNEVEN: ""}).state == "not run"
    # One process on each node: from its first own call on HAN asks nobody, and its rules act no more.
    assert judged("han", {ALONE: ""}).state == "not run"
    assert judged("tuned", {ALONE: ""}, "proven").state == "proven"
    assert judged("basic", {ALONE: "tuned"}).state == "other"


@pytest.mark.parametrize("before", ["not run", "proven", "same graph"])
def test_another_component_is_named_also_where_the_messages_are_as_wished(before: str) -> None:
    assert judged("tuned", {EVEN: "han"}, before).seen == "han answers"
    assert judged("basic", {EVEN: "tuned"}, before).state == "other"
    assert judged("adapt", {EVEN: "adapt"}, before, "adapt is not selected").seen == "adapt is not selected"
    assert judged("han", {EVEN: ""}, before).seen == "HAN does not say who answers"


def test_where_tuned_answers_the_messages_say_by_which_algorithm() -> None:
    assert judged("tuned", {EVEN: "tuned", ONE_NODE: "", UNEVEN: ""}, "proven").state == "proven"
    assert judged("tuned", {EVEN: "tuned"}, "other").state == "other"


def test_a_call_that_fails_is_no_proof_and_none_at_all_says_so() -> None:
    region = Region("bcast", {}, Method("han", "han"), (EVEN,))
    wrong = Seen("wrong result on rank 3", placed=PLACED[EVEN])
    assert by_word(Verdict(region, "not run"), "han", {(EVEN, RULES): wrong}).state == "failed"
    unsteady = replace(wrong, error=NOT_STEADY, who="han")
    assert by_word(Verdict(region, "not run"), "han", {(EVEN, RULES): unsteady}).state == "proven"
    tuned = Verdict(replace(region, method=Method("tuned", "tuned")), "failed")
    assert by_word(tuned, "tuned", {(EVEN, RULES): replace(unsteady, who="tuned")}).state == "failed"
    assert by_word(Verdict(region, "not run"), "han", {}).why == "the time was up before"
    assert by_word(Verdict(region, "not run"), "han", {}, "given up").why == "given up"
    assert by_word(Verdict(region, "failed", why="aborts"), "han", {}).why == "aborts"
    large = replace(region, why_not="too large")
    assert by_word(Verdict(large, "not run", why="too large"), "han", {}).why == "too large"


def test_that_han_took_its_rules_is_heard_or_not() -> None:
    said: dict[Key, Seen] = {(EVEN, RULES): Seen(who="tuned", placed=PLACED[EVEN])}
    assert taken_by_word(said, "unknown") == "yes"
    assert taken_by_word({(EVEN, RULES): Seen(placed=PLACED[EVEN])}, "yes") == "no"
    assert taken_by_word({(ONE_NODE, RULES): Seen(placed=PLACED[ONE_NODE])}, "no difference") == "no difference"
