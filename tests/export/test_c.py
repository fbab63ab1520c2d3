"""The C export: compiled, it decides as Python does; and a compiler finds nothing to say about it."""

import re
import subprocess

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import DecisionFunction, Leaf, Split, Test, decision_map, exact
from dashboard.export import ExportError, source_lines, to_c
from tests.export.compiling import (
    INT_MAX,
    INT_MIN,
    LETTERS,
    LLONG_MAX,
    LLONG_MIN,
    METHODS,
    Compiler,
    drawn_tree,
    hostile_labels,
    labelled,
    random_sizes,
    sizes_at_borders,
    small_sizes,
    trees,
)


def assert_same(compiler: Compiler, decision: DecisionFunction, comm: np.ndarray, message: np.ndarray) -> None:
    answers = compiler.answers(to_c(decision), comm, message)
    np.testing.assert_array_equal(answers[:, 0], decision.predict(comm, message))


def test_exact_source_answers_the_measured_best_at_every_cell(compiler: Compiler, fast_ethernet: xr.DataTree) -> None:
    names = [name for name in fast_ethernet.children if name != "pt2pt"]
    maps = [decision_map(fast_ethernet[name].to_dataset()) for name in names]
    source = to_c([exact(dmap) for dmap in maps])
    for column, dmap in enumerate(maps):
        comm, message = np.meshgrid(dmap["comm_size"].values, dmap["message_size"].values, indexing="ij")
        answers = compiler.answers(source, comm.ravel(), message.ravel())
        np.testing.assert_array_equal(answers[:, column], dmap["best"].values.ravel())


@pytest.mark.parametrize("decision", trees(), ids=repr)
def test_every_return_is_reached(compiler: Compiler, decision: DecisionFunction) -> None:
    serial = iter(range(1_000_000))
    source = re.sub(r"return \d+; /\*", lambda _: f"return {next(serial)}; /*", to_c(decision))
    reached = compiler.answers(source, *sizes_at_borders(decision))
    assert set(reached[:, 0].tolist()) == set(range(next(serial)))


@pytest.mark.parametrize("decision", trees(), ids=repr)
def test_no_two_branches_of_one_if_are_the_same_leaf(decision: DecisionFunction) -> None:
    assert not re.search(r"\{\n *return (\d+);[^\n]*\n *\} else \{\n *return \1;", to_c(decision))


def tree_of(attribute: str, cut: float) -> Split:
    return Split((Test(attribute, cut),), (Leaf(1), Leaf(2)))


@pytest.mark.parametrize(
    ("attribute", "cut"),
    [("total_size", 1e6), ("total_size", 2.0**62), ("total_size", -5.0), ("even", 0.0), ("power_of_two", 0.0)],
)
def test_derived_attributes_are_those_of_python(compiler: Compiler, attribute: str, cut: float) -> None:
    decision = DecisionFunction("bcast", METHODS, tree_of(attribute, cut))
    comm, message = random_sizes(5000)
    sizes = np.array([-3, -1, 0, 1, 2, 3, 1000, 1024])
    comm, message = np.append(comm, np.repeat(sizes, 4)), np.append(message, np.tile([0, 1, 10**12, -(10**12)], 8))
    assert_same(compiler, decision, comm, message)


class TestDerivedAttributes:
    def test_products_next_to_the_ends_of_64_bits_are_those_of_python(self, compiler: Compiler) -> None:
        # 7 × 1317624576693539401 = 2**63 - 1; the cuts are the greatest floats below 2**63 and 2**62.
        pairs = [(7, 1317624576693539401), (2, 2**62 - 1), (2, 2**62), (-2, 2**62), (3, 2**62), (-1, LLONG_MIN)]
        pairs += [(2**31 - 1, 2**32 + k) for k in (0, 1, 2, 3)] + [(2, 2**61 + k) for k in (-1, 0, 1)]
        comm, message = np.array(pairs).T
        for cut in (2.0**63 - 1024, 2.0**62, -(2.0**62), 2048 - 2.0**63):
            assert_same(compiler, DecisionFunction("bcast", METHODS, tree_of("total_size", cut)), comm, message)

    def test_each_is_computed_once_at_the_top(self) -> None:
        source = to_c(DecisionFunction("bcast", LETTERS, drawn_tree(("total_size", "even", "comm_size"), 2)))
        body = source[source.rindex("\nint colltune_bcast(") : source.index("#ifdef COLLTUNE_MAIN")]
        assert body.count("colltune_product(") == body.count("% 2 == 0") == 1


