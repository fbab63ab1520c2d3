"""MPICH's selection files: what they decide, and what of them stops programs or never acts."""

import json
from pathlib import Path
from typing import Any

import pytest

from dashboard.export.rules.lint import read_rules, read_text
from tests.export.rules.acting import algorithms, texts


def test_mpich_s_own_decision_for_broadcast(samples: Path) -> None:
    # As in MPICH's documentation: binomial up to 12 KiB or below 8 processes, then scatter with two allgathers.
    read = read_rules(samples / "mpich_json" / "mpich-main__mpir_generic.json")
    sizes = [12288, 12289, 524288, 524289]
    assert algorithms(read, "bcast", 7, sizes) == ["binomial"] * 4
    assert algorithms(read, "bcast", 16, sizes) == [
        "binomial",
        *["scatter_recursive_doubling_allgather"] * 2,
        "scatter_ring_allgather",
    ]
    assert algorithms(read, "bcast", 12, sizes) == ["binomial", *["scatter_ring_allgather"] * 3]
    # Totals: 8 processes with blocks of 65535 bytes stay below 512 KiB.
    assert algorithms(read, "allgather", 8, [65535, 65536]) == ["recursive_doubling", "ring"]


@pytest.fixture
def generic(samples: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((samples / "mpich_json" / "mpich-main__mpir_generic.json").read_text())
    return loaded


@pytest.mark.parametrize(
    ("intra", "text", "effect"),
    [
        ({"comm_sizes<=2": {}}, "'comm_sizes<=2' is no condition", "at start"),
        ({"comm_size<=x": {}}, "expected comm_size<=NUMBER", "takes the number that it begins with, or 0"),
        ({"comm_size=x": {}}, "expected comm_size<=NUMBER", "at start"),
        ({"comm_hierarchy=far": {}}, "comm_hierarchy is one of", "at start"),
        ({"comm_size<=2": {"algorithm=MPIR_Bcast_intra_binomial": {}}}, "do not end with '=any'", "no key holds"),
        ({"algorithm=MPIR_Reduce_intra_binomial": {}}, "is no algorithm of bcast", "at start"),
        ({"algorithm=MPIR_Bcast_intra_tree": {"k": {}}}, "'k' is no parameter", "at start"),
        ({}, "no algorithm here", "no key holds"),
        (
            {
                "comm_size=any": {"algorithm=MPIR_Bcast_intra_binomial": {}},
                "comm_size<=2": {"algorithm=MPIR_Bcast_intra_binomial": {}},
            },
            "which always holds",
            "at start",
        ),
        (
            {
                "is_commutative=any": {"algorithm=MPIR_Bcast_intra_binomial": {}},
                "is_commutative=no": {"algorithm=MPIR_Bcast_intra_binomial": {}},
            },
            "which always holds",
            "never acts",
        ),
        ({"algorithm=MPIR_Bcast_inter_remote_send_local_bcast": {}}, "is for calls between groups", "at such a call"),
    ],
)
def test_faults_of_mpich_s_files_are_named(generic: dict[str, Any], intra: Any, text: str, effect: str) -> None:
    generic["collective=bcast"]["comm_type=intra"] = intra
    read = read_text(json.dumps(generic))
    assert text in texts(read)
    assert effect in texts(read)


BINOMIAL, DOUBLING = "algorithm=MPIR_Bcast_intra_binomial", "algorithm=MPIR_Allgather_intra_recursive_doubling"


SMP = "algorithm=MPIR_Bcast_intra_smp"


@pytest.mark.parametrize(
    ("collective", "intra", "text"),
    [
        ("allgather", {DOUBLING: {}}, "error: MPIR_Allgather_intra_recursive_doubling is taken for other numbers of"),
        ("allgather", {"comm_size<=4": {DOUBLING: {}}, "comm_size=any": {}}, "put it below 'comm_size=pow2'"),
        ("allgather", {"comm_size=pow2": {DOUBLING: {}}, "comm_size=any": {}}, ""),
        ("allgather", {"comm_size<=2": {DOUBLING: {}}, "comm_size=any": {}}, ""),
        ("allgather", {"comm_size<=3": {}, "comm_size<5": {DOUBLING: {}}, "comm_size=any": {}}, ""),
        ("allgather", {"comm_size<=2": {}, "comm_size<5": {DOUBLING: {}}, "comm_size=any": {}}, "put it below"),
        ("bcast", {SMP: {}}, "error: MPIR_Bcast_intra_smp is taken for communicators that do not span nodes, too"),
        ("bcast", {"comm_hierarchy=parent": {SMP: {}}, "comm_hierarchy=any": {BINOMIAL: {}}}, ""),
        ("reduce", {"algorithm=MPIR_Reduce_intra_smp": {}}, "or its result is wrong"),
        ("allreduce", {"algorithm=MPIR_Allreduce_intra_smp": {}}, "or its result is wrong"),
        (
            "gather",
            {"is_commutative=yes": {}, "is_commutative=any": {}},
            "error: is_commutative is not there for gather",
        ),
        (
            "allreduce",
            {"algorithm=MPIR_Allreduce_intra_reduce_scatter_allgather": {}},
            "warning: MPIR_Allreduce_intra_reduce_scatter_allgather is taken for fewer elements than processes",
        ),
    ],
)
def test_algorithms_that_end_programs_of_mpich_s_are_named_with_the_key_that_guards_them(
    generic: dict[str, Any], collective: str, intra: dict[str, Any], text: str
) -> None:
    # Seen with 4.3.2 and 5.0.2: assertions of the library fail at the call.
    own = generic[f"collective={collective}"]["comm_type=intra"]
    wanted = {key: below or (own if key.startswith("comm_size") else {}) for key, below in intra.items()}
    generic[f"collective={collective}"]["comm_type=intra"] = wanted
    read = read_text(json.dumps(generic))
    assert text in texts(read)
    assert bool(read.faults) == bool(text)


@pytest.mark.parametrize("collective", ["gather", "scatter"])
def test_what_mpich_counts_in_elements_is_said_once(generic: dict[str, Any], collective: str) -> None:
    # Seen with 4.1.3 and 5.0.2: 33 doubles of two processes are above 64 as 33 bytes are, 32 doubles are not.
    leaf: dict[str, Any] = {f"algorithm=MPIR_{collective.capitalize()}_intra_binomial": {}}
    sizes = {"total_msg_size<=8": leaf, "total_msg_size<=64": leaf, "total_msg_size=any": leaf}
    generic[f"collective={collective}"]["comm_type=intra"] = sizes
    (fault,) = read_text(json.dumps(generic)).faults
    assert fault.severity == "warning"
    assert f"total_msg_size of {collective} counts elements, not bytes" in fault.text


def test_what_mpich_5_stops_at_is_an_error(generic: dict[str, Any]) -> None:
    # Both were seen with 5.0.2: csel.c asserts at the gather, mpir_coll.c at the scan.
    leaf = {"algorithm=MPIR_Gather_intra_binomial": {}}
    generic["collective=gather"]["comm_type=intra"] = {"avg_msg_size<=2": leaf, "avg_msg_size=any": leaf}
    del generic["collective=scan"]
    read = read_text(json.dumps(generic))
    assert "avg_msg_size is not there for gather" in texts(read)
    assert "scan lacking: the file must be complete" in texts(read)
    assert read.errors == 2


@pytest.mark.parametrize(
    "behind",
    [{"comm_size<=x": {}}, {"comm_size=any": {}}, {"algorithm=MPIR_Bcast_intra_smp": {}}],
    ids=["a faulty condition", "no algorithm", "an algorithm"],
)
def test_what_stands_before_a_key_of_mpich_s_files_is_read_too(generic: dict[str, Any], behind: dict[str, Any]) -> None:
    binomial = {"comm_size<=4": {"algorithm=MPIR_Bcast_intra_binomial": {}}}
    generic["collective=bcast"] = {"comm_type=intra": {**binomial, **behind}, "comm_type=any": {**binomial, **behind}}
    decision = read_text(json.dumps(generic)).meant["bcast"]
    assert decision.methods[decision.predict_one(2, 8)].algorithm == "binomial"


def test_a_key_that_comes_twice_in_one_object_of_mpich_s_files_is_warned_of(generic: dict[str, Any]) -> None:
    leaf = '{"algorithm=MPIR_Bcast_intra_binomial": {}}'
    generic["collective=bcast"] = "HERE"
    read = read_text(json.dumps(generic).replace('"HERE"', f'{{"comm_size<=2": {leaf}, "comm_size<=2": {leaf}}}'))
    assert "warning: 'comm_size<=2' comes twice → one of both acts" in texts(read)


@pytest.mark.parametrize(
    ("leaf", "text"),
    [
        (
            "algorithm=MPIR_Bcast_intra_binomiall",
            "no algorithm MPIR_Bcast_intra_binomiall; MPIR_Bcast_intra_binomial is",
        ),
        ("algorithm=MPIR_bcast_intra_binomial", "no algorithm MPIR_bcast_intra_binomial; MPIR_Bcast_intra_binomial is"),
        ("composition=MPIDI_Bcast_intra_composition_zeta", "no composition MPIDI_Bcast_intra_composition_zeta"),
    ],
)
def test_an_algorithm_that_no_mpich_has_stops_programs(generic: dict[str, Any], leaf: str, text: str) -> None:
    generic["collective=bcast"]["comm_type=intra"] = {leaf: {}}
    read = read_text(json.dumps(generic))
    (fault,) = (fault for fault in read.faults if fault.severity == "error")
    assert text in fault.text
    assert fault.effect == "MPICH stops every program at start"
    assert read.decisions == {}


@pytest.mark.parametrize(
    ("leaf", "settings", "severity", "text"),
    [
        ("Bcast_intra_tree", {"treetype=kary"}, "warning", "treetype is no parameter of MPIR_Bcast_intra_tree, which"),
        (
            "Bcast_intra_binomial",
            {"q=4"},
            "warning",
            "q is no parameter of MPIR_Bcast_intra_binomial, which takes none",
        ),
        ("Bcast_intra_tree", {"tree_type=foo", "k=4", "is_non_blocking=1"}, "warning", "tree_type 'foo', expected one"),
        ("Bcast_intra_tree", {"tree_type=kary", "k=x", "is_non_blocking=1"}, "error", "k=x, expected a whole number"),
        ("Bcast_intra_tree", {"tree_type=kary"}, "error", "is not told k, is_non_blocking"),
        ("Bcast_intra_tree", {"tree_type=kary", "k=4"}, "warning", "is not told is_non_blocking"),
        ("Bcast_intra_tree", {"tree_type=kary", "k=0", "is_non_blocking=1"}, "error", "k=0, expected at least 1"),
        ("Bcast_intra_tree", {"tree_type=topology_wave", "k=2", "is_non_blocking=1"}, "warning", "told topo_overhead"),
        ("Bcast_intra_tree", {"tree_type=kary", "k=4", "is_non_blocking=1"}, "", ""),
    ],
)
def test_parameters_that_mpich_reads_otherwise_are_named(
    generic: dict[str, Any], leaf: str, settings: set[str], severity: str, text: str
) -> None:
    # pmodels/mpich, csel_container.c, parse_container_params: other keys are passed over, numbers go through atoi.
    generic["collective=bcast"]["comm_type=intra"] = {f"algorithm=MPIR_{leaf}": {each: {} for each in settings}}
    faults = read_text(json.dumps(generic)).faults
    assert any(text in fault.text and fault.severity == severity for fault in faults) == bool(text)
    assert bool(faults) == bool(text)
    assert {fault.line for fault in faults} <= {1}


def test_a_name_that_the_library_s_own_file_has_is_known(generic: dict[str, Any]) -> None:
    own = json.dumps(generic | {"collective=scan": {"algorithm=MPIR_Scan_intra_new": {}}})
    generic["collective=scan"] = {"comm_size<=8": {"algorithm=MPIR_Scan_intra_new": {}}, "comm_size=any": {}}
    generic["collective=scan"]["comm_size=any"] = {"algorithm=MPIR_Scan_intra_smp": {}}
    assert read_text(json.dumps(generic)).errors == 1
    assert read_text(json.dumps(generic), own=own).errors == 0
