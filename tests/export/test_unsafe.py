"""Methods that are known to be wrong are decided nowhere and written into no file, and that is said."""

import json
from typing import Any

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.export import TARGETS, ExportError
from dashboard.export.known_faults import known_fault
from dashboard.export.rules.lint import read_text
from dashboard.export.unsafe import (
    CHECKED,
    LEFT_OUT,
    is_unsafe,
    limits,
    not_written,
    of_other_library,
    only_commutative,
    safe,
    unsafe_methods,
    without_unsafe,
)
from dashboard.export.writing import Order, write
from tests.cubes import cube_of, named

MADE_BY = {"library": "Open MPI", "library_version": "5.0.11"}


def decision(collective: str, algorithm: str, number: int, **facts: Any) -> DecisionFunction:
    method = Method(algorithm, algorithm, 0, {"library_id": number})
    return DecisionFunction(collective, [method], Leaf(0), provenance={**MADE_BY, **facts})


def measured(names: list[str], **attrs: Any) -> xr.Dataset:
    """Results of an allgather at two sizes where the first method is the fastest."""
    time = np.arange(1.0, len(names) + 1)[:, None, None] * np.ones((1, 1, 2))
    return named(cube_of(time, [4], [8, 64], **{"collective": "allgather", **MADE_BY, **attrs}), names)


@pytest.mark.parametrize("target", ["json", "python", "openmpi"])
def test_what_takes_its_place_is_the_best_of_the_others_whatever_is_written(target: str) -> None:
    cube = measured(["sparbit", "bruck", "ring"])
    text = write(Order(target, (decision("allgather", "sparbit", 7),), {"allgather": cube})).text
    if target == "python":
        made: dict[str, Any] = {}
        exec(text, made)  # noqa: S102 - what was written
        chosen = made["colltune_allgather_methods"][made["colltune_allgather"](4, 8)]
    else:
        read = read_text(text).decisions["allgather"] if target == "openmpi" else DecisionFunction.from_json(text)
        chosen = read.methods[read.predict_one(4, 8)].label
    assert chosen == "bruck"


@pytest.mark.parametrize("target", ["openmpi", "openmpi-json", "c", "c-table", "python", "json"])
def test_no_target_writes_an_algorithm_that_gives_wrong_results(target: str) -> None:
    text = TARGETS[target].write([decision("allgather", "sparbit", 7)])
    assert "not written: 'sparbit'" in " ".join(text.replace("#", " ").replace("*", " ").split())
    if target == "openmpi":
        read = read_text(text)
        assert not read.errors
        assert [method.parameters["library_id"] for method in read.decisions["allgather"].methods] == [0]


@pytest.mark.parametrize("algorithm", ["ring", "pairwise"])
def test_what_another_library_was_measured_with_is_written_in_no_place_where_it_stops_programs(algorithm: str) -> None:
    # The version is that of Open MPI, and MPICH's pairwise is what its files say for a ring.
    other = safe(decision("reduce_scatter", algorithm, 3), "mpich", {})
    assert not_written(other).startswith(f"'{algorithm}', ")
    assert [other.methods[place].algorithm for place in other.used] == ["default"]
    # Versions of MPICH that lack the fault keep it.
    mended = decision("reduce_scatter", "pairwise", 3, library="MPICH", library_version="5.1.0")
    assert not not_written(safe(mended, "mpich", {}))


def test_with_measurements_the_best_of_the_others_takes_its_place() -> None:
    cube = measured(["sparbit", "ring", "bruck"])
    read = read_text(TARGETS["openmpi"].write([decision("allgather", "sparbit", 7)], cubes={"allgather": cube}))
    assert {int(method.parameters["library_id"]) for method in read.decisions["allgather"].methods} == {4}


@pytest.mark.parametrize("target", ["openmpi", "preload"])
def test_what_takes_its_place_follows_the_workload(target: str) -> None:
    cube = measured(["sparbit", "ring", "bruck"])
    cube["time"].values[1:, 0] = [2.0, 9.0], [9.0, 2.5]
    for weights, penalty in (([[1.0, 0.0]], 100.0), ([[0.0, 1.0]], 150.0)):
        sparbit = decision("allgather", "sparbit", 7)
        (part,) = write(Order(target, (sparbit,), {"allgather": cube}, {"allgather": np.array(weights)})).parts
        assert part.after is not None
        assert part.after.mean == pytest.approx(penalty)


