"""The C export: compiled, it decides as Python does; and a compiler finds nothing to say about it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test, decision_map, exact, quadtree, statistics
from dashboard.export import ExportError, source_lines, to_c
from tests.cubes import synthetic_cube

STRICT = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wmissing-prototypes -Wmissing-declarations -Werror"
INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LLONG_MIN, LLONG_MAX = -(2**63), 2**63 - 1
METHODS = [
    Method("binomial", "binomial", 0, {"fanout": 4}),
    Method("pipeline 8KiB", "pipeline", 8192),
    Method("linear", "linear"),
]


class Compiler:
    """Compiles generated source as strictly as gcc can, in a folder of its own."""

    def __init__(self, gcc: str, folder: Path) -> None:
        self.gcc, self.folder = gcc, folder

    def build(self, source: str, *options: str, name: str = "decision") -> Path:
        """Compile; a warning fails the test."""
        file, made = self.folder / f"{name}.c", self.folder / name
        file.write_text(source, encoding="ascii")
        done = subprocess.run(
            [self.gcc, *STRICT.split(), *options, "-o", str(made), str(file)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return made

    def answers(self, source: str, comm: np.ndarray, message: np.ndarray) -> np.ndarray:
        """What the self-test program answers to pairs of sizes, one row a pair."""
        program = self.build(source, "-O1", "-DCOLLTUNE_MAIN")
        pairs = "".join(f"{p} {m}\n" for p, m in zip(comm.tolist(), message.tolist(), strict=True))
        done = subprocess.run([program], input=pairs, capture_output=True, text=True, check=True)
        return np.array([[int(word) for word in line.split()] for line in done.stdout.splitlines()])


@pytest.fixture
def compiler(gcc: str, tmp_path: Path) -> Compiler:
    return Compiler(gcc, tmp_path)


def trees() -> list[DecisionFunction]:
    """Decision functions of many shapes, from seeded random maps."""
    made = []
    for seed, (comm, message, methods, missing) in enumerate(
        [(1, 1, 1, 0), (5, 9, 3, 0), (16, 24, 8, 0.3), (40, 31, 12, 0)]
    ):
        dmap = decision_map(synthetic_cube(comm, message, methods, seed, missing))
        made += [exact(dmap), quadtree(dmap, max_depth=2), quadtree(dmap, threshold=0.7)]
    return made


def sizes_at_borders(decision: DecisionFunction) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of sizes next to a cut, and the ends of the C types."""
    cuts: dict[str, set[int]] = {
        "comm_size": {0, 1, -1, INT_MIN, INT_MAX},
        "message_size": {0, 1, -1, LLONG_MIN, LLONG_MAX},
    }
    for region in decision.regions().to_dict("records"):
        for short, name in (("comm", "comm_size"), ("message", "message_size")):
            for bound in (region[f"{short}_low"], region[f"{short}_high"]):
                if np.isfinite(bound):
                    cuts[name] |= {int(bound) - 1, int(bound), int(bound) + 1}
    comm, message = np.meshgrid(sorted(cuts["comm_size"]), sorted(cuts["message_size"]), indexing="ij")
    return comm.ravel(), message.ravel()


