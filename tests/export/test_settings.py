"""Settings for Intel MPI and UCC, written and read again."""

import numpy as np
import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test, decision_map, exact
from dashboard.decisions.function.cutting import within_measured
from dashboard.export import TARGETS
from dashboard.export.naming import known
from dashboard.export.rules.lint import read_text
from dashboard.export.rules.over import fitted
from dashboard.export.target import ExportError
from dashboard.export.targets.settings import to_intel, to_ucc
from dashboard.export.writing import Order, write
from tests.cubes import cube_of, named
from tests.export.trees import halves, random_decision, random_sizes

FACTS = {"date": "2026-11-21", "version": "0.1"}
UCC_NAMES = {
    "bcast": ["binomial", "scatter_allgather", "default"],
    "allreduce": ["recursive_doubling", "rabenseifner"],
    "allgather": ["knomial", "ring", "bruck", "default"],
    "allgatherv": ["ring", "default"],
    "alltoall": ["pairwise", "bruck"],
    "reduce": ["binomial", "rabenseifner", "default"],
}


def drawn(collective: str, methods: list[Method], seed: int, **facts: object) -> DecisionFunction:
    tree = random_decision("barrier", seed, depth=5)

    def moved(node: Leaf | Split) -> Leaf | Split:
        if isinstance(node, Leaf):
            return Leaf(node.method % len(methods))
        return Split(node.tests, tuple(moved(child) for child in node.children))

    return DecisionFunction(collective, methods, moved(tree.root), provenance={**tree.provenance, **facts})


@pytest.mark.parametrize("seed", range(6))
def test_intel_settings_decide_the_same_on_100000_points(seed: int) -> None:
    methods = [Method(f"method {k}", "any", 0, {"library_id": k + 1}) for k in range(4)]
    decision = drawn("bcast", methods, seed, library="Intel MPI")
    text = to_intel(decision, provenance=FACTS)
    read = read_text(text)
    assert read.faults == ()
    function = read.decisions["bcast"]
    comm, message = random_sizes(seed, 100_000)
    numbers = [method.parameters.get("library_id") for method in function.methods]
    assert [numbers[k] - 1 for k in function.predict(comm, message)] == decision.predict(comm, message).tolist()
    used = [function.methods[place] for place in function.used]
    assert [method.label for method in used] == [f"method {method.parameters['library_id'] - 1}" for method in used]


def test_intel_s_numbers_must_have_been_measured() -> None:
    decision = DecisionFunction("bcast", [Method("binomial", "binomial", 0, {"library_id": 1})], Leaf(0))
    with pytest.raises(ExportError, match="no number of Intel MPI"):
        to_intel(decision)


@pytest.mark.parametrize("collective", UCC_NAMES)
def test_ucc_strings_decide_the_same_on_100000_points(collective: str) -> None:
    names = UCC_NAMES[collective]
    decision = drawn(collective, [Method(name, name) for name in names], seed=len(collective))
    read = read_text(to_ucc(decision, provenance=FACTS))
    assert read.faults == ()
    function = read.decisions[collective]
    comm, message = random_sizes(2, 100_000)
    theirs = [function.methods[k].algorithm for k in function.predict(comm, message)]
    assert theirs == [decision.methods[k].algorithm for k in decision.predict(comm, message)]


def test_ucc_refuses_what_it_lacks_by_name() -> None:
    with pytest.raises(ExportError, match="UCC has no 'pipeline'"):
        to_ucc(DecisionFunction("bcast", [Method("pipeline", "pipeline")], Leaf(0)))
    with pytest.raises(ExportError, match="not known for scatter"):
        to_ucc(DecisionFunction("scatter", [Method("linear", "linear")], Leaf(0)))


def test_several_collectives_share_one_ucc_setting() -> None:
    decisions = [
        DecisionFunction("bcast", [Method("binomial", "binomial")], Leaf(0)),
        DecisionFunction("allreduce", [Method("rabenseifner", "rabenseifner")], Leaf(0)),
    ]
    text = to_ucc(decisions, provenance=FACTS)
    assert 'TUNE="bcast:0-inf:[1-inf]:@knomial#allreduce:0-inf:[1-inf]:@sra_knomial"' in text
    assert sorted(read_text(text).decisions) == ["allreduce", "bcast"]


