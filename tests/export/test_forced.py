"""One method for each collective on mpirun's command line."""

import re
from typing import Any

import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.decisions.function.cutting import within_measured
from dashboard.export.target import ExportError
from dashboard.export.targets.forced import as_forced, to_mpirun
from dashboard.export.writing import Order, write
from tests.cubes import cube_of, named

OPEN_MPI = {"library": "Open MPI"}


def leaf(collective: str, method: Method, **facts: str) -> DecisionFunction:
    return DecisionFunction(collective, [method], Leaf(0), provenance=facts)


def section(text: str, title: str) -> str:
    return next(part for part in text.split("\n\n") if part.startswith(f"# {title}"))


def test_what_lies_beyond_the_measured_sizes_cannot_be_left_to_the_library() -> None:
    facts: dict[str, Any] = {**OPEN_MPI, "comm_size": [2, 8], "message_size": [8, 4096]}
    decision = DecisionFunction("bcast", [Method("linear", "linear")], Leaf(0), provenance=facts)
    with pytest.raises(ExportError, match=r"taken at all sizes: .*--beyond nearest"):
        to_mpirun(within_measured(decision))


def test_each_library_is_told_in_its_own_words() -> None:
    segmented = Method("pipeline 8KiB", "pipeline", 8192, {"library_id": 3})
    text = to_mpirun([leaf("bcast", segmented, **OPEN_MPI), leaf("allgather", Method("ring", "ring"))])
    options = section(text, "Open MPI 5.0")
    for option in (
        "--mca coll_tuned_use_dynamic_rules 1",
        "--mca coll_tuned_bcast_algorithm 3",
        "--mca coll_tuned_bcast_algorithm_segmentsize 8192",
        "--mca coll_tuned_allgather_algorithm 4",
    ):
        assert re.search(rf"^    {re.escape(option)} \\$", options, re.MULTILINE)
    commands = section(text, "MPICH")
    assert "-genv MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM ring" in commands
    # Its pipelines are not cut as asked.
    assert "bcast: left to the library: it has no 'pipeline 8KiB'" in commands
    assert "mpirun" not in section(text, "Intel")


def test_intel_s_numbers_are_written_where_they_were_measured() -> None:
    text = to_mpirun(leaf("bcast", Method("shm", "shm", 0, {"library_id": 12}), library="Intel MPI 2021.11"))
    assert "-genv I_MPI_ADJUST_BCAST 12" in section(text, "Intel")
    assert "mpirun" not in section(text, "Open MPI")


def test_intel_mpi_is_told_nothing_for_its_own_decision() -> None:
    own = leaf("reduce", Method("default", "default", 0, {"library_id": 0}), library="Intel MPI")
    ring = leaf("bcast", Method("ring", "ring", 0, {"library_id": 3}), library="Intel MPI")
    commands = section(to_mpirun([own, ring]), "Intel")
    assert "-genv I_MPI_ADJUST_BCAST 3" in commands
    assert "reduce: default, its own decision" in commands
    assert "I_MPI_ADJUST_REDUCE" not in commands


def test_parameters_are_forced_too() -> None:
    chain, knomial = Method("chain", "chain", 0, {"fan_out": 8}), Method("knomial", "knomial", 0, {"radix": 3})
    assert "--mca coll_tuned_reduce_algorithm_chain_fanout 8" in to_mpirun(leaf("reduce", chain))
    assert "--mca coll_tuned_bcast_algorithm_knomial_radix 3" in to_mpirun(leaf("bcast", knomial))
    # 6.0 has another variable for it there.
    bruck = Method("bruck", "bruck-k-fanout", 0, {"fan_out": 3})
    assert "--mca coll_tuned_allgather_algorithm_tree_fanout 3" in to_mpirun(leaf("allgather", bruck), version="6.0")