class TestProcessesPerNode:
    ATTRIBUTES = ("comm_size", "message_size", "ppn", "nodes", "data_per_node", "total_size", "even")

    def test_decides_as_python(self, compiler: Compiler) -> None:
        random = np.random.default_rng(3)
        decision = DecisionFunction("bcast", LETTERS, drawn_tree(self.ATTRIBUTES, 4))
        for comm, message in (random_sizes(100_000), small_sizes(100_000)):
            ppn = random.integers(-2, 64, comm.size)
            ppn[:4] = INT_MIN, INT_MAX, 0, 1
            answers = compiler.answers(to_c(decision), comm, message, ppn)
            np.testing.assert_array_equal(answers[:, 0], decision.predict(comm, message, ppn=ppn))

    @pytest.mark.parametrize("name", ["nodes", "data_per_node"])
    def test_ends_of_the_c_types(self, compiler: Compiler, name: str) -> None:
        ends = [INT_MIN, INT_MIN + 1, -7, -1, 0, 1, 2, 7, INT_MAX - 1, INT_MAX]
        sizes = [LLONG_MIN, -(2**32) - 1, -1, 0, 1, 2**32 + 2, LLONG_MAX]
        comm, message, ppn = (axis.ravel() for axis in np.meshgrid(ends, sizes, ends, indexing="ij"))
        for cut in (-(2.0**62), -1.0, 0.0, 3.0, 2.0**30, 2.0**62):
            decision = DecisionFunction("bcast", METHODS, tree_of(name, cut))
            answers = compiler.answers(to_c(decision), comm, message, ppn)
            np.testing.assert_array_equal(answers[:, 0], decision.predict(comm, message, ppn=ppn))

    def test_the_plain_name_decides_as_at_the_most_measured(self, compiler: Compiler) -> None:
        decision = DecisionFunction(
            "bcast", LETTERS, drawn_tree(self.ATTRIBUTES, 5), provenance={"ppns": [1, 4], "comm_size": [2, 64]}
        )
        source = to_c(decision)
        assert "processes per node: 4, the largest that was measured." in source
        online = decision.changed(provenance={"ppn": 2, "learnt": "online"})
        assert "processes per node: 2, that of most timings." in to_c(online)
        loop = "for (int p = 0; p < 70; p++) for (int m = 0; m < 300; m++)"
        call = 'printf("%d\\n", colltune_bcast(p, m))'
        program = compiler.build(f"{source}\n#include <stdio.h>\nint main(void) {{ {loop} {call}; return 0; }}")
        output = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
        expected = decision.predict(np.arange(70)[:, None], np.arange(300), ppn=4)
        np.testing.assert_array_equal(np.array(output, dtype=int), expected.ravel())


class TestSeveralCollectives:
    def test_one_tree_is_a_function_for_each_that_does_not_test_it(self) -> None:
        names = ["bcast", "reduce", "scan"]
        root = drawn_tree(("collective", "comm_size", "message_size", "total_size"), 7)
        facts = {"collectives": names, "comm_size": [2, 16]}
        decision = DecisionFunction(
            "bcast+reduce+scan", LETTERS, root, categories={"collective": names}, provenance=facts
        )
        quality = {"bcast+reduce+scan": {"penalty": {"mean": 1.5, "max": 7.0}}}
        source = to_c(decision, provenance={"statistics": quality})
        assert source.count("Decided together: bcast+reduce+scan") == source.count("mean 1.5 %") == 3
        assert "collective" not in "".join(re.findall(r"if \(.*?\)", source))
        parts = [decision.restricted(collective=name) for name in names]
        assert source_lines(decision) == sum(source_lines(part) for part in parts)

    def test_also_where_the_tree_does_not_test_it(self, compiler: Compiler) -> None:
        decision = DecisionFunction("a+b", METHODS, Leaf(1), categories={"collective": ["a", "b"]})
        assert compiler.answers(to_c(decision), np.array([2]), np.array([8])).tolist() == [[1, 1]]