def test_what_ucc_has_instead_is_said() -> None:
    with pytest.raises(ExportError, match=r"its tl/ucp has knomial, sag_knomial$"):
        to_ucc(DecisionFunction("bcast", [Method("pipeline", "pipeline")], Leaf(0)))


BY_SIZE = Split((Test("message_size", 8),), (Leaf(0), Leaf(1)))
BY_BOTH = Split((Test("comm_size", 4),), (Leaf(0), BY_SIZE))


def of_intel(collective: str, root: Leaf | Split, numbers: tuple[int, ...] = (1, 3)) -> DecisionFunction:
    methods = [
        Method(f"method {n}" if n else "default", "any" if n else "default", 0, {"library_id": n}) for n in numbers
    ]
    return DecisionFunction(collective, methods, root, provenance={"library": "Intel MPI", "comm_size": [2, 8]})


@pytest.mark.parametrize(
    ("collective", "root", "value"),
    [
        # As 2021.9 and 2021.18.1 act: the first upper end that reaches; ranges of processes have theirs in parentheses.
        ("bcast", Leaf(1), "3"),
        ("bcast", BY_SIZE, "1:0-8;3"),
        ("bcast", Split((Test("message_size", 2**31 - 1),), (Leaf(0), Leaf(1))), "1"),
        ("bcast", BY_BOTH, "(1)@1-4;(1:0-8;3)"),
        ("barrier", Split((Test("comm_size", 4),), (Leaf(0), Leaf(1))), "(1)@1-4;(3)"),
        # Blocks of 9 bytes and more are totals of 27 and more on 3 processes: no single total for all.
        (
            "reduce_scatter",
            Split((Test("comm_size", 3),), (BY_SIZE, Leaf(1))),
            "(1:0-8;3)@1-1;(1:0-17;3)@2-2;(1:0-25;3)@3-3;(3)",
        ),
        ("reduce_scatter_block", BY_SIZE, "1:0-8;3"),
    ],
)
def test_intel_s_upper_ends_stand_in_the_order_in_which_they_act(
    collective: str, root: Leaf | Split, value: str
) -> None:
    decision = of_intel(collective, root)
    text = to_intel(decision)
    assert text.endswith(f'export I_MPI_ADJUST_{collective.upper()}="{value}"\n')
    read = read_text(text)
    assert read.faults == ()
    function = read.decisions[collective]
    comm, message = (grid.ravel() for grid in np.meshgrid([2, 3, 4, 5, 8], [1, 8, 9, 64, 4096]))
    acting = [function.methods[place].label for place in function.predict(comm, message)]
    assert acting == [decision.methods[place].label for place in decision.predict(comm, message)]


def test_what_is_left_to_intel_mpi_has_no_line_and_stands_beside_nothing() -> None:
    text = to_intel([of_intel("reduce", Leaf(0), (0,)), of_intel("bcast", Leaf(0))])
    assert "REDUCE" not in text
    assert text.endswith('BCAST="1"\n')
    mixed = of_intel("bcast", BY_SIZE, (0, 3))
    with pytest.raises(ExportError, match="cannot leave some sizes to its own decision and be told of others"):
        to_intel(mixed)
    measured = of_intel("bcast", Leaf(0), (3,))
    beyond = within_measured(measured.changed(provenance={**measured.provenance, "message_size": [8, 64]}))
    with pytest.raises(ExportError, match=r"cannot leave some sizes .*: decide .*--beyond nearest"):
        to_intel(beyond)
    cube = cube_of([[[1.0, 4.0]], [[2.0, 1.0]]], [4], [8, 64])
    cube = cube.assign_coords(method=["default", "method 3"], algorithm=("method", ["default", "any"]))
    cube = cube.assign_coords(library_id=("method", [0, 3])).assign_attrs(library="Intel MPI")
    written = write(Order("intel", (mixed,), {"bcast": cube}))
    assert 'export I_MPI_ADJUST_BCAST="3"' in written.text
    (part,) = written.parts
    assert part.notes == ("It has no 'default' beside others; written instead, what costs least there: method 3.",)
    assert part.loss == pytest.approx(50)