def tree() -> DecisionFunction:
    methods = [Method("binomial", "binomial"), Method("linear", "linear"), Method("mine", "mine")]
    split = Split((Test("message_size", 100),), (Leaf(0), Leaf(2)))
    return DecisionFunction("bcast", methods, split)


def test_several_methods_become_the_best_single_one_that_the_library_has() -> None:
    # By hand, against the best of each size: linear 100 and 100 %, binomial 0 and 300 %, mine 900 and 0 %.
    names = ["linear", "binomial", "mine"]
    cube = named(cube_of([[[2.0, 2.0]], [[1.0, 4.0]], [[10.0, 1.0]]], comm_size=[4], message_size=[10, 1000]), names)
    text = to_mpirun(tree(), cubes={"bcast": cube})
    assert "Its 2 methods cannot be forced at once." in text
    options = section(text, "Open MPI")
    assert "bcast: linear, the best single one of the 2 measured that it has; penalty mean 100 %, max 100 %" in options
    assert "--mca coll_tuned_bcast_algorithm 1" in options
    # MPICH has no linear broadcast.
    assert "bcast: binomial, the only measured one that it has" in section(text, "MPICH")
    costs = {"": "linear", "Open MPI 5.0": "linear", "MPICH": "binomial", "Intel MPI": "the library's own decision"}
    for library, forced in costs.items():
        decision = tree().changed(provenance={"library": library})
        assert [method.label for method in as_forced(decision, cube).methods] == [forced]
    # Beside the file only the library that was measured is told.
    (part,) = write(Order("mpirun", (tree().changed(provenance={"library": "MPICH"}),), {"bcast": cube})).parts
    assert part.notes == ("MPICH: binomial, the only measured one that it has; penalty mean 150 %, max 300 %.",)


