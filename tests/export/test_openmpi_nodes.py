"""Open MPI across nodes: who answers and how, in two files that are read, judged and checked as one decision."""

import json

import numpy as np
import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test, penalty, summarise
from dashboard.export.bundle import files_of
from dashboard.export.components import HAN, TUNED, answers
from dashboard.export.rules import openmpi_han
from dashboard.export.rules.lint import read_file, read_text
from dashboard.export.rules.over import fitted
from dashboard.export.target import ExportError
from dashboard.export.targets.openmpi.nodes import MARK, component_of, joined, parted, to_openmpi_nodes, word_of
from dashboard.export.targets.openmpi.plan import figures
from dashboard.export.targets.openmpi.rules import to_openmpi
from dashboard.export.targets.preload.library import to_preload
from dashboard.export.usage import han_name
from dashboard.export.writing import Order, write
from tests.cubes import cube_of
from tests.export.trees import random_decision, random_sizes

DEFAULT = Method("default", "default", 0, {"library_id": 0})
COMPONENTS = [Method(name, name) for name in ("han", "tuned", "basic", "adapt")]
SIMPLE = Method("han variant=simple", "han", 0, {"variant": "simple"})
BINOMIAL, PIPELINE = Method("binomial", "binomial", 0, {"library_id": 6}), Method("pipeline 8KiB", "pipeline", 8192)


def mixed(collective: str, seed: int) -> DecisionFunction:
    """A random decision over algorithms of tuned and components."""
    drawn = random_decision(collective, seed, depth=5)
    random = np.random.default_rng(seed)
    others = [*COMPONENTS, SIMPLE]
    methods = [others[random.integers(5)] if random.random() < 0.5 else method for method in drawn.methods]
    return DecisionFunction(collective, methods, drawn.tree, provenance=drawn.provenance)


def meant(decision: DecisionFunction, comm: np.ndarray, message: np.ndarray) -> list[str]:
    """What answers at each pair of sizes; of tuned which algorithm."""
    words = []
    for method in (decision.methods[place] for place in decision.predict(comm, message)):
        word = word_of(method, decision.collective)
        number = method.parameters.get("library_id") or 0
        words.append(f"tuned {number} {method.segment_size if number else 0}" if word == TUNED else word)
    return words


@pytest.mark.parametrize("version", ["5.0", "6.0"])
@pytest.mark.parametrize(("collective", "seed"), [("bcast", 1), ("reduce", 2), ("allreduce", 3), ("bcast", 4)])
def test_both_files_together_decide_as_the_decision_function_on_100000_points(
    collective: str, seed: int, version: str
) -> None:
    decision = mixed(collective, seed)
    text = to_openmpi_nodes(decision, version=version)
    # The JSON of 6 is read by tuned alone; who answers stands in HAN's rules there as well.
    assert (json.loads(parted(text)[0])["module"] == "tuned") if version == "6.0" else text.startswith("#")
    read = read_text(text, version=version)
    assert read.format == "openmpi-nodes"
    assert not read.errors
    comm, message = random_sizes(seed, 100_000)
    assert meant(read.decisions[collective], comm, message) == meant(decision, comm, message)


def test_each_file_is_read_by_itself_too() -> None:
    first, second = parted(to_openmpi_nodes(mixed("bcast", 5)))
    assert read_text(first).format == "openmpi-1"
    han = read_text(second)
    assert han.format == "openmpi-han"
    assert {method.algorithm for method in han.decisions["bcast"].methods} <= {"han", "tuned", "basic", "adapt"}
    assert read_text(joined(first, second)).format == "openmpi-nodes"
    names = [han_name(name) for name in ("out/rules.conf", "out.d/rules", "out.d/v1.2.conf")]
    assert names == ["out/rules-han.conf", "out.d/rules-han", "out.d/v1.2-han.conf"]
    assert [name for name, _ in files_of("rules.conf", joined(first, second))] == ["rules.conf", "rules-han.conf"]