@pytest.mark.parametrize(
    ("attribute", "cut"),
    [
        ("comm_size", 3e9),
        ("comm_size", -3e9),
        ("comm_size", 2.5),
        ("message_size", 2.0**40 + 0.5),
        ("message_size", -(2.0**63)),
    ],
)
def test_cuts_at_and_beyond_the_ends_of_the_c_types(compiler: Compiler, attribute: str, cut: float) -> None:
    decision = DecisionFunction("bcast", METHODS, tree_of(attribute, cut))
    comm, message = np.meshgrid(
        [INT_MIN, -1, 2, 3, INT_MAX], [LLONG_MIN, LLONG_MIN + 1, 0, 2**40, 2**40 + 1, LLONG_MAX - 1], indexing="ij"
    )
    assert_same(compiler, decision, comm.ravel(), message.ravel())


def test_names_from_files_can_do_no_harm(compiler: Compiler) -> None:
    labels = ["\ud800", *hostile_labels()]
    facts = {"system": "*/ #error", "network": "??/\n", "date": "*/", "library": "\\"}
    source = to_c(labelled("bcast */", labels, facts), provenance=facts)
    loop = f"for (int i = 0; i < {len(labels)}; i++) {{ puts(colltune_bcast____methods[i]); }}"
    program = compiler.build(f"{source}\n#include <stdio.h>\nint main(void) {{ {loop} return 0; }}\n")
    done = subprocess.run([program], capture_output=True, check=True)
    expected = b"".join(label.split("\0")[0].encode("utf-8", "surrogatepass") + b"\n" for label in labels)
    assert done.stdout == expected


def test_header_says_which_message_size_is_meant() -> None:
    assert "block per process" in to_c(DecisionFunction("allgather", METHODS, Leaf(0)))
    assert "always 0" in to_c(DecisionFunction("barrier", METHODS, Leaf(0)))


def test_same_data_and_date_give_the_same_source(monkeypatch: pytest.MonkeyPatch) -> None:
    decision = DecisionFunction("bcast", METHODS, Leaf(0))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1164000000")
    assert "2006-11-20" in to_c(decision)
    assert to_c(decision) == to_c([decision], provenance={"date": "2006-11-20"})


def test_source_lines_are_those_of_the_function() -> None:
    decision = DecisionFunction("bcast", METHODS, tree_of("comm_size", 8))
    function = re.search(r"^int colltune_bcast\(int [^;]*?\)\n\{.*?^\}$", to_c(decision), re.DOTALL | re.MULTILINE)
    assert function is not None
    assert source_lines(decision) == function[0].count("\n") + 1 == 10


def test_self_test_stops_at_what_is_no_pair(compiler: Compiler) -> None:
    program = compiler.build(to_c(DecisionFunction("bcast", METHODS, Leaf(2))), "-DCOLLTUNE_MAIN")
    done = subprocess.run([program], input="4 8\n4 x\n4 8\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "2\n")


def test_chains_of_many_tests_need_no_deep_nesting(compiler: Compiler) -> None:
    tree: Leaf | Split = Leaf(0)
    for cut in range(400, 0, -1):
        tree = Split((Test("message_size", float(cut)),), (Leaf(cut % 3), tree))
    decision = DecisionFunction("bcast", METHODS, tree)
    assert_same(compiler, decision, *sizes_at_borders(decision))


def test_two_names_that_become_the_same_are_refused() -> None:
    with pytest.raises(ExportError, match="two decision functions would define colltune_bcast_ppn"):
        to_c([DecisionFunction("bcast", METHODS, tree_of("ppn", 4)), DecisionFunction("bcast_ppn", METHODS, Leaf(0))])
