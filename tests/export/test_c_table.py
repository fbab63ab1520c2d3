"""The C export with tables: the answers of nested ifs and of Python, without a branch on the way."""

import re
import subprocess

import numpy as np
import pytest

from dashboard.decisions import DecisionFunction, Leaf, Split, Test, decision_map, exact
from dashboard.export import ExportError, to_c_table
from dashboard.export.targets.c.search import count_type
from tests.cubes import cube_of, synthetic_cube
from tests.export.compiling import (
    INT_MAX,
    INT_MIN,
    LETTERS,
    LLONG_MAX,
    LLONG_MIN,
    METHODS,
    Compiler,
    drawn_tree,
    sizes_at_borders,
    small_sizes,
)


def assert_same(compiler: Compiler, decision: DecisionFunction, *columns: np.ndarray) -> None:
    answers = compiler.answers(to_c_table(decision), *columns)
    given = {"ppn": columns[2]} if len(columns) > 2 else {}
    np.testing.assert_array_equal(answers[:, 0], decision.predict(*columns[:2], **given))


def body_of(source: str) -> str:
    """The function that decides, without the rest of the file."""
    return re.findall(r"^int colltune_\w+\([^;]*?\)\n\{.*?^\}$", source, re.DOTALL | re.MULTILINE)[0]


def test_a_cut_that_no_number_of_processes_reaches_is_left_out(compiler: Compiler) -> None:
    never = Split((Test("comm_size", 1 << 40),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction("bcast", METHODS, Split((Test("message_size", 99),), (never, Leaf(2))))
    assert_same(compiler, decision, *small_sizes(1_000))
    assert "2 intervals of message_size" in to_c_table(decision)


@pytest.mark.parametrize("cuts", [255, 256, 65535, 65536])
def test_counts_of_cuts_fit_their_type(cuts: int) -> None:
    # C promises that an unsigned char holds 255 and an unsigned short 65535, and no more.
    room = {"unsigned char": 255, "unsigned short": 65535, "unsigned": 4294967295}
    assert room[count_type(cuts)] == min(most for most in room.values() if most >= cuts)


def test_more_intervals_than_a_byte_counts_decide_as_python(compiler: Compiler) -> None:
    sizes = np.arange(1, 400, dtype=np.int64)
    decision = exact(decision_map(cube_of([[1 + sizes % 2], [2 - sizes % 2]], (2,), sizes)))
    assert_same(compiler, decision, np.full(400, 2), np.arange(400))


def chain(attribute: str, cuts: list[int]) -> Leaf | Split:
    """Give a tree with another method in each interval."""
    root: Leaf | Split = Leaf(len(cuts) % 3)
    for index, cut in reversed(list(enumerate(cuts))):
        root = Split((Test(attribute, float(cut)),), (Leaf(index % 3), root))
    return root


@pytest.mark.parametrize(
    ("attribute", "cuts", "way"),
    [
        ("comm_size", [0], "direct"),
        ("comm_size", [2, 3, 17, 4094], "direct"),
        ("comm_size", [2, 64, 4096, 65536], "octaves"),
        ("comm_size", [8, INT_MAX - 1], "octaves"),
        ("comm_size", [-5, 0, 7], "binary"),
        ("comm_size", [70000, 70001, 70002], "binary"),
        ("message_size", [0, 1, 2, 3, 4094], "direct"),
        ("message_size", [0, 1, 2, 4, 1000, 1 << 20, 1 << 40], "octaves"),
        ("message_size", [0, 1023, 1279, 1 << 40], "octaves"),
        ("message_size", [2**53 - 3, 2**53 - 2], "binary"),
        ("message_size", [1, 2**53 - 2], "octaves"),
        ("message_size", [1, 2**53], "binary"),
        ("message_size", [-(2**40), 5], "binary"),
        ("message_size", [5000, 5001, 5002, 10**15, 2**62], "binary"),
    ],
)
def test_each_way_to_search_finds_every_interval(compiler: Compiler, attribute: str, cuts: list[int], way: str) -> None:
    decision = DecisionFunction("bcast", METHODS, chain(attribute, cuts))
    body = body_of(to_c_table(decision))
    assert way == ("octaves" if "colltune_octave" in body else "binary" if "<< 0" in body else "direct")
    values = {near for cut in cuts for near in (cut - 1, cut, cut + 1)}
    values |= {sign * 2**power + step for power in range(63) for sign in (-1, 1) for step in (-1, 0, 1)}
    values |= {LLONG_MIN, LLONG_MAX, INT_MIN, INT_MAX}
    low, high = (INT_MIN, INT_MAX) if attribute == "comm_size" else (LLONG_MIN, LLONG_MAX)
    column = np.array(sorted(value for value in values if low <= value <= high))
    other = np.ones_like(column)
    assert_same(compiler, decision, *((column, other) if attribute == "comm_size" else (other, column)))


def test_there_is_no_branch(compiler: Compiler) -> None:
    decision = exact(decision_map(synthetic_cube(27, 48, 20, seed=1, noise=0.5)))
    assert not re.search(r"\b(if|for|while|goto|switch)\b", body_of(to_c_table(decision)))
    made = compiler.build(to_c_table(decision), "-O2", "-c")
    listed = subprocess.run(["objdump", "-d", str(made)], capture_output=True, text=True, check=True).stdout
    jumps = re.findall(r"\t(j\w+|call\w*)\s", listed)
    assert "<colltune_bcast>:" in listed
    assert not jumps


def test_more_than_256_methods_fit(compiler: Compiler) -> None:
    time = np.where(np.arange(300)[:, None, None] == np.arange(300).reshape(20, 15), 1.0, 2.0)
    decision = exact(decision_map(cube_of(time, np.arange(2, 22), 3 ** np.arange(15))))
    comm, message = sizes_at_borders(decision)
    assert len(set(decision.predict(comm, message).tolist())) == 300
    assert_same(compiler, decision, comm, message)


def test_a_table_too_large_is_refused() -> None:
    root: Leaf | Split = Leaf(0)
    for name in ("comm_size", "message_size", "total_size"):
        for cut in range(439, 0, -4):
            root = Split((Test(name, float(cut)),), (Leaf(cut % 3), root))
    with pytest.raises(ExportError, match=r"bcast: a table of \d+ intervals of comm_size x \d+ .* more than 1048576"):
        to_c_table(DecisionFunction("bcast", METHODS, root))


def test_few_methods_take_a_byte_of_the_table_each() -> None:
    source = to_c_table(DecisionFunction("bcast", LETTERS, drawn_tree(("comm_size", "message_size"), 1, depth=4)))
    assert re.search(r"unsigned char colltune_bcast_table\[", source)