@pytest.mark.parametrize(("version", "name"), [("5.0", "x.conf"), ("6.0", 'of "mine".json')])
def test_the_first_file_names_the_second(version: str, name: str) -> None:
    files = files_of(f"out/{name}", to_openmpi_nodes(mixed("bcast", 5), version=version))
    first = files[0][1]
    head = " ".join(json.loads(first)["comment"]) if version == "6.0" else first
    assert f"coll_han_dynamic_rules_filename {han_name(name)}" in head
    assert "coll ^han" not in head
    assert "--mca coll ^hcoll,ucc)" in head


def test_both_files_in_one_are_an_error_at_the_line_where_the_second_begins() -> None:
    first, second = parted(to_openmpi_nodes(mixed("bcast", 5)))
    text = joined(first, second)
    read = read_file(text)
    (fault,) = (fault for fault in read.faults if fault.severity == "error")
    assert (fault.line, "no library reads both" in fault.effect) == (text.count("\n", 0, text.index(MARK)) + 1, True)
    assert (read.decisions, list(read.meant)) == ({}, ["bcast"])
    assert not read_file(first).errors
    assert not read_file(second).errors


def test_what_either_file_does_not_say_is_said_of_the_export_as_in_its_head() -> None:
    two = DecisionFunction("allgather", [Method("two_proc", "two_proc"), COMPONENTS[0]], Leaf(0))
    long = DecisionFunction("bcast", [Method("han 8KiB", "han", 8192)], Leaf(0))
    written = write(Order("openmpi-nodes", (two, long), {}))
    notes = [note for part in written.parts for note in part.notes]
    assert [note.split()[0] for note in notes] == ["The", "HAN's"]
    head = " ".join(written.text.replace("\n#", "").split())
    assert all(note in head for note in notes)


def test_of_what_han_s_rules_do_not_name_han_decides_whatever_the_rules_of_tuned_say() -> None:
    first, second = parted(to_openmpi_nodes([mixed("bcast", 5), mixed("reduce", 6)]))
    alone = parted(to_openmpi_nodes(mixed("bcast", 5)))[1]
    read = read_text(joined(first, alone))
    assert [method.algorithm for method in read.decisions["reduce"].methods] == ["han"]
    assert [fault.text for fault in read.faults] == ["HAN's rules say nothing of reduce"]
    assert not read_text(joined(first, second)).faults


def test_the_library_s_own_decision_across_nodes_is_han_s() -> None:
    decision = DecisionFunction("bcast", [DEFAULT, BINOMIAL], Split((Test("message_size", 4095),), (Leaf(0), Leaf(1))))
    first, second = parted(to_openmpi_nodes(decision))
    rules = [line.split(" #")[0] for line in second.splitlines() if not line.startswith("#")]
    assert rules == ["1", "7", "1", "2", "1", "1", "2", "0 han", "4096 tuned"]
    assert "4096 6 0 0" in first
    assert component_of(DEFAULT, "alltoall") == TUNED


def cube(*methods: tuple[Method, list[float]]):  # noqa: ANN201 - of xarray
    """Times of methods at 8 processes, by message size."""
    made = cube_of(np.array([[times] for _, times in methods]), [8], [8 << (4 * n) for n in range(len(methods[0][1]))])
    made = made.assign_coords(
        method=[method.label for method, _ in methods],
        algorithm=("method", [method.algorithm for method, _ in methods]),
        segment_size=("method", [method.segment_size for method, _ in methods]),
        library_id=("method", [int(method.parameters.get("library_id", -1)) for method, _ in methods]),
    )
    return made.assign_attrs(library="Open MPI", library_version="5.0.11")


#: As measured on four nodes of two ranks: HAN's broadcast of few bytes is five times as fast as tuned's own.
MEASURED = cube(
    (DEFAULT, [155e-6, 200e-6, 9e-3]),
    (COMPONENTS[0], [155e-6, 200e-6, 9e-3]),
    (COMPONENTS[1], [885e-6, 900e-6, 5e-3]),
    (BINOMIAL, [400e-6, 300e-6, 4e-3]),
)