def test_a_setting_that_is_too_long_for_intel_mpi_is_shortened_where_it_costs_least() -> None:
    # Seen with 2021.1.1 to 2021.18.1: longer values are passed over, and with parentheses end the ranks.
    comm, message = [2, 4, 8, 16], [2**power for power in range(2, 14)]
    times = np.random.default_rng(3).uniform(1, 2, (2, len(comm), len(message)))
    cube = cube_of(times, comm, message).assign_coords(method=["method 1", "method 3"])
    cube = cube.assign_coords(algorithm=("method", ["any", "any"]), library_id=("method", [1, 3]))
    decision = exact(decision_map(cube.assign_attrs(library="Intel MPI")))
    with pytest.raises(ExportError, match=r"characters, of which Intel MPI reads 250; the best of them is found from"):
        to_intel(decision)
    written = write(Order("intel", (decision,), {"bcast": cube.assign_attrs(library="Intel MPI")}))
    value = written.text.split('="')[1].partition('"')[0]
    assert 200 < len(value) <= 250
    (part,) = written.parts
    assert 0 < part.loss < 20
    assert part.notes[0].endswith("over the measured sizes are written.")
    (fault,) = read_text(f"I_MPI_ADJUST_BCAST={value};{value}\n").faults
    assert (fault.severity, fault.text) == ("error", f"{2 * len(value) + 1} characters, of which Intel MPI reads 250")


def test_a_zero_of_intel_s_is_not_the_measured_default() -> None:
    read = read_text("I_MPI_ADJUST_BCAST=0\n")
    assert [fault.text for fault in read.faults] == ["bcast: 0 is not the library's own decision"]
    cube = named(cube_of([[[1.0]]], [4], [8]), ["default"])
    cube = cube.assign_coords(library_id=("method", [0])).assign_attrs(library="Intel MPI")
    assert fitted(read.decisions["bcast"], cube, "5.0").methods[0].label == "algorithm 0"


@pytest.mark.parametrize("collective", [*UCC_NAMES, "alltoallv", "reduce_scatter", "reduce_scatter_block", "barrier"])
def test_all_that_is_written_for_ucc_is_what_it_takes(collective: str) -> None:
    # UCC has a single barrier, and refuses a whole string that names it (ucc_tl_ucp_alg_id_to_init).
    methods = [Method(name, name, 0, {"named": 1}) for name in known(TARGETS["ucc"], collective)]
    decisions = [DecisionFunction(collective, [method], Leaf(0)) for method in methods]
    assert decisions
    for decision in decisions:
        text = to_ucc(decision)
        assert ("nothing is set" in text) == (collective == "barrier")
        assert collective == "barrier" or read_text(text).faults == ()


@pytest.mark.parametrize(
    ("collective", "method", "variable"),
    [
        # openucx/ucc, tl_ucp.c: BCAST_KN_RADIX and the others; a k-nomial tree of radix 2 is the binomial one.
        ("bcast", Method("binomial", "binomial"), "BCAST_KN_RADIX"),
        ("bcast", Method("knomial", "knomial", 0, {"radix": 8}), "BCAST_KN_RADIX"),
        ("bcast", Method("knomial", "knomial"), None),
        ("allreduce", Method("rabenseifner", "rabenseifner"), "ALLREDUCE_SRA_KN_RADIX"),
        ("reduce_scatter", Method("recursive_halving", "recursive_halving"), "REDUCE_SCATTER_KN_RADIX"),
        ("reduce", Method("binomial", "binomial"), "REDUCE_KN_RADIX"),
        ("reduce", Method("rabenseifner", "rabenseifner"), "REDUCE_SRG_KN_RADIX"),
    ],
)
def test_ucc_is_told_a_radix_that_is_not_its_own(collective: str, method: Method, variable: str | None) -> None:
    text = to_ucc(DecisionFunction(collective, [method], Leaf(0)))
    wanted = f'export UCC_TL_UCP_{variable}="{method.parameters.get("radix", 2)}"\n'
    assert (wanted in text, "RADIX" in text) == (variable is not None, variable is not None)
    read = read_text(text).decisions[collective]
    (said,) = (read.methods[place] for place in read.used)
    assert said.algorithm == method.algorithm