@pytest.mark.parametrize("target", ["openmpi", "openmpi-json", "openmpi-nodes"])
def test_neither_is_it_among_the_best_of_so_many_rules(target: str) -> None:
    cube = measured(["sparbit", "ring", "bruck"])
    cube["time"].values[1:, 0, 1] = 3.0, 2.0
    methods = [Method("sparbit", "sparbit", 0, {"library_id": 7}), Method("ring", "ring"), Method("bruck", "bruck")]
    changing = Split((Test("message_size", 8),), (Leaf(1), Leaf(2)))
    decided = DecisionFunction("allgather", methods, changing, provenance=MADE_BY)
    text = TARGETS[target].write([decided], cubes={"allgather": cube}, most_rules=1)
    rules = read_text(text, version="6.0" if target == "openmpi-json" else "5.0")
    assert not rules.errors
    assert 7 not in {method.parameters.get("library_id") for method in rules.decisions["allgather"].methods}


def test_of_a_tree_of_several_collectives_it_is_replaced_only_where_it_is_wrong() -> None:
    together = {"allgather": measured(["sparbit", "ring"], library=""), "allgatherv": measured(["sparbit", "ring"])}
    for_all = DecisionFunction(
        "all", [Method("sparbit", "sparbit")], Leaf(0), categories={"collective": tuple(together)}
    )
    for target in ("openmpi", "openmpi-json"):
        parts = write(Order(target, (for_all,), together)).parts
        chosen = [{part.read.methods[place].label for place in part.read.used} for part in parts if part.read]
        assert chosen == [{"ring"}, {"sparbit"}]


def test_what_is_right_for_operations_that_commute_is_written_and_the_head_says_so() -> None:
    text = TARGETS["openmpi"].write([decision("allreduce", "ring", 4)])
    assert "Only for operations that commute: ring" in text
    read = read_text(text)
    assert not read.errors
    assert any("the operation does not commute" in fault.text for fault in read.faults)


def test_programs_are_told_of_it_by_what_is_written_for_and_a_preloaded_library_needs_no_word() -> None:
    ring, bruck = decision("allreduce", "ring", 4), decision("allgather", "bruck", 2)
    assert only_commutative(ring) == only_commutative(ring, "openmpi") == ["ring"]
    assert only_commutative(ring, "preload") == only_commutative(bruck, "openmpi") == []
    assert "allreduce (ring)" in limits({"allreduce": ["ring"], "allgather": []})
    assert limits({"allgather": []}) == limits({}) == ""


def test_a_library_that_lacks_the_fault_keeps_its_algorithm() -> None:
    text = TARGETS["json"].write([decision("allgather", "sparbit", 7, library="Another MPI")])
    assert "not written" not in text


def test_results_of_a_faulty_library_leave_the_method_out_and_say_why() -> None:
    left = without_unsafe(measured(["sparbit", "ring"]))
    assert list(left["method"].values) == ["ring"]
    assert "sparbit, it is called in place" in left.attrs[LEFT_OUT]
    assert unsafe_methods(measured(["sparbit", "ring"], library_version="4.1.4")) == {}


def test_results_that_name_no_library_keep_a_method_of_the_name_of_an_unsafe_one_and_say_so() -> None:
    kept = without_unsafe(measured(["sparbit", "ring"], library="", library_version=""))
    assert list(kept["method"].values) == ["sparbit", "ring"]
    assert kept.attrs[LEFT_OUT].startswith("kept, since these results name no library (hint library): sparbit, ")
    chosen = DecisionFunction("allgather", [Method("sparbit", "sparbit")], Leaf(0), provenance=kept.attrs)
    head = {target: TARGETS[target].write([chosen]) for target in ("c", "openmpi")}
    assert "kept, since" in head["c"]
    assert "kept, since" not in head["openmpi"]
    assert "not written: 'sparbit'" in " ".join(head["openmpi"].replace("#", " ").split())
    assert LEFT_OUT not in without_unsafe(measured(["sparbit"], library="Another MPI")).attrs
    assert LEFT_OUT not in without_unsafe(measured(["ring"], library="", library_version="")).attrs