@pytest.mark.parametrize("library", ["Open MPI", "OMPI"])
def test_what_another_library_has_is_no_measure_of_the_one_that_was_measured(library: str) -> None:
    measured = named(cube_of([[[1.0]], [[2.0]]], [4], [8], library=library), ["smp", "binomial"])
    methods = [Method(name, name) for name in ("smp", "binomial")]
    several = Split((Test("message_size", 8),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction("bcast", methods, several, provenance={"library": library})
    # MPICH alone has the first one.
    assert [method.label for method in as_forced(decision, measured).methods] == ["binomial"]


def test_without_measurements_several_methods_are_refused() -> None:
    with pytest.raises(ExportError, match="2 methods are decided, one can be forced"):
        to_mpirun(tree())


def test_what_no_library_has_is_refused() -> None:
    with pytest.raises(ExportError, match="no library can be forced to: bcast by 'mine'"):
        to_mpirun(leaf("bcast", Method("mine", "mine")))


def test_the_own_decision_of_one_library_is_not_that_of_another() -> None:
    text = to_mpirun(
        [leaf("bcast", Method("default", "default"), library="MPICH"), leaf("reduce", Method("linear", "linear"))]
    )
    assert "bcast: left to the library" in section(text, "Open MPI")
    with pytest.raises(ExportError, match="'7'"):
        to_mpirun(leaf("bcast", Method("binomial", "binomial")), version="7")


def test_what_one_method_costs_is_said_where_it_was_measured() -> None:
    # By hand: linear takes twice the best time of the first size, and is the best of the second.
    names = ["linear", "binomial"]
    cube = named(cube_of([[[2.0, 2.0]], [[1.0, 4.0]]], [4], [10, 1000]), names)
    text = to_mpirun(leaf("bcast", Method("linear", "linear")), cubes={"bcast": cube})
    assert "bcast: linear, as decided; penalty mean 50 %, max 100 %." in section(text, "Open MPI")


def test_mpich_is_told_radix_and_segments_and_its_device_goes_on_to_decide_the_rest() -> None:
    tree = Method("pipelined_tree 8KiB radix=4", "pipelined_tree", 8192, {"radix": 4, "library_id": 7})
    commands = section(to_mpirun(leaf("bcast", tree, library="MPICH")), "MPICH")
    assert [line.split()[1:3] for line in commands.splitlines() if "-genv" in line] == [
        ["MPIR_CVAR_DEVICE_COLLECTIVES", "percoll"],
        ["MPIR_CVAR_BCAST_DEVICE_COLLECTIVE", "0"],
        ["MPIR_CVAR_BCAST_INTRA_ALGORITHM", "pipelined_tree"],
        ["MPIR_CVAR_BCAST_TREE_KVAL", "4"],
        ["MPIR_CVAR_BCAST_TREE_PIPELINE_CHUNK_SIZE", "8192"],
    ]


@pytest.mark.parametrize(
    "facts", [{**OPEN_MPI, "library_version": "5.0.11"}, {}, {"library": "MPICH", "library_version": "5.0.2"}]
)
def test_mpich_is_not_told_what_stops_its_programs_whatever_was_measured(facts: dict[str, str]) -> None:
    # The ring of others is MPICH's pairwise, which overlaps memory where it is called in place with other counts.
    text = to_mpirun(
        [leaf("reduce_scatter", Method("ring", "ring"), **facts), leaf("gather", Method("binomial", "binomial"))]
    )
    commands = section(text, "MPICH")
    assert "reduce_scatter: left to the library: 'ring' is unsafe, pairwise of MPICH 4.1.3 to 5.0.2: " in commands
    assert "REDUCE_SCATTER" not in commands
    assert "-genv MPIR_CVAR_GATHER_INTRA_ALGORITHM binomial" in commands
    assert "reduce_scatter: ring, as decided, right only for operations that commute." in section(text, "Open MPI")
    later = {"library": "MPICH", "library_version": "5.1.0"}
    assert "REDUCE_SCATTER_INTRA" in to_mpirun(leaf("reduce_scatter", Method("pairwise", "pairwise"), **later))


def test_what_is_unsafe_in_a_library_is_not_its_best_single_method() -> None:
    names = ["sparbit", "bruck"]
    cube = named(cube_of([[[1.0]], [[2.0]]], [4], [10], collective="allgather"), names)
    sparbit = leaf("allgather", Method("sparbit", "sparbit"))
    text = section(to_mpirun(sparbit, cubes={"allgather": cube}), "Open MPI 5.0")
    assert "allgather: bruck, the only measured one" in text
    assert "--mca coll_tuned_allgather_algorithm 2" in text


def test_a_tree_of_a_file_is_forced_as_it_stands_there() -> None:
    read = {"tree_type": "kary", "is_non_blocking": "1", "recv_pre_posted": "0", "chunk_size": "1024", "k": "3"}
    read["library_name"] = "MPIR_Bcast_intra_pipelined_tree"
    commands = section(to_mpirun(leaf("bcast", Method("p", "pipelined_tree", 1024, read), library="MPICH")), "MPICH")
    assert "MPIR_CVAR_BCAST_TREE_KVAL 3" in commands
    assert "MPIR_CVAR_BCAST_TREE_PIPELINE_CHUNK_SIZE 1024" in commands


@pytest.mark.parametrize(
    ("collective", "algorithm", "name"),
    [
        ("allreduce", "smp", ""),
        ("reduce_scatter", "noncommutative", "MPIR_Reduce_scatter_intra_noncommutative"),
        ("bcast", "intra_composition_alpha", "MPIDI_Bcast_intra_composition_alpha"),
        # Its variables would make it another tree.
        ("bcast", "tree", "MPIR_Bcast_intra_tree"),
    ],
)
def test_mpich_is_told_no_algorithm_that_ends_the_job_or_is_no_value_of_its_variable(
    collective: str, algorithm: str, name: str
) -> None:
    parameters = {"library_name": name, "tree_type": "knomial_2"} if name else {}
    with pytest.raises(ExportError, match="no library can be forced"):
        to_mpirun(leaf(collective, Method(algorithm, algorithm, 0, parameters), library="MPICH"))