def random_sizes(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Log-uniform sizes over the whole of the C types."""
    random = np.random.default_rng(20061120)
    comm = np.exp(random.uniform(0, np.log(2.0**30.99), count)).astype(np.int64)
    message = np.exp(random.uniform(0, np.log(2.0**62.9), count)).astype(np.int64)
    return comm, message


def assert_same(compiler: Compiler, decision: DecisionFunction, comm: np.ndarray, message: np.ndarray) -> None:
    found = compiler.answers(to_c(decision), comm, message)
    np.testing.assert_array_equal(found[:, 0], decision.predict(comm, message))


@pytest.mark.parametrize("decision", trees(), ids=repr)
def test_decides_as_python_at_borders(compiler: Compiler, decision: DecisionFunction) -> None:
    assert_same(compiler, decision, *sizes_at_borders(decision))


def test_decides_as_python_at_a_hundred_thousand_random_sizes(compiler: Compiler) -> None:
    decision = exact(decision_map(synthetic_cube(64, 60, 20, seed=5)))
    assert_same(compiler, decision, *random_sizes(100_000))


def test_exact_source_answers_the_measured_best_at_every_cell(compiler: Compiler, fast_ethernet: xr.DataTree) -> None:
    names = [name for name in fast_ethernet.children if name != "pt2pt"]
    maps = [decision_map(fast_ethernet[name].to_dataset()) for name in names]
    source = to_c([exact(dmap) for dmap in maps])
    for column, dmap in enumerate(maps):
        comm, message = np.meshgrid(dmap["comm_size"].values, dmap["message_size"].values, indexing="ij")
        found = compiler.answers(source, comm.ravel(), message.ravel())
        np.testing.assert_array_equal(found[:, column], dmap["best"].values.ravel())


@pytest.mark.parametrize("max_depth", [0, 1, 3, None])
def test_fast_ethernet_broadcast_decides_as_python(
    compiler: Compiler, fast_ethernet_bcast: xr.Dataset, max_depth: int | None
) -> None:
    decision = quadtree(decision_map(fast_ethernet_bcast), max_depth=max_depth)
    assert_same(compiler, decision, *sizes_at_borders(decision))
    assert_same(compiler, decision, *random_sizes(20_000))


@pytest.mark.parametrize("decision", trees(), ids=repr)
def test_every_return_is_reached(compiler: Compiler, decision: DecisionFunction) -> None:
    serial = iter(range(1_000_000))
    source = re.sub(r"return \d+; /\*", lambda _: f"return {next(serial)}; /*", to_c(decision))
    reached = compiler.answers(source, *sizes_at_borders(decision))
    assert set(reached[:, 0].tolist()) == set(range(next(serial)))


@pytest.mark.parametrize("decision", trees(), ids=repr)
def test_no_two_branches_of_one_if_are_the_same_leaf(decision: DecisionFunction) -> None:
    assert not re.search(r"\{\n *return (\d+);[^\n]*\n *\} else \{\n *return \1;", to_c(decision))


def test_defines_one_function_and_one_table_for_each_collective_and_nothing_else(compiler: Compiler) -> None:
    decisions = [DecisionFunction(name, METHODS, tree_of("total_size", 4096)) for name in ("bcast", "reduce_scatter")]
    made = compiler.build(to_c(decisions), "-c")
    listed = subprocess.run(["nm", "-g", str(made)], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in listed.splitlines()}
    assert names == {f"colltune_{c}{end}" for c in ("bcast", "reduce_scatter") for end in ("", "_methods")}


def tree_of(attribute: str, cut: float) -> Split:
    return Split((Test(attribute, cut),), (Leaf(1), Leaf(2)))


@pytest.mark.parametrize(
    ("attribute", "cut"),
    [("total_size", 1e6), ("total_size", 2.0**62), ("total_size", -5.0), ("even", 0.0), ("power_of_two", 0.0)],
)
def test_derived_attributes_are_those_of_python(compiler: Compiler, attribute: str, cut: float) -> None:
    decision = DecisionFunction("bcast", METHODS, tree_of(attribute, cut))
    comm, message = random_sizes(5000)
    some = np.array([-3, -1, 0, 1, 2, 3, 1000, 1024])
    comm, message = np.append(comm, np.repeat(some, 4)), np.append(message, np.tile([0, 1, 10**12, -(10**12)], 8))
    assert_same(compiler, decision, comm, message)


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


def hostile_labels() -> Sequence[str]:
    """Names that would end a comment or a literal, join lines or become other characters."""
    random = np.random.default_rng(3)
    alphabet = list("*/?\"\\\n\r\t\0 %=!(<>'-a0é漢\u202e\u2028")
    drawn = ["".join(random.choice(alphabet, size=int(length))) for length in random.integers(1, 30, 200)]
    return ["*/ int x; /*", "??/", "what??/\n", "??=??(", 'say "hi"\\', "\\", "\n#error", "é1", "\x001", "//", *drawn]


def test_names_from_files_can_do_no_harm(compiler: Compiler) -> None:
    labels = hostile_labels()
    methods = [Method(label, label, 7, {label: label}) for label in labels]
    tree: Leaf | Split = Leaf(0)
    for index in range(1, len(labels)):
        tree = Split((Test("message_size", float(-index)),), (Leaf(index), tree))
    facts = {"system": "*/ #error", "network": "??/\n", "date": "*/", "library": "\\"}
    source = to_c(DecisionFunction("bcast */", methods, tree, provenance=facts), provenance=facts)
    loop = f"for (int i = 0; i < {len(labels)}; i++) {{ puts(colltune_bcast____methods[i]); }}"
    program = compiler.build(f"{source}\n#include <stdio.h>\nint main(void) {{ {loop} return 0; }}\n")
    done = subprocess.run([program], capture_output=True, check=True)
    expected = b"".join(label.split("\0")[0].encode() + b"\n" for label in labels)
    assert done.stdout == expected


def test_header_tells_where_the_source_comes_from(fast_ethernet_bcast: xr.Dataset) -> None:
    decision = quadtree(decision_map(fast_ethernet_bcast), max_depth=3, threshold=0.9)
    numbers = statistics(fast_ethernet_bcast, decision)
    facts = {"date": "2026-11-20", "version": "1.2.3", "statistics": {"bcast": numbers}, "sources": ["a.sko", "b.sko"]}
    text = " ".join(to_c(decision, provenance=facts).replace("\n *", " ").split())
    assert "colltune 1.2.3, 2026-11-20" in text
    assert f"digest {fast_ethernet_bcast.attrs['digest']}, 2 sources" in text
    assert "quadtree (max_depth 3, threshold 0.9)" in text
    assert f"mean {numbers['penalty']['mean']:.4g} %" in text
    assert "bytes of the vector" in text
    assert "/* 16: algorithm pipeline, segment size 1024 bytes */" in text


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


def test_what_cannot_be_written_is_refused() -> None:
    bcast = DecisionFunction("bcast", METHODS, Leaf(0))
    with pytest.raises(ExportError, match="no decision function"):
        to_c([])
    with pytest.raises(ExportError, match="two decision functions would define colltune_bcast"):
        to_c([bcast, bcast])
    with pytest.raises(ExportError, match=r"'ppn'.*comm_size, message_size, total_size"):
        to_c(DecisionFunction("bcast", METHODS, tree_of("ppn", 4)))