def test_a_file_for_ucc_has_one_radix_for_all_of_a_collective() -> None:
    with pytest.raises(ExportError, match="UCC has one UCC_TL_UCP_BCAST_KN_RADIX for all, not 2 and auto"):
        to_ucc(halves("bcast", ["binomial", "knomial"], 8))


@pytest.mark.parametrize(
    ("collective", "names", "picked"),
    [
        # Of the first and second on 3 ranks at blocks of 1024 and 1025 bytes, by ucc_perftest of UCC 1.10.0 (8263de4).
        ("allgather", ["bruck", "ring"], "allgather:0-3074:[3-3]:@bruck#allgather:3074-inf:[3-3]:@ring"),
        ("reduce", ["binomial", "rabenseifner"], "reduce:0-1025:[1-inf]:@knomial#reduce:1025-inf:[1-inf]:@srg"),
        (
            "reduce_scatter_block",
            ["ring", "recursive_halving"],
            "reduce_scatter:0-1025:[1-inf]:@ring#reduce_scatter:1025-inf:[1-inf]:@knomial",
        ),
    ],
)
def test_ucc_s_collectives_and_sizes_are_its_own(collective: str, names: list[str], picked: str) -> None:
    decision = halves(collective, names, 1024).changed(provenance={"comm_size": [2, 4]})
    assert picked in to_ucc(decision)


def test_what_is_said_of_ucc_s_reduce_scatter_is_that_of_mpi_s_with_equal_blocks() -> None:
    methods = [Method("ring", "ring"), Method("knomial", "knomial")]
    decisions = [
        DecisionFunction(f"reduce_scatter{end}", methods, Leaf(place)) for place, end in enumerate(("", "_block"))
    ]
    alone, both = to_ucc(decisions[0]), to_ucc(decisions)
    assert alone.endswith('TUNE="reduce_scatter:0-inf:[1-inf]:@ring"\n')
    assert "reduce_scatterv, which has one algorithm" in alone.replace("\n#     ", " ")
    # Two parts that overlap would make UCC refuse the string.
    assert both.endswith('TUNE="reduce_scatter:0-inf:[1-inf]:@knomial"\n')
    read = read_text(both).decisions["reduce_scatter_block"]
    assert [read.methods[place].algorithm for place in read.used] == ["knomial"]


def test_the_head_says_how_settings_stand_in_a_ucc_conf_unless_they_are_too_long_for_it() -> None:
    # UCC 1.10.0 takes quotes for a part of the value, and lines of up to 8,191 characters.
    short = halves("allgather", ["bruck", "ring"], 1024).changed(provenance={"comm_size": [2, 8]})
    assert "without quotes" in to_ucc(short)
    assert "ucc.conf" not in to_ucc(short.changed(provenance={"comm_size": [2, 512]}))


def test_a_string_that_is_too_long_for_a_variable_tells_apart_what_was_measured_only() -> None:
    # Linux starts no program beside it (E2BIG above 131,071 characters, with the name), from a script that set it on.
    comm, message = range(64, 1025, 64), [2**power for power in range(20)]
    times = np.random.default_rng(3).uniform(1, 2, (2, len(comm), len(message)))
    cubes = {
        name: named(cube_of(times, comm, message, collective=name), ["bruck", other])
        for name, other in (("allgather", "ring"), ("alltoall", "pairwise"))
    }
    decisions = tuple(exact(decision_map(cube)) for cube in cubes.values())
    with pytest.raises(ExportError, match="allgather, alltoall: the string is longer than a variable, of 131,055"):
        to_ucc(decisions)
    beyond = tuple(within_measured(decision) for decision in decisions)
    for read in read_text(write(Order("ucc", beyond, cubes)).text).decisions.values():
        labels = [read.methods[place].label for place in read.predict([63, 64, 1024, 1025], 64)]
        assert [label == "default" for label in labels] == [True, False, False, True]
    written = write(Order("ucc", decisions, cubes))
    assert len(written.text.split('="')[-1]) < 2**17
    for part in written.parts:
        assert part.loss == 0
        assert any("between those measured have the rules of the next one" in note for note in part.notes)
