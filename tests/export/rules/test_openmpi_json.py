"""Rules of version 3: what the reader of Open MPI 6 makes of them, by its source and as 6.0.0a1 (bb1c85d) does it."""

import json
import math
from typing import Any

import pytest

from dashboard.export.library_names import Choice
from dashboard.export.rules import RulesError, RulesFile
from dashboard.export.rules.lint import read_text
from tests.export.rules.acting import texts
from tests.export.trees import choices


def rules(collectives: Any, **more: Any) -> RulesFile:
    return read_text(
        json.dumps({"rule_file_version": 3, "module": "tuned", "collectives": collectives, **more}, indent=1)
    )


def chosen(read: RulesFile, comm_size: int, message_size: int) -> Choice:
    (choice,) = choices(read.decisions["bcast"], [comm_size], [message_size], "6.0")
    return choice


def test_the_first_set_and_the_first_rule_that_fit_act_and_nothing_else_does() -> None:
    read = rules(
        {
            "bcast": [
                {"comm_size_min": 4, "comm_size_max": 8, "rules": [{"msg_size_max": 99, "alg": "binomial"}]},
                {"comm_size_max": 6, "rules": [{"msg_size_min": 50, "alg": 3, "seg_size": 1024}, {"alg": 1}]},
            ]
        }
    )
    assert [fault.severity for fault in read.faults] == ["note"] * 3
    assert "bcast, comm_size 0 to 6: some of it is decided before it (line 6)" in texts(read)
    assert "bcast, comm_size 9 and above: no rule → the library decides by itself" in texts(read)
    assert "bcast, msg_size 100 and above: no rule → the library decides by itself" in texts(read)
    assert [chosen(read, 4, size).algorithm for size in (0, 99, 100)] == [6, 6, 0]
    assert [chosen(read, 3, size) for size in (49, 50)] == [Choice(1), Choice(3, 0, 1024)]
    assert chosen(read, 9, 10) == Choice(0)


def test_a_module_that_is_misspelt_is_told() -> None:
    read = rules({"bcast": [{"rules": [{"alg": 1}]}]}, module="tuend")
    assert texts(read) == "line 3: note: module is 'tuend', expected 'tuned' → not looked at"
    assert rules({"bcast": [{"rules": [{"alg": 1}]}]}).faults == ()


def test_there_are_no_regions_above_the_largest_communicator_that_there_is() -> None:
    decision = rules({"bcast": [{"rules": [{"msg_size_max": 1024, "alg": 1}, {"alg": 6}]}]}).decisions["bcast"]
    assert [rule.bounds for rule in decision.rules()] == [
        {"message_size": (-math.inf, 1024)},
        {"message_size": (1024, math.inf)},
    ]


@pytest.mark.parametrize(("name", "right"), [("reducescatter", "reduce_scatter"), ("nonsense", ""), ("Bcast", "")])
def test_a_collective_that_it_does_not_know_costs_the_whole_file(name: str, right: str) -> None:
    read = rules({"bcast": [{"rules": [{"alg": 1}]}], name: []})
    assert read.decisions == {}
    assert right in texts(read)
    assert "silently ignores the whole file" in texts(read)


def test_the_converter_s_and_the_schema_s_keys_are_not_looked_at() -> None:
    read = rules({"bcast": [{"rules": [{"alg": 3, "segsize": 1024}]}]})
    assert "'segsize' in a rule of bcast is no known key; the library reads 'seg_size'" in texts(read)
    assert chosen(read, 4, 4) == Choice(3)


def test_a_rule_may_leave_it_to_the_library_by_name() -> None:
    read = rules({"bcast": [{"rules": [{"alg": "ignore"}]}]})
    assert read.faults == ()
    assert chosen(read, 4, 4) == Choice(0)


@pytest.mark.parametrize("alg", [99, "hypercube", -1])
def test_a_rule_with_an_unknown_algorithm_never_acts(alg: object) -> None:
    read = rules({"bcast": [{"rules": [{"alg": alg}, {"alg": 2}]}]})
    assert chosen(read, 4, 4) == Choice(2)
    assert "it has 1 basic_linear, 2 chain, 3 pipeline, " in texts(read)
    assert "this rule never acts" in texts(read)


