"""What the library to preload is told of each method; that it acts is shown on the real one in tests/bench."""

import re

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test, decision_map, quadtree
from dashboard.export import TARGETS, ExportError
from dashboard.export.library_names import Choice
from dashboard.export.targets.preload import mpich
from dashboard.export.targets.preload.calls import wrapper
from dashboard.export.targets.preload.fortran import fortran
from dashboard.export.targets.preload.library import settings_of, switches_of, to_preload
from dashboard.export.targets.preload.own import on_processes
from dashboard.export.writing import Order, write
from tests.cubes import cube_of, named

BCAST = DecisionFunction(
    "bcast",
    [Method("basic_linear", "basic_linear"), Method("pipeline 8KiB", "pipeline", 8192)],
    Split((Test("message_size", 1000),), (Leaf(0), Leaf(1))),
)
REDUCE = DecisionFunction("reduce", [Method("binomial", "binomial")], Leaf(0))


def test_control_variables_are_those_of_the_library() -> None:
    # Names as `ompi_info --param coll tuned --level 9` of 5.0.11 prints them.
    assert list(settings_of("bcast", Choice(2, 4, 8192)).items()) == [
        ("coll_tuned_use_dynamic_rules", 1),
        ("coll_tuned_priority", 77),
        ("coll_tuned_bcast_algorithm", 2),
        ("coll_tuned_bcast_algorithm_segmentsize", 8192),
        ("coll_tuned_bcast_algorithm_chain_fanout", 4),
    ]
    assert settings_of("alltoall", Choice(4, requests=8))["coll_tuned_alltoall_algorithm_max_requests"] == 8
    assert settings_of("barrier", Choice(0)) == {}
    assert settings_of("allgather", Choice(2, 3), "6.0")["coll_tuned_allgather_algorithm_tree_fanout"] == 3


@pytest.mark.parametrize("version", ["5.0", "6.0"])
def test_han_s_algorithm_and_segments_are_set_for_the_call(version: str) -> None:
    methods = [Method("han variant=simple", "han", 0, {"variant": "simple"}), Method("han 8KiB", "han", 8192)]
    tree = Split((Test("message_size", 1000),), (Leaf(0), Leaf(1)))
    text = to_preload(DecisionFunction("bcast", methods, tree), version=version)
    for name in ("coll_han_priority", "coll_han_use_bcast_algorithm", "coll_han_bcast_segsize"):
        assert f'"{name}"' in text
    # Two settings for the communicator, one for the call.
    assert re.search(r'\{COLLTUNE_BCAST, \d+, 2, 1, 0, 0, "han variant=simple"\}', text)
    with pytest.raises(ExportError, match="has no 'han 8KiB'"):
        to_preload(DecisionFunction("gather", methods[1:], Leaf(0)))


def test_one_file_decides_several_collectives_and_nothing_else_has_a_name_outside() -> None:
    reduce = DecisionFunction("reduce", [Method("binomial", "binomial")], Leaf(0))
    text = to_preload([BCAST, reduce])
    outside = re.findall(r"^(?!static|struct|enum|const|extern)\w+ (\w+)\(", text, re.MULTILINE)
    called = {"MPI_Bcast", "MPI_Bcast_c", "MPI_Reduce", "MPI_Reduce_c", "MPI_Finalize"}
    names = ("bcast", "reduce", "finalize")
    fortran = {f"mpi_{name}_" for name in names} | {f"ompi_{name}_f" for name in names}
    assert set(outside) == called | fortran
    assert text.isascii()


def test_open_mpi_4_1_is_not_asked_for_what_it_does_not_let_be_set() -> None:
    # There `coll_tuned_priority` can only be read (MPI_T_cvar_write gives MPI_T_ERR_CVAR_SET_NEVER).
    assert list(settings_of("bcast", Choice(1), "4.1")) == [
        "coll_tuned_use_dynamic_rules",
        "coll_tuned_bcast_algorithm",
    ]