def test_over_measurements_rules_of_tuned_alone_cost_what_they_cost() -> None:
    own = DecisionFunction("bcast", [DEFAULT], Leaf(0), provenance={"library": "Open MPI"})
    alone = read_text(to_openmpi(own)).decisions["bcast"]
    # Algorithm 0 with HAN switched off is tuned's own decision, not what "default" measured.
    assert fitted(alone, MEASURED, "5.0").methods[0].label == "tuned"
    assert summarise(penalty(MEASURED, fitted(alone, MEASURED, "5.0"))).mean > 100


@pytest.mark.parametrize(
    ("methods", "label"), [([DEFAULT, BINOMIAL], "default"), ([COMPONENTS[0], COMPONENTS[1]], "han")]
)
def test_what_rules_of_tuned_do_not_reach_is_written_and_judged_as_what_they_do(
    methods: list[Method], label: str
) -> None:
    root = Split((Test("message_size", 1000),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction("bcast", methods, root, provenance={"library": "Open MPI"})
    text = to_openmpi(decision, cubes={"bcast": MEASURED})
    head = " ".join(text.replace("\n#", "").split())
    assert f"{label!r}; written instead, what costs least there: binomial" in head
    rules = read_text(text).decisions["bcast"]
    assert f"of these rules: {figures(summarise(penalty(MEASURED, fitted(rules, MEASURED, '5.0'))))}" in head


def test_two_measurements_of_the_library_s_own_decision_are_one_rule() -> None:
    # Of alltoall HAN answers nothing, so that tuned's own decision is the library's.
    both = cube((DEFAULT, [1e-6, 2e-6, 3e-6]), (COMPONENTS[1], [2e-6, 1e-6, 3e-6]), (BINOMIAL, [4e-6, 4e-6, 4e-6]))
    root = Split((Test("message_size", 1000),), (Leaf(1), Leaf(0)))
    text = to_openmpi(
        DecisionFunction("alltoall", [DEFAULT, COMPONENTS[1]], root),
        cubes={"alltoall": both.assign_attrs(collective="alltoall")},
    )
    assert [line for line in text.splitlines() if not line.startswith("#")][-1] == "0 0 0 0 # default"


def test_an_export_across_nodes_says_and_costs_what_was_decided() -> None:
    best = DecisionFunction(
        "bcast",
        [COMPONENTS[0], BINOMIAL],
        Split((Test("message_size", 1000),), (Leaf(0), Leaf(1))),
        provenance={"comm_size": [8, 8]},
    )
    written = write(Order("openmpi-nodes", (best,), {"bcast": MEASURED}))
    (part,) = written.parts
    assert part.loss == 0
    assert part.otherwise == 0
    assert part.after is not None
    assert part.after.mean == pytest.approx(0)
    alone = write(Order("openmpi", (best,), {"bcast": MEASURED})).parts[0]
    assert alone.loss > 50
    assert alone.costs


def test_rules_say_han_s_algorithm_and_what_they_cannot_say_of_its_segments_is_said() -> None:
    long = Method("han 8KiB", "han", 8192)
    two = DecisionFunction("bcast", [SIMPLE, long], Split((Test("message_size", 100),), (Leaf(0), Leaf(1))))
    text = parted(to_openmpi_nodes(two))[1]
    assert "0 han @simple # number 6\n101 han # number 6\n" in text
    assert "where 8192 was decided, coll_han_bcast_segsize is taken" in " ".join(text.split("\n# "))
    alone = parted(to_openmpi_nodes(DecisionFunction("bcast", [long], Leaf(0))))[1]
    assert "--mca coll_han_bcast_segsize 8192 says it for all calls" in " ".join(alone.split("\n# "))
    # Over measurements, what the segments gained is lost.
    measured = cube((COMPONENTS[0], [4e-3, 9e-3]), (SIMPLE, [2e-3, 9e-3]), (long, [4e-3, 3e-3]))
    measured = measured.assign_coords(variant=("method", ["", "simple", ""]))
    part = write(Order("openmpi-nodes", (two,), {"bcast": measured})).parts[0]
    assert part.loss == pytest.approx(100)


def test_components_that_han_takes_at_its_start_are_said_beside_its_rules_and_counted_as_lost() -> None:
    within = Method("han low=sm", "han", 0, {"low": "sm"})
    both = Method("han low=sm up=adapt", "han", 0, {"low": "sm", "up": "adapt"})
    alone, two = (
        DecisionFunction("bcast", [within], Leaf(0)),
        DecisionFunction("bcast", [within, both], Split((Test("message_size", 100),), (Leaf(0), Leaf(1)))),
    )
    heads = [" ".join(parted(to_openmpi_nodes(each))[1].replace("\n#", "").split()) for each in (alone, two)]
    assert "bcast: The components that HAN takes within nodes and between them" in heads[0]
    assert "--mca coll_han_bcast_low_module 1 says it for all calls" in heads[0]
    assert "up_module 1 was decided, what the job sets for all calls is taken" in heads[1]
    measured = cube((COMPONENTS[0], [4e-3, 9e-3]), (within, [2e-3, 9e-3]))
    measured = measured.assign_coords(low=("method", ["", "sm"]))
    assert write(Order("openmpi-nodes", (alone,), {"bcast": measured})).parts[0].loss == pytest.approx(50)
    with pytest.raises(ExportError, match="low=sm"):
        to_preload(alone)


def test_a_component_that_open_mpi_6_lacks_is_left_to_han_or_refused() -> None:
    """There ``coll_han_bcast_low_module 1`` is no sm, which is gone."""
    methods = [
        Method(f"han low=sm{up}", "han", 0, {"low": "sm", **said})
        for up, said in (("", {}), (" up=adapt", {"up": "adapt"}))
    ]
    for method in methods:
        alone = DecisionFunction("bcast", [method], Leaf(0))
        head = " ".join(parted(to_openmpi_nodes(alone, version="6.0"))[1].replace("\n#", "").split())
        assert "Open MPI 6.0 has no sm for HAN within nodes: where low=sm was decided, HAN takes what it likes" in head
        assert "low_module" not in head
        assert "low_module 1" in to_openmpi_nodes(alone, version="5.0")
    measured = cube((COMPONENTS[0], [4e-3, 9e-3]), (methods[0], [2e-3, 9e-3])).assign_coords(low=("method", ["", "sm"]))
    part = write(
        Order("openmpi-nodes", (DecisionFunction("bcast", methods[:1], Leaf(0)),), {"bcast": measured}, version="6.0")
    ).parts[0]
    assert part.loss == pytest.approx(50)
    assert any("has no sm" in note for note in part.notes)
    with pytest.raises(ExportError, match=r"Open MPI 6\.0 has no component sm, which was decided for bcast"):
        to_openmpi_nodes(DecisionFunction("bcast", [Method("sm", "sm")], Leaf(0)), version="6.0")


def test_what_han_does_not_answer_is_left_to_the_rules_of_tuned() -> None:
    drawn = random_decision("alltoall", 1)
    for decisions in ([drawn], [drawn, mixed("bcast", 1)]):
        read = read_text(to_openmpi_nodes(decisions))
        assert not read.faults
        comm, message = random_sizes(1, 1000)
        assert meant(read.decisions["alltoall"], comm, message) == meant(drawn, comm, message)
    alone = read_text(to_openmpi_nodes(drawn)).decisions
    assert [method.algorithm for method in alone["bcast"].methods] == ["han"]


def test_what_cannot_be_said_is_refused() -> None:
    with pytest.raises(ExportError, match=r"only from Open MPI 5\.0 on, not in 4\.1"):
        to_openmpi_nodes(mixed("bcast", 1), version="4.1")


@pytest.mark.parametrize(
    ("rules", "message", "kept"),
    [
        ("1 bcast 1 2 2 1 1 0 han 8 1 0 tuned", "", 2),
        ("1 7 1 2 1 1 2 0 6 4096 3", "", 2),
        ("1 bcast 1 2 1 2 1 0 han", "'2' is read as a communicator size of bcast, expected 1 to 1", 0),
        ("1 bcast 1 2 1 1 1 8 han", "'8' is read as a message size of bcast, expected 0 to 0", 0),
        ("1 bcast 1 2 2 1 1 0 han 8 1 0 tunes", "'tunes' is read as a component", 1),
        ("1 bcast 1 3 1 1 1 0 han", "a topological level of bcast, expected 0 to 2", 0),
        # As 5.0.11 reads them: a blank before the @ and none behind it; numbers are of the same list.
        ("1 bcast 1 2 1 1 2 0 han @simple 4096 han @1", "", 2),
        ("1 bcast 1 2 1 1 1 0 han@simple", "'han@simple' is read as a component", 0),
        (
            "1 barrier 1 2 1 1 1 0 han @intra",
            "'@intra' is read as an algorithm of HAN for barrier, expected @ and simple",
            0,
        ),
        ("1 brodcast 1 2 1 1 1 0 han", "'brodcast' is read as a collective", 0),
        ("2 bcast 1 2 1 1 1 0 han", "'' is read as a collective", 1),
        ("1 bcast 1 2 1 1 2 0 han 4096", "'' is read as a component", 0),
        ("1 alltoall 1 2 1 1 1 0 han", "HAN does not choose for alltoall", 0),
        ("1 bcast 1 2 1 1 1 0 han 5", "beyond the declared number of collectives", 1),
        ("1 bcast 1 2 x", "'x' is read as the number of communicator sizes", 0),
    ],
)
def test_of_han_s_rules_what_stands_before_a_fault_acts(rules: str, message: str, kept: int) -> None:
    han = openmpi_han.read(rules)
    said = " ".join(fault.text for fault in han.faults)
    assert message in said if message else not han.faults
    assert sum(decision.leaves for decision in han.decisions.values()) == kept
    if "@1" in rules:
        assert [method.label for method in han.decisions["bcast"].methods] == [
            "han variant=simple",
            "han variant=intra",
        ]


def test_the_component_that_was_selected_last_and_can_answers() -> None:
    assert answers(["basic", "libnbc", "tuned", "han"], "bcast") == HAN
    assert answers(["basic", "libnbc", "tuned", "han"], "alltoall") == TUNED
    assert answers(["basic", "tuned", "han", "libnbc"], "bcast") == HAN
    assert answers(["libnbc"], "bcast") == ""
    # hcoll has no gather (coll_hcoll_module.c); what copies the buffers of GPUs hands calls on.
    assert answers(["tuned", "han", "cuda", "hcoll"], "bcast") == "hcoll"
    assert answers(["tuned", "han", "cuda", "hcoll"], "gather") == HAN


@pytest.mark.parametrize(
    ("method", "component"),
    [
        (DEFAULT, HAN),
        (Method("default", "default"), HAN),
        (Method("default", "default", 0, {"library_id": 3}), TUNED),
        (Method("basic", "basic"), "basic"),
        (Method("basic", "basic", 0, {"library_id": -1}), "basic"),
        (Method("basic", "basic", 0, {"library_id": 1}), TUNED),
    ],
    ids=repr,
)
def test_what_has_a_number_of_tuned_is_tuned_s(method: Method, component: str) -> None:
    assert component_of(method, "bcast") == component


def test_han_s_segments_are_not_those_of_all_calls_where_its_own_decision_is_taken_too() -> None:
    tree = Split((Test("message_size", 100),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction("bcast", [DEFAULT, Method("han 8KiB", "han", 8192)], tree)
    head = " ".join(parted(to_openmpi_nodes(decision))[1].replace("\n#", "").split())
    assert "none of its rules: where 8192 was decided, coll_han_bcast_segsize is taken" in head
