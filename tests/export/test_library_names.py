"""The library's numbers, held against what the libraries themselves print."""

import re
from pathlib import Path

import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.decisions.function.nodes import default_of
from dashboard.export import TARGETS
from dashboard.export.library_names import COMPARED, Choice, choice_of, is_own_decision, naming_remedy, unsaid
from dashboard.export.rules.lint import read_text
from dashboard.export.target import ExportError
from dashboard.export.targets.c.text import INT_MAX
from loaders.openmpi import algorithms, series

# Names of the models in the design, by collective, with the library's number for what is the same algorithm.
MODELS = {
    "barrier": {"flat_tree": 1, "double_ring": 2, "recursive_doubling": 3, "bruck": 4},
    "bcast": {"linear": 1, "pipeline": 3, "binomial": 6, "binary": 5, "split_binary": 4},
    "scatter": {"linear": 1, "binomial": 2},
    "gather": {"linear": 1, "linear_sync": 3, "binomial": 2},
    "allgather": {"bruck": 2, "recursive_doubling": 3, "ring": 4, "neighbor_exchange": 5},
    "alltoall": {"linear": 1, "pairwise": 2, "bruck": 3},
    "reduce": {"flat_tree": 1, "pipeline": 3, "binomial": 5, "binary": 4, "rabenseifner": 7},
    "reduce_scatter": {"recursive_halving": 2, "ring": 3},
    "allreduce": {"recursive_doubling": 3, "ring": 4, "ring_segmented": 5, "rabenseifner": 6},
    "scan": {"linear": 1},
}


@pytest.mark.parametrize("version", ["4.1.4", "5.0.11"])
def test_numbers_and_names_are_those_that_ompi_info_prints(samples: Path, version: str) -> None:
    text = (samples / "rules_ompi" / f"local__ompi_info_coll_tuned_{version}.txt").read_text()
    pattern = re.compile(r"coll_tuned_(\w+)_algorithm:enumerator:value:(\d+):(\S+)")
    printed: dict[str, dict[int, str]] = {}
    for collective, number, name in pattern.findall(text):
        if number != "0":
            printed.setdefault(collective, {})[int(number)] = name
    assert set(printed) == set(COMPARED)
    for collective, names in printed.items():
        assert algorithms(collective, version) == names


@pytest.mark.parametrize(
    ("collective", "name", "number"),
    [
        ("bcast", "BinaryTree", 5),
        ("bcast", "kNomial", 7),
        ("bcast", "ScatterAllgather", 8),
        ("barrier", "DoubleRing", 2),
        ("barrier", "RecursiveDoubling", 3),
        ("barrier", "BRUCK", 4),
    ],
)
def test_capitals_part_the_words_of_a_name(collective: str, name: str, number: int) -> None:
    assert choice_of(Method(name, name), collective).algorithm == number


@pytest.mark.parametrize("collective", MODELS)
def test_names_of_the_models_become_the_library_s_numbers(collective: str) -> None:
    numbers = {name: choice_of(Method(name, name), collective).algorithm for name in MODELS[collective]}
    assert numbers == MODELS[collective]


def test_the_measured_number_goes_before_the_name() -> None:
    method = Method("alg 6", "whatever", 0, {"library_id": 6})
    assert choice_of(method, "bcast") == Choice(6)
    with pytest.raises(LookupError, match="has no 'alg 6' for bcast; it has 1 basic_linear"):
        choice_of(method, "bcast", trust_number=False)


def test_an_algorithm_of_a_later_version_is_lacking_before() -> None:
    sparbit = Method("sparbit", "sparbit")
    assert choice_of(sparbit, "allgather", "5.0").algorithm == 7
    with pytest.raises(LookupError, match=r"Open MPI 4\.1 has no 'sparbit'"):
        choice_of(sparbit, "allgather", "4.1")


def test_segments_and_fan_out_are_said_only_where_the_algorithm_takes_them() -> None:
    chain = Method("chain", "chain", 4096, {"fan_out": 4, "library_id": 2})
    assert choice_of(chain, "bcast") == Choice(2, 4, 4096)
    other = Method("scatter_allgather 4KiB", "scatter_allgather", 4096)
    choice = choice_of(other, "bcast")
    assert choice == Choice(8)
    assert unsaid(other, choice, "bcast") == ["segment size 4096 (the algorithm has none)"]
    requests = {"max_requests": 2}
    assert choice_of(Method("linear_sync", "linear_sync", 0, requests), "alltoall") == Choice(4, requests=2)
    assert choice_of(Method("pairwise", "pairwise", 0, requests), "alltoall") == Choice(2)
    knomial = Method("knomial", "knomial", 0, {"radix": 8})
    assert "coll_tuned_bcast_algorithm_knomial_radix" in unsaid(knomial, choice_of(knomial, "bcast"), "bcast")[0]


def test_a_name_that_the_user_gives_stands_above_a_number() -> None:
    assert choice_of(Method("ours", "binomial", 0, {"library_id": 1, "named": 1}), "bcast") == Choice(6)


def test_a_chain_that_says_no_fan_out_is_the_one_that_is_forced_without() -> None:
    # coll_tuned_bcast_algorithm_chain_fanout is 4; a rule that says 0 is the pipeline (tests/bench/proof).
    assert choice_of(Method("chain", "chain"), "bcast") == Choice(2, 4)
    assert choice_of(Method("chain", "chain", 0, {"fan_out": 0}), "bcast") == Choice(2, 0)