def test_what_campaigns_found_is_left_out_also_where_several_were_joined() -> None:
    def finding(label: str, *, excluded: bool = True) -> str:
        case = {"collective": "allgather", "label": label, "case": "in place", "effect": "wrong", "excluded": excluded}
        return json.dumps([case])

    cube = measured(["ring", "bruck", "linear"], **{CHECKED: f"{finding('ring')}; {finding('linear', excluded=False)}"})
    assert unsafe_methods(cube) == {"ring": "in place: wrong"}
    gone = without_unsafe(measured(["bruck"], **{CHECKED: finding("ring")}))
    assert gone.attrs[LEFT_OUT] == "left out: ring, in place: wrong"
    assert list(gone["method"].values) == ["bruck"]


def test_versions_bound_a_fault() -> None:
    assert known_fault("Open MPI", "5.0.11", "allgather", number=7)
    assert known_fault("openmpi 5.0", "", "allgather", name="sparbit")
    assert known_fault("OMPI", "5.0.3", "allgather", name="sparbit")
    assert known_fault("Open MPI", "4.1.4", "allgather", name="sparbit") is None
    assert known_fault("Open MPI", "5.0.11", "allgatherv", name="sparbit") is None
    # Each by 'check-methods', of Open MPI 6.0 on 6.0.0a1 (bb1c85d).
    for collective, number, limited in (("allgather", 8, False), ("allreduce", 7, True), ("reduce", 8, True)):
        fault = known_fault("Open MPI", "6.0.0", collective, number=number)
        assert fault is not None
        assert fault.only_commutative == limited
        assert known_fault("Open MPI", "5.0.11", collective, number=number) is None
    assert is_unsafe("openmpi-json", "allgather", "direct-messaging")
    assert not is_unsafe("openmpi", "allgather", "direct-messaging")
    for version in ("4.1.3", "4.2.3", "4.3.2", "5.0.2"):
        assert known_fault("MPICH", version, "reduce_scatter", name="pairwise")
    assert known_fault("MPICH", "5.1.0", "reduce_scatter", name="pairwise") is None


def test_a_fault_is_told_by_the_name_and_the_number_of_the_algorithm() -> None:
    ring, pairwise = (
        known_fault("Open MPI", "5.0.11", "allreduce", number=4),
        known_fault("MPICH", "5.0.2", "reduce_scatter", name="pairwise"),
    )
    assert str(ring).startswith("ring (4) of Open MPI 4.1.0 and newer: the operation does not commute: ")
    assert str(pairwise).startswith("pairwise of MPICH 4.1.3 to 5.0.2: it is called in place with counts that differ: ")


def test_a_version_that_lacks_the_algorithm_is_said_to_lack_it() -> None:
    with pytest.raises(ExportError, match=r"Open MPI 4\.1 has no 'sparbit'"):
        TARGETS["openmpi"].write([decision("allgather", "sparbit", 7)], version="4.1")


@pytest.mark.parametrize(
    ("library", "target", "other"),
    [
        ("NCCL", "openmpi", True),
        ("MPICH", "openmpi-json", True),
        ("Open MPI", "mpich", True),
        ("Open MPI", "openmpi", False),
        ("ompi 4.1", "openmpi-nodes", False),
        ("Cray MPICH", "mpich", False),
        ("", "openmpi", False),
        ("NCCL", "c", False),
    ],
)
def test_what_was_decided_for_another_library_is_said(library: str, target: str, other: bool) -> None:
    assert bool(of_other_library(decision("allreduce", "ring", 4, library=library), target)) is other


def test_who_exports_is_told_what_is_right_for_operations_that_commute_alone() -> None:
    cube = measured(["chain", "linear"], collective="reduce")
    chosen = decision("reduce", "chain", 2)
    (note,) = write(Order("openmpi", (chosen,), {"reduce": cube})).parts[0].notes
    assert note.startswith("Right only for operations that commute, as all of MPI's own do: reduce (chain).")
    assert not write(Order("preload", (chosen,), {"reduce": cube})).parts[0].notes