def test_a_fan_out_with_which_a_call_never_ends_is_an_error() -> None:
    # Seen with 6.0.0a1 (v6.0.x, bb1c85d).
    for collective, name in (("allgather", "bruck-k-fanout"), ("reduce", "knomial")):
        small, enough = (rules({collective: [{"rules": [{"alg": name, "faninout": fan}]}]}) for fan in (1, 2))
        assert f"error: fan-out 1 for {name}, expected 2 or more → the call never ends" in texts(small)
        assert "fan-out" not in texts(enough)
        (method,) = enough.decisions[collective].methods
        assert (method.algorithm, method.parameters["fan_out"]) == (name, 2)
    # As rules of 5.0 say it, where Bruck's takes none.
    bruck = "1\n0 # allgather\n1\n0\n1\n0 2 0 0\n"
    assert ["never ends" in texts(read_text(bruck, version=version)) for version in ("5.0", "6.0")] == [False, True]


@pytest.mark.parametrize("rule", [{}, {"alg": None}, {"alg": [1]}, {"alg": 1.5}])
def test_a_rule_without_algorithm_leaves_it_to_the_library(rule: dict[str, Any]) -> None:
    read = rules({"bcast": [{"rules": [rule]}]})
    assert chosen(read, 4, 4) == Choice(0)
    assert read.errors == 1


@pytest.mark.parametrize(
    "collectives",
    [
        {"bcast": {}},
        {"bcast": [{}]},
        {"bcast": [{"rules": {}}]},
        [],
        {"bcast": [{"rules": [{"alg": 1, "seg_size": "big"}]}]},
        {"bcast": [{"rules": [{"alg": 1, "msg_size_max": 2**63}]}]},
        {"bcast": [{"comm_rank_distribution": None, "rules": [{"alg": 1}]}]},
    ],
)
def test_wrong_shapes_are_dropped(collectives: Any) -> None:
    read = rules(collectives)
    assert read.errors
    assert read.decisions == {}


def test_ranges_the_wrong_way_round_and_unknown_distributions_are_named() -> None:
    sets = [
        {
            "comm_size_min": 9,
            "comm_size_max": 2,
            "comm_rank_distribution": "near",
            "rules": [{"msg_size_min": 9, "msg_size_max": 1, "alg": 1}],
        }
    ]
    read = rules({"bcast": sets})
    assert "bcast, comm_size_min 9 is above comm_size_max 2 → never acts" in texts(read)
    assert "bcast, msg_size_min 9 is above msg_size_max 1 → never acts" in texts(read)
    assert "taken as any" in texts(read)
    assert "any, one-per-node, single-node" in texts(read)


def test_a_comma_after_the_last_is_taken() -> None:
    read = read_text('{"collectives": {"bcast": [{"rules": [{"alg": 6},],},],},}')
    assert (read.faults, chosen(read, 4, 4)) == ((), Choice(6))


@pytest.mark.parametrize("alg", ["Binomial", "6"])
def test_names_are_taken_in_any_letters_and_numbers_as_words(alg: str) -> None:
    assert chosen(rules({"bcast": [{"rules": [{"alg": alg}]}]}), 4, 4) == Choice(6)


@pytest.mark.parametrize("most", ["inf", 2**31])
def test_a_set_up_to_more_processes_than_an_int_holds_never_acts(most: object) -> None:
    read = rules({"bcast": [{"comm_size_max": most, "rules": [{"alg": 6}]}]})
    assert "for no limit leave it out → the library takes -" in texts(read)
    assert "never acts" in texts(read)
    assert chosen(read, 4, 4) == Choice(0)


def test_message_sizes_below_0_are_above_all_others() -> None:
    read = rules({"bcast": [{"rules": [{"msg_size_min": -4, "alg": 1}, {"msg_size_max": -4, "alg": 6}]}]})
    assert chosen(read, 4, 4) == Choice(6)


@pytest.mark.parametrize("name", ["gatherv", "alltoallw", "neighbor_allgather"])
def test_rules_for_what_tuned_has_no_algorithms_for_crash_every_program(name: str) -> None:
    read = rules({"bcast": [{"rules": [{"alg": 6}]}], name: [{"rules": [{"alg": 0}]}]})
    assert f"error: rules for {name}, " in texts(read)
    assert "every program crashes at its start" in texts(read)
    assert read.decisions == {}
    assert not rules({name: [{"rules": []}]}).errors