def test_provenance_build_line_and_what_is_not_touched_stand_at_its_head() -> None:
    head = to_preload(BCAST, provenance={"system": "a cluster"}).split("#include")[0]
    assert "mpicc -std=c99 -O2 -shared -fPIC -pthread -o libcolltune.so" in head
    assert "LD_PRELOAD" in head
    assert "System: a cluster." in to_preload(BCAST, provenance={"system": "a cluster"})


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        (DecisionFunction("alltoallw", [Method("linear", "linear")], Leaf(0)), "alltoallw cannot be set"),
        (DecisionFunction("bcast", [Method("default", "default")], Leaf(0)), "nothing to preload"),
        (DecisionFunction("bcast", [Method("magic", "magic")], Leaf(0)), "Open MPI 5.0 has no 'magic'"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(decision: DecisionFunction, said: str) -> None:
    with pytest.raises(ExportError, match=re.escape(said)):
        to_preload(decision)


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(ExportError, match=r"known are the versions 4\.1, 5\.0, 6\.0"):
        to_preload(BCAST, version="3.1")


def test_a_method_that_the_library_lacks_gets_the_best_substitute_with_its_penalty() -> None:
    time = np.array([[[1.0, 1.0]], [[2.0, 2.0]], [[3.0, 1.5]]])
    cube = named(cube_of(time, [8], [1, 2]), ["magic", "binomial", "binary"])
    decision = DecisionFunction("bcast", [Method("magic", "magic")], Leaf(0))
    written = write(Order("preload", (decision,), {"bcast": cube}))
    text = " ".join(written.text.replace(" * ", " ").split())
    # Binomial costs 100 % in both cells, binary 200 and 50 %.
    assert "It has no 'magic'; written instead, what costs least there: binomial" in text
    assert "as the file says it 100.0 %" in text
    assert '"binomial"' in text


def test_what_is_left_to_the_library_since_it_is_unsafe_is_counted() -> None:
    names = ["sparbit", "ring"]
    cube = named(cube_of(np.array([[[1.0]], [[2.0]]]), [8], [64], collective="allgather"), names)
    decision = DecisionFunction("allgather", [Method(name, name) for name in names], Leaf(0))
    written = write(Order("preload", (decision,), {"allgather": cube}))
    # Sparbit of 5.0 gives wrong results in place.
    assert written.parts[0].costs == "mean penalty as decided 0 %, as the file says it 100.0 %"
    assert written.parts[0].costs in " ".join(written.text.replace(" * ", " ").split())


def test_it_is_a_target_of_export(fast_ethernet_bcast: xr.Dataset) -> None:
    target = TARGETS["preload"]
    decision = quadtree(decision_map(fast_ethernet_bcast), max_depth=3)
    text = target.write([decision], None, cubes={"bcast": fast_ethernet_bcast})
    assert target.extension == ".c"
    assert "int MPI_Bcast(" in text


def test_of_mpich_the_library_s_own_decision_is_kept_and_what_it_lacks_is_replaced() -> None:
    time = np.array([[[1.0, 3.0]], [[2.0, 2.0]], [[3.0, 1.0]]])
    names = ["Magic!", "binomial", "default"]
    cube = named(cube_of(time, [8], [1, 100]), names)
    facts = {"library": "MPICH", "library_version": "5.0.2"}
    tree = Split((Test("message_size", 10),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction(
        "bcast", [Method("Magic!", "Magic!"), Method("default", "default")], tree, provenance=facts
    )
    written = write(Order("preload-mpich", (decision,), {"bcast": cube.assign_attrs(facts)}))
    text = written.text
    assert '"MPIR_CVAR_BCAST_INTRA_ALGORITHM"' in text
    assert '{0, 0, "binomial"}' in text
    assert '0, 0, 0, "default"}' in text
    # Its own Fortran calls C.
    assert "ompi_bcast_f" not in text
    for name in ("Magic!", "smp"):
        refused = DecisionFunction("allreduce", [Method(name, name)], Leaf(0), provenance=facts)
        with pytest.raises(ExportError, match=f"MPICH has no '{name}' that can be forced"):
            TARGETS["preload-mpich"].write([refused], None)


@pytest.mark.parametrize(
    ("library", "to", "meant"), [("MPICH", "preload", "preload-mpich"), ("Open MPI", "preload-mpich", "preload")]
)
def test_times_of_another_library_are_refused(library: str, to: str, meant: str) -> None:
    decision = DecisionFunction(
        "bcast", [Method("binomial", "binomial")], Leaf(0), provenance={"library": library, "library_version": "5.0.2"}
    )
    with pytest.raises(ExportError, match=f"bcast was decided for {library}, .*--to {meant} is for it"):
        TARGETS[to].write([decision], None)
    assert "binomial" in TARGETS[meant].write([decision], None)


def test_the_radix_of_a_tree_acts_on_the_call() -> None:
    knomial = Method("knomial", "knomial", 0, {"radix": 8})
    (switches,) = switches_of("bcast", [knomial], {0: Choice(7)}, "5.0")
    assert switches.acting == {"coll_tuned_bcast_algorithm_knomial_radix": 8}
    text = to_preload([DecisionFunction("bcast", [knomial], Leaf(0)), REDUCE])
    assert "#define COLLTUNE_ACTING 1\n" in text
    assert "#define COLLTUNE_ACTING 0\n" in to_preload(BCAST)


def test_its_tables_stand_behind_their_numbers() -> None:
    text = to_preload([BCAST, REDUCE], provenance={"date": "2026-11-21", "version": "0.1"})
    assert "Generated by colltune 0.1, 2026-11-21." in text
    assert "enum { COLLTUNE_BCAST, COLLTUNE_REDUCE, COLLTUNE_COLLECTIVES };" in text
    for name in ("collectives", "variables", "settings", "methods"):
        assert f" colltune_{name}[] = {{" in text


@pytest.mark.parametrize(("suffix", "count"), [("", "int"), ("_c", "MPI_Count")])
def test_blocks_of_different_sizes_are_counted_as_the_call_counts(suffix: str, count: str) -> None:
    lines = wrapper("reduce_scatter", "0", own=True)
    assert f"static int colltune_equal{suffix}(int size, const {count} recvcounts[])" in lines
    block = f"static long long colltune_block{suffix}(int size, const {count} recvcounts[], MPI_Datatype datatype)"
    assert block in lines
    assert any(f"= !own || colltune_equal{suffix}(state->size, recvcounts) ?" in line for line in lines)


@pytest.mark.parametrize(
    ("collective", "told"),
    [
        ("barrier", "0, MPI_BYTE, MPI_OP_NULL, NULL, MPI_BYTE, NULL, MPI_BYTE"),
        ("bcast", "root, MPI_BYTE, MPI_OP_NULL, NULL, datatype, buffer, datatype"),
        ("gather", "root, MPI_BYTE, MPI_OP_NULL, sendbuf, sendtype, recvbuf, recvtype"),
        ("reduce", "root, datatype, op, sendbuf, datatype, recvbuf, datatype"),
    ],
)
def test_an_own_method_is_told_the_buffers_of_the_call(collective: str, told: str) -> None:
    runs = [line.strip() for line in wrapper(collective, "0", own=True) if "colltune_run(" in line]
    assert set(runs) == {f"return colltune_done(colltune_run(state, method, used, bytes, {told}), comm, used);"}
    assert not [line for line in wrapper(collective, "0") if "colltune_run(" in line]


@pytest.mark.parametrize(
    ("collective", "call"),
    [
        ("bcast", "Bcast(colltune_address(buffer), *count, PMPI_Type_f2c(*datatype), *root, PMPI_Comm_f2c(*comm))"),
        (
            "reduce_scatter",
            (
                "Reduce_scatter(colltune_address(sendbuf), colltune_address(recvbuf), recvcounts, "
                "PMPI_Type_f2c(*datatype), PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm))"
            ),
        ),
    ],
)
def test_calls_of_fortran_become_those_of_c(collective: str, call: str) -> None:
    lines = fortran([collective])
    assert [line.strip() for line in lines if "int code" in line] == [
        f"int code = MPI_{call};",
        "int code = MPI_Finalize();",
    ]
    assert "void mpi_finalize_(MPI_Fint *ierror)" in lines


@pytest.mark.parametrize(
    ("algorithm", "segment", "facts", "name"),
    [
        ("scatter_allgather", 0, {}, "scatter_recursive_doubling_allgather"),
        ("pipelined_tree", 8192, {"library": "MPICH"}, "pipelined_tree"),
    ],
)
def test_mpich_is_told_its_own_name(algorithm: str, segment: int, facts: dict[str, str], name: str) -> None:
    method = Method(algorithm, algorithm, segment)
    decision = DecisionFunction("bcast", [method], Leaf(0), provenance=facts)
    assert mpich.switches_of(decision, method).acting["MPIR_CVAR_BCAST_INTRA_ALGORITHM"] == name


@pytest.mark.parametrize(
    ("collective", "name", "others"),
    [
        ("bcast", "pipelined_tree", ".*smp"),
        ("allreduce", "smp", r"(?!.*\bsmp)"),
        ("bcast", "composition_alpha", "binomial"),
    ],
)
def test_what_mpich_cannot_be_forced_to_is_refused_with_what_it_can(collective: str, name: str, others: str) -> None:
    method = Method(name, name, 0, {"library_name": f"MPIDI_Bcast_intra_{name}"} if "composition" in name else {})
    decision = DecisionFunction(collective, [method], Leaf(0), provenance={"library": "MPICH"})
    with pytest.raises(ExportError, match=f"MPICH has no '{name}' that can be forced; it has {others}"):
        mpich.switches_of(decision, method)


def test_programs_of_own_methods_are_written_for_mpich_too() -> None:
    own = DecisionFunction("bcast", [Method("binomial", "binomial", 0, {"provider": "own"})], Leaf(0))
    text = TARGETS["preload-mpich"].write([own], None, cubes={"bcast": cube_of(np.ones((1, 1, 1)), [4], [64])})
    assert '1, "binomial"}' in text
    assert "colltune_run(state" in text
    # One program, called on no groups of a grid.
    assert re.search(r", 1, 0, \{1(, 1)*\}\},\n\};", text)


def test_an_own_method_that_no_program_can_run_is_refused_with_the_reason() -> None:
    sync = DecisionFunction("gather", [Method("linear_sync", "linear_sync", 0, {"provider": "own"})], Leaf(0))
    cube = cube_of(np.ones((1, 1, 1)), [5], [64], collective="gather")
    with pytest.raises(ExportError, match=r"^gather, 5 processes: .* cuts messages at a number of bytes"):
        to_preload(sync, cubes={"gather": cube})


@pytest.mark.parametrize(("parameters", "processes"), [({"grid": "2x3"}, 6), ({"grid": "4x3x2"}, 24), ({}, 4)])
def test_a_grid_is_tried_on_all_its_processes(parameters: dict[str, str], processes: int) -> None:
    method = Method("orthogonal", "orthogonal", 0, {"provider": "orthogonal", **parameters})
    assert on_processes(method).parameters["processes"] == processes