def test_radixes_of_6_0_are_the_fan_out_of_a_rule_and_never_so_small_that_its_call_does_not_end() -> None:
    # Seen with 6.0.0a1 (v6.0.x, bb1c85d): with 0 or 1 the call never ends; forced without one both take 4.
    assert choice_of(Method("knomial", "knomial"), "reduce", "6.0") == Choice(8, 4)
    assert choice_of(Method("k", "knomial", 0, {"radix": 3}), "reduce", "6.0") == Choice(8, 3)
    assert choice_of(Method("k", "bruck-k-fanout"), "allgather", "6.0") == Choice(2, 4)
    # What 5.0 and all others call so has two.
    assert choice_of(Method("bruck", "bruck", 0, {"library_id": 2}), "allgather", "6.0") == Choice(2, 2)
    assert choice_of(Method("bruck", "bruck"), "allgather", "5.0") == Choice(2)
    with pytest.raises(LookupError, match=r"knomial of Open MPI 6\.0 needs a fan-out of 2 or more, not 1"):
        choice_of(Method("k", "knomial", 0, {"fan_out": 1}), "reduce", "6.0")


def test_names_of_pico_tell_the_library_s_algorithms_from_its_own() -> None:
    assert choice_of(Method("ring_ompi", "ring_ompi"), "allgather") == Choice(4)
    assert choice_of(Method("default_ompi", "default_ompi"), "allgather") == Choice(0)
    with pytest.raises(LookupError):
        choice_of(Method("ring_over", "ring_over"), "allgather")


@pytest.mark.parametrize("name", ["Default", "native", "ignore", "auto", "default_mpich"])
@pytest.mark.parametrize(
    "target", ["openmpi", "openmpi-json", "openmpi-nodes", "mpich", "intel", "ucc", "nccl", "mpirun", "preload"]
)
def test_the_library_s_own_decision_is_written_as_that_whatever_a_benchmark_calls_it(target: str, name: str) -> None:
    facts = {"library": "MPICH", "library_version": "5.0.2"} if target == "mpich" else {}

    def written(algorithm: str) -> list[str]:
        methods = [Method("default", algorithm), Method("ring", "ring")]
        texts = []
        for tree in (Leaf(0), Split((Test("message_size", 1024),), (Leaf(0), Leaf(1)))):
            try:
                texts.append(
                    TARGETS[target].write([DecisionFunction("allreduce", methods, tree, provenance=facts)], None)
                )
            except ExportError as error:
                texts.append(f"{type(error).__name__}: {error}")
        return texts

    assert default_of([Method(name, name)]) == 0
    assert written(name) == written("default")


@pytest.mark.parametrize(
    ("version", "wanted"), [("4", "4.1"), ("4.1.8", "4.1"), ("5.0.11", "5.0"), ("6.0.0rc1", "6.0")]
)
def test_versions_belong_to_series(version: str, wanted: str) -> None:
    assert series(version) == wanted


@pytest.mark.parametrize("version", ["", "3.1", "17", "newest"])
def test_unknown_versions_are_refused(version: str) -> None:
    with pytest.raises(ValueError, match=r"known are the versions 4.1, 5.0, 6.0"):
        series(version)


def test_number_0_is_the_library_s_own_decision_whatever_its_name() -> None:
    assert choice_of(Method("alg 0", "whatever", 0, {"library_id": 0}), "bcast") == Choice(0)


def test_rules_for_what_open_mpi_calls_the_default_allgatherv_do_not_leave_it_to_the_library() -> None:
    rules = read_text("1 # collectives\n1 # allgatherv\n1\n0\n2\n0 1 0 0\n512 0 0 0\n")
    first, second = rules.decisions["allgatherv"].methods
    assert (default_of([first]), default_of([second])) == (None, 0)
    assert [choice_of(each, "allgatherv").algorithm for each in (first, second)] == [1, 0]
    # As a table of the library's numbers calls it.
    assert choice_of(Method("default", "default", 0, {"library_id": 1}), "allgatherv") == Choice(1)
    assert not is_own_decision(Method("default", "default", 0, {"library_id": 1}))
    assert is_own_decision(Method("default", "default", 0, {"library_id": -1}))


def test_segments_are_at_most_what_an_int_holds() -> None:
    assert choice_of(Method("pipeline", "pipeline", INT_MAX), "bcast") == Choice(3, 0, INT_MAX)
    with pytest.raises(LookupError, match="no segments of 2,147,483,648 bytes; 2,147,483,647 are the most"):
        choice_of(Method("pipeline", "pipeline", INT_MAX + 1), "bcast")


def test_what_helps_is_a_name_for_methods_of_a_library_and_a_library_to_preload_for_others() -> None:
    theirs = [Method("ring 8KiB", "ring", 8192), Method("a tree", "a tree"), Method("ring", "ring")]
    named = "say what it calls them (--name ring=NAME --name 'a tree=NAME')"
    assert naming_remedy(theirs) == named
    own = Method("binomial", "binomial", 0, {"provider": "own"})
    preload = "export what runs over the library to preload, which calls it"
    assert naming_remedy([own]) == preload
    assert naming_remedy([*theirs, own]) == f"{named}, and {preload}"
