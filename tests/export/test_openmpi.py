"""Open MPI rules, written and read again by a reader of its own that does as the library does."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test, decision_map, exact, penalty, summarise
from dashboard.decisions.function.cutting import within_measured
from dashboard.export.library_names import COMPARED
from dashboard.export.remarks import wrapped
from dashboard.export.rules.lint import read_text
from dashboard.export.rules.over import fitted
from dashboard.export.target import ExportError
from dashboard.export.targets.openmpi.json_file import to_openmpi_json
from dashboard.export.targets.openmpi.nodes import to_openmpi_nodes
from dashboard.export.targets.openmpi.rules import to_openmpi
from tests.cubes import cube_of, named, synthetic_cube
from tests.export.trees import HIGHEST, choices, halves, random_decision, random_sizes

FACTS = {"date": "2026-11-21", "version": "0.1"}
SIZED = [name for name, compared in COMPARED.items() if compared != "nothing"]


@pytest.mark.parametrize("collective", SIZED)
def test_version_1_decides_as_the_decision_function_on_100000_points(collective: str) -> None:
    decision = random_decision(collective, seed=len(collective), depth=5)
    text = to_openmpi(decision, provenance=FACTS)
    read = read_text(text)
    # Its rules are not safe for programs that tell a send count at the root only, and both say so.
    unsafe = collective == "scatter"
    faults = [fault for fault in read.faults if fault.severity != "note"]
    assert all("send on different ways" in fault.text for fault in faults) if unsafe else faults == []
    assert ("# Not as decided: Not safe" in text) == unsafe
    comm, message = random_sizes(3, 100_000)
    assert choices(read.decisions[collective], comm, message) == choices(decision, comm, message)


@pytest.mark.parametrize("seed", range(4))
def test_version_2_and_3_decide_as_the_decision_function_on_100000_points(seed: int) -> None:
    collective = ("bcast", "alltoall", "reduce_scatter", "allreduce")[seed]
    decision = random_decision(collective, seed, ("comm_size", "message_size", "even"), depth=5)
    comm, message = random_sizes(seed, 100_000)
    wanted = choices(decision, comm, message)
    second = read_text(to_openmpi(decision, provenance=FACTS, file_version=2))
    assert second.format == "openmpi-2"
    assert choices(second.decisions[collective], comm, message) == wanted
    third = read_text(to_openmpi_json(decision, provenance=FACTS))
    assert [fault for fault in third.faults if fault.severity != "note"] == []
    assert choices(third.decisions[collective], comm, message, "6.0") == wanted


def test_several_collectives_go_into_one_file() -> None:
    decisions = [random_decision(name, seed=1) for name in ("bcast", "allgather", "reduce")]
    read = read_text(to_openmpi(decisions, provenance=FACTS))
    assert sorted(read.decisions) == ["allgather", "bcast", "reduce"]
    with pytest.raises(ExportError, match="2 decision functions for bcast"):
        to_openmpi([decisions[0], decisions[0]])


def test_requests_of_linear_sync_are_said_in_version_2_only() -> None:
    method = Method("linear_sync 8", "linear_sync", 0, {"max_requests": 8})
    decision = DecisionFunction("alltoall", [method], Leaf(0))
    assert "\n0 4 0 0 8 #" in to_openmpi(decision, file_version=2)
    assert "\n0 4 0 0 #" in to_openmpi(decision)
    assert json.loads(to_openmpi_json(decision))["collectives"]["alltoall"][0]["rules"][0]["reqs"] == 8


def test_sizes_of_blocks_become_totals() -> None:
    # One threshold of 1024 bytes per process, measured at 8 processes only: a total of 8192.
    methods = [Method("linear", "linear"), Method("ring", "ring")]
    tree = Split((Test("comm_size", 7),), (Leaf(0), Split((Test("message_size", 1023),), (Leaf(0), Leaf(1)))))
    decision = DecisionFunction("allgather", methods, tree, provenance={"comm_size": [8, 8]})
    rules = [line.split(" #")[0] for line in to_openmpi(decision).splitlines() if not line.startswith("#")]
    assert rules == ["1", "0", "2", "1", "1", "0 1 0 0", "8", "2", "0 1 0 0", "8192 4 0 0"]


def test_comments_tell_where_it_comes_from_and_are_ascii() -> None:
    method = Method("binomial\n7 ü", "binomial")
    decision = DecisionFunction("bcast", [method], Leaf(0), provenance={"system": "cluster\n12 34", "cells": 12})
    text = to_openmpi(decision, provenance={**FACTS, "sources": 3})
    assert text.isascii()
    assert "# Data: 3 sources, 12 measured cells." in text
    assert text.startswith("# Rules for Open MPI 4.x and 5.x")
    assert "colltune 0.1, 2026-11-21" in text
    assert choices(read_text(text).decisions["bcast"], 4, [1, 2]) == choices(decision, 4, [1, 2])


def test_lacking_methods_are_named_and_refused_without_measurements() -> None:
    decision = halves("bcast", ["binomial", "hypercube 8"], 9)
    with pytest.raises(ExportError, match="has no 'hypercube 8'; it has basic_linear, chain"):
        to_openmpi(decision)


def test_a_lacking_method_gets_the_substitute_that_costs_least() -> None:
    names = ["linear", "binomial", "binary", "hypercube", "split_binary", "chain", "scatter_allgather"]
    cube = named(synthetic_cube(6, 10, 7, seed=5), names)
    faster = cube["time"].where(cube["method"] != "hypercube", cube["time"].min("method") * 0.5)
    cube = cube.assign(time=faster)
    text = to_openmpi(exact(decision_map(cube)), cubes={"bcast": cube})
    # hypercube is the best everywhere, so the best substitute is the best single other method.
    ratios = (cube["time"] / cube["time"].min("method")).mean(["comm_size", "message_size"])
    best = str(ratios.drop_sel(method="hypercube").idxmin().values)
    assert f"has no 'hypercube'; written instead, what costs least there: {best}." in " ".join(
        text.replace("\n#", "").split()
    )
    read = read_text(text).decisions["bcast"]
    figures = summarise(penalty(cube, fitted(read, cube, "5.0")))
    assert figures.mean == pytest.approx(100 * (ratios.values[names.index(best)] - 1))


@pytest.mark.parametrize(("size", "best"), [(0, "binomial"), (1, "chain")])
def test_the_substitute_follows_the_workload(size: int, best: str) -> None:
    # Nobody but the hypercube is best anywhere; of the others one loses nothing at the small, one at the large message.
    names = ["hypercube", "binomial", "chain"]
    cube = named(cube_of(np.array([[[1.0, 1.0]], [[2.0, 9.0]], [[9.0, 2.0]]]), [4], [64, 1024]), names)
    weights = np.where(np.arange(2) == size, 9.0, 1.0)[None]
    text = to_openmpi(exact(decision_map(cube)), cubes={"bcast": cube}, weights={"bcast": weights})
    assert f"has no 'hypercube'; written instead, what costs least there: {best}." in " ".join(
        text.replace("\n#", "").split()
    )


@pytest.mark.parametrize("write", [to_openmpi, to_openmpi_json])
def test_a_limit_of_rules_gives_the_best_and_tells_both_penalties(write: Callable[..., str]) -> None:
    cube = synthetic_cube(9, 12, 6, seed=4, noise=0.6)
    decision = exact(decision_map(cube))
    with pytest.raises(ExportError, match="from the measurements only"):
        write(decision, most_rules=5)
    text = write(decision, cubes={"bcast": cube}, most_rules=5)
    read, version = read_text(text), "6.0" if write is to_openmpi_json else "5.0"
    if write is to_openmpi_json:
        assert sum(len(sizes["rules"]) for sizes in json.loads(text)["collectives"]["bcast"]) <= 5
    else:
        assert read.decisions["bcast"].leaves <= 5
    assert [fault for fault in read.faults if fault.severity != "note"] == []
    figures = summarise(penalty(cube, fitted(read.decisions["bcast"], cube, version)))
    remarks = " ".join(text.replace("\n#", "").replace('",\n', "").replace('"', "").split())
    assert "rules would say all of it, at most 5 may be written" in remarks
    assert f"these rules: mean {figures.mean:.4g} %" in remarks
    assert "rules over the measured sizes are written" in remarks


@pytest.mark.parametrize("weights", [{}, {"bcast": np.ones((4, 6))}])
def test_a_file_says_whether_its_penalty_is_weighted(weights: dict[str, np.ndarray]) -> None:
    cube = synthetic_cube(4, 6, 5, seed=4, noise=0.8)
    text = to_openmpi(exact(decision_map(cube)), cubes={"bcast": cube}, most_rules=2, weights=weights)
    remarks = " ".join(text.replace("\n#", "").split())
    assert ("Penalty, weighted by the workload, of" in remarks) == bool(weights)
    assert ("Penalty of" in remarks) == (not weights)


@pytest.mark.parametrize("write", [to_openmpi, to_openmpi_json, to_openmpi_nodes])
@pytest.mark.parametrize("collective", ["bcast", "alltoall"])
def test_a_limit_of_rules_holds_for_those_that_leave_what_lies_beyond_to_the_library(
    write: Callable[..., str], collective: str
) -> None:
    names = {"bcast": ["linear", "binomial"], "alltoall": ["linear", "pairwise"]}[collective]
    cube = named(synthetic_cube(4, 6, 2, seed=4, noise=0.8).assign_attrs(collective=collective), names)
    decision = within_measured(exact(decision_map(cube)))
    text = write(decision, cubes={collective: cube}, most_rules=9)
    read = read_text(text, version="6.0" if write is to_openmpi_json else "5.0").decisions[collective]
    # Across nodes HAN's rules are more.
    assert write is to_openmpi_nodes or 3 < read.leaves <= 9
    comm, message = (cube[name].values.tolist() for name in ("comm_size", "message_size"))
    beyond = [(comm[-1] + 1, message[0]), *((each, message[-1] + 1) for each in comm)]
    left = {read.methods[read.predict_one(*sizes)].algorithm for sizes in beyond}
    # Across nodes the library's own decision is a component's.
    assert left <= {"default", "han", "tuned"}
    with pytest.raises(ExportError, match=r"too few to leave what lies beyond .*--beyond nearest"):
        write(decision, cubes={collective: cube}, most_rules=2)


@pytest.mark.parametrize("collective", ["scatter", "scan"])
def test_where_nothing_can_be_left_to_the_library_by_size_what_helps_is_said(collective: str) -> None:
    names = {"scatter": ["linear", "binomial"], "scan": ["linear", "recursive_doubling"]}[collective]
    cube = named(synthetic_cube(4, 6, 2, seed=4, noise=0.8).assign_attrs(collective=collective), names)
    with pytest.raises(ExportError, match="--beyond nearest"):
        to_openmpi(within_measured(exact(decision_map(cube))), cubes={collective: cube})


@pytest.mark.parametrize(
    ("names", "cut", "numbers"),
    [(["two_proc", "ring"], 4, [6, 0, 0, 4, 4]), (["ring", "two_proc"], 2, [4, 0, 0, 0, 0])],
)
def test_two_proc_never_reaches_three_processes(names: list[str], cut: int, numbers: list[int]) -> None:
    read = read_text(to_openmpi(halves("allgather", names, cut, "comm_size")))
    assert read.faults == ()
    assert [choice.algorithm for choice in choices(read.decisions["allgather"], np.arange(2, 7), 100)] == numbers


def test_collectives_without_rules_are_refused_by_name() -> None:
    with pytest.raises(ExportError, match="takes no rules for gatherv"):
        to_openmpi(DecisionFunction("gatherv", [Method("linear", "linear")], Leaf(0)))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"version": "6.0"}, "openmpi-json"),
        ({"version": "3.1"}, "known are the versions"),
        ({"version": "4.1", "file_version": 2}, "4.1 silently ignores rules of version 2"),
    ],
)
def test_versions_that_would_read_the_file_otherwise_are_refused(options: dict[str, object], reason: str) -> None:
    with pytest.raises(ExportError, match=reason):
        to_openmpi(random_decision("bcast", 1), **options)  # type: ignore[arg-type]


def test_another_library_s_numbers_are_not_taken_for_open_mpi_s() -> None:
    method = Method("binomial", "binomial", 0, {"library_id": 2})
    other = DecisionFunction("bcast", [method], Leaf(0), provenance={"library": "Intel MPI"})
    assert "\n0 6 0 0 #" in to_openmpi(other)
    same = DecisionFunction("bcast", [method], Leaf(0), provenance={"library": "Open MPI"})
    assert "\n0 2 4 0 #" in to_openmpi(same)


def test_all_rules_of_the_largest_measured_communicator_hold_beyond() -> None:
    decision = random_decision("alltoall", seed=8, depth=5)
    read = read_text(to_openmpi(decision))
    last = read.decisions["alltoall"]
    totals = np.array([1 << k for k in range(4, 26)])
    at_end = choices(last, HIGHEST, totals // HIGHEST)
    beyond = choices(last, HIGHEST * 2, totals // HIGHEST // 2)
    assert len(at_end) == len(beyond)


def test_scatter_is_written_as_decided_where_all_of_a_communicator_take_the_same_algorithm() -> None:
    by_processes = Split((Test("comm_size", 4),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction("scatter", [Method(name, name) for name in ("linear", "binomial")], by_processes)
    text = to_openmpi(decision)
    read = read_text(text)
    assert "Not as decided" not in text
    assert [fault for fault in read.faults if fault.severity != "note"] == []
    comm, message = random_sizes(1, 1000)
    assert choices(read.decisions["scatter"], comm, message) == choices(decision, comm, message)


def test_with_measurements_all_rules_of_scatter_are_of_algorithms_that_understand_each_other() -> None:
    names = ["linear", "binomial", "linear_nb"]
    cube = named(synthetic_cube(4, 6, 3, seed=3), names).assign_attrs(collective="scatter")
    decision = exact(decision_map(cube))
    assert {method.algorithm for method in decision.methods} == set(names)
    read = read_text(to_openmpi(decision, cubes={"scatter": cube}))
    assert [fault for fault in read.faults if fault.severity != "note"] == []
    written = {method.algorithm for method in read.decisions["scatter"].methods}
    assert written <= {"basic_linear", "linear_nb"} or written == {"binomial"}


def test_what_is_decided_for_one_process_on_each_node_comes_first_in_version_3() -> None:
    methods = [Method("binomial", "binomial"), Method("linear", "basic_linear")]
    root = Split((Test("ppn", 1),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction("bcast", methods, root, provenance={"ppns": [1, 4]})
    text = to_openmpi_json(decision, provenance=FACTS)
    sets = json.loads(text)["collectives"]["bcast"]
    assert [(band["comm_rank_distribution"], band["rules"][0]["alg"]) for band in sets] == [
        ("one-per-node", 6),
        ("any", 1),
    ]
    assert "Not as decided: Rules do not know processes per node; written for 4, of which alone penalties" in text
    # Over sizes alone the rules for any communicator are what can be shown.
    read = read_text(text, version="6.0").decisions["bcast"]
    assert [read.methods[place].algorithm for place in np.unique(read.predict(8, 64))] == ["basic_linear"]
    alone = DecisionFunction("bcast", methods, root, provenance={"ppns": [2, 4]})
    assert len(json.loads(to_openmpi_json(alone, provenance=FACTS))["collectives"]["bcast"]) == 1


def test_the_head_says_which_versions_read_it() -> None:
    decision = random_decision("bcast", 1)
    assert "# Rules for Open MPI 4.x and 5.x (algorithm" in to_openmpi(decision)
    assert "# Rules for Open MPI 5.0.7 and newer 5.x (algorithm" in to_openmpi(decision, file_version=2)


def test_comments_are_of_a_width_that_people_read() -> None:
    assert list(map(len, wrapped(["word " * 40, "", "    " + "kept " * 40]))) == [109, 93, 0, 203]


def test_the_comment_of_version_3_has_its_use_and_all_collectives() -> None:
    decisions = [random_decision(name, seed=1) for name in ("bcast", "reduce")]
    comment = json.loads(to_openmpi_json(decisions, provenance=FACTS))["comment"]
    assert comment[0] == "Rules for Open MPI 6 and newer, version 3 of the format."
    assert "Generated by colltune 0.1, 2026-11-21. Do not edit: generate it again." in comment
    assert [line for line in comment if line in ("bcast:", "reduce:")] == ["bcast:", "reduce:"]


def test_where_nothing_else_was_measured_the_substitute_is_the_library_s_own_decision() -> None:
    names = ["hypercube", "binomial"]
    cube = named(cube_of(np.array([[[1.0]], [[np.nan]]]), [4], [64]), names)
    decision = DecisionFunction("bcast", [Method("hypercube", "hypercube")], Leaf(0))
    text = to_openmpi(decision, cubes={"bcast": cube})
    head = " ".join(text.replace("\n#", "").split())
    assert "written instead, where nothing that it has was measured: the library's own decision." in head
    assert "of these rules: not known, 1 cell not measured." in head
    assert "\n0 0 0 0 #" in text