@pytest.mark.parametrize("key", ["msg_size_min", "msg_size_max", "seg_size", "faninout", "reqs"])
def test_numbers_below_0_are_errors(key: str) -> None:
    read = rules({"bcast": [{"rules": [{key: -4, "alg": 1}]}]})
    assert f"error: {key} is -4, expected a number from 0" in texts(read)
    assert "comm_size_min is -1" in texts(rules({"bcast": [{"comm_size_min": -1, "rules": [{"alg": 1}]}]}))


def test_sets_and_rules_for_sizes_that_are_decided_before_them_are_named() -> None:
    first = {"comm_size_max": 8, "rules": [{"msg_size_max": 9, "alg": 1}, {"alg": 6}, {"msg_size_min": 5, "alg": 1}]}
    special = {"comm_rank_distribution": "single-node", "rules": [{"alg": 1}]}
    last = {"comm_size_min": 9, "rules": [{"alg": 1}]}
    nowhere = {"comm_size_min": 4, "comm_size_max": 40, "rules": [{"alg": 1}]}
    warnings = [str(fault) for fault in rules({"bcast": [special, first, last, nowhere]}).faults]
    texts_of = [text.partition("warning: ")[2] for text in warnings if "warning" in text]
    assert [text.partition(" (")[0] for text in texts_of] == [
        "bcast, msg_size 5 and above: all of it is decided before it",
        "bcast, comm_size 4 to 40: all of it is decided before it",
    ]
    # Another placement leaves all others to what comes after it.
    assert "decided before" not in texts(rules({"bcast": [special, {"rules": [{"alg": 1}]}]}))
    assert "decided before" in texts(rules({"bcast": [{"rules": [{"alg": 1}]}, special]}))


def test_rules_are_counted_as_they_stand_and_what_they_share_and_leave_is_said() -> None:
    low, high = {"msg_size_max": 1024, "alg": 6}, {"msg_size_min": 512, "msg_size_max": 4096, "alg": 3}
    read = rules({"bcast": [{"comm_size_min": 2, "rules": [low, high]}]})
    assert read.count("bcast") == 2
    assert [fault.severity for fault in read.faults] == ["note"] * 2
    assert "bcast, msg_size 512 to 4096: some of it is decided before it" in texts(read)
    assert "the first that fits" in texts(read)
    assert "bcast, msg_size 4097 and above: no rule" in texts(read)
    assert [chosen(read, 4, size).algorithm for size in (512, 1024, 1025, 4097)] == [6, 6, 3, 0]
    between = {"msg_size_min": 2048, "alg": 3}
    assert "msg_size 1025 to 2047: no rule" in texts(rules({"bcast": [{"rules": [between, low]}]}))
    # One for all the rest shares no range with others, and a barrier has no sizes.
    assert rules({"bcast": [{"rules": [low, {"alg": 1}]}]}).faults == ()
    assert rules({"barrier": [{"rules": [{"msg_size_max": 0, "alg": 3}]}]}).faults == ()


def test_lines_are_those_of_the_file() -> None:
    lines = '{"collectives":\n {"bcast": [\n  {"rules": [\n   {"alg": 77},\n'
    read = read_text(f'{lines} {{"msg_size_max": -2, "alg": 1}}]}}]}}}}')
    assert [fault.line for fault in read.faults if fault.severity != "note"] == [4, 5]


@pytest.mark.parametrize(
    "text", ['{"collectives": {}', '{"collectives": {},,}', '{"collectives": {"a" 1}}', '{"collectives": \x01}']
)
def test_broken_json_is_a_fault_with_its_line(text: str) -> None:
    read = read_text(text)
    assert read.errors == 1
    assert read.faults[0].line == 1
    assert "not JSON" in read.faults[0].text


def test_other_json_is_refused_with_its_name() -> None:
    for text, reason in (
        ('{"$defs": {}}', "a JSON schema"),
        ('{"root": 1, "methods": []}', "saved decision"),
        ("{}", "JSON without"),
    ):
        with pytest.raises(RulesError, match=reason):
            read_text(text)
    with pytest.raises(RulesError, match="nested more than"):
        read_text('{"a":' * 200)


def test_a_rule_without_algorithm_is_named_by_its_collective() -> None:
    assert "error: a rule of bcast has no 'alg' → the library decides" in texts(rules({"bcast": [{"rules": [{}]}]}))
