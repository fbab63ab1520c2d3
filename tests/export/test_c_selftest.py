"""Header and self-test of exported C: they compile strictly, accept what was exported, find any border that moved."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test, decision_map, exact
from dashboard.export import ExportError, to_c, to_c_table
from dashboard.export.targets.c.header import to_header
from dashboard.export.targets.c.selftest import MOST_ROWS, borders, to_selftest
from tests.cubes import synthetic_cube
from tests.export.compiling import LETTERS, STRICT, Compiler, drawn_tree, trees

NOISY = exact(decision_map(synthetic_cube(5, 9, 4, 3, noise=0.4)))


def checked(compiler: Compiler, source: str, test: Path) -> subprocess.CompletedProcess[str]:
    """Run the compiled self-test with an exported file."""
    program = compiler.build(source, str(test), name="exported")
    return subprocess.run([program], capture_output=True, text=True, check=False)


def compiled(compiler: Compiler, test: str) -> Path:
    """The self-test without the file that it tests."""
    return compiler.build(test, "-c", name="self_test.o")


@pytest.mark.parametrize("decision", trees(), ids=repr)
def test_both_kinds_of_export_pass(compiler: Compiler, decision: DecisionFunction) -> None:
    test = compiled(compiler, to_selftest(decision, file="exported.c"))
    for source in (to_c(decision), to_c_table(decision)):
        done = checked(compiler, source, test)
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(r"ok: \d+ decisions at the borders are as they were made\n", done.stdout)


@pytest.mark.parametrize(
    "attributes", [("comm_size", "total_size"), ("even", "message_size"), ("ppn", "data_per_node")]
)
def test_so_do_trees_of_derived_attributes(compiler: Compiler, attributes: tuple[str, ...]) -> None:
    decision = DecisionFunction("bcast", LETTERS, drawn_tree(attributes, seed=7, depth=4))
    test = compiled(compiler, to_selftest(decision))
    assert checked(compiler, to_c(decision), test).returncode == 0


@pytest.mark.parametrize("by", [-1, 1])
def test_any_border_that_moved_by_one_is_found(compiler: Compiler, by: int) -> None:
    source, test = to_c(NOISY), compiled(compiler, to_selftest(NOISY))
    cuts = list(re.finditer(r"size <= (\d+)", source))
    assert len(cuts) > 5
    for cut in cuts:
        moved = source[: cut.start(1)] + str(int(cut[1]) + by) + source[cut.end(1) :]
        done = checked(compiler, moved, test)
        assert done.returncode == 1, cut[0]
        assert "expected" in done.stderr


def test_any_other_answer_is_found(compiler: Compiler) -> None:
    source, test = to_c(NOISY), compiled(compiler, to_selftest(NOISY))
    answer = re.search(r"return (\d+); /\*", source)
    assert answer is not None
    other = source[: answer.start(1)] + "99" + source[answer.end(1) :]
    assert checked(compiler, other, test).returncode == 1


def test_several_collectives_are_checked_by_one_program(compiler: Compiler) -> None:
    other = DecisionFunction("reduce", NOISY.methods, NOISY.tree)
    test = compiled(compiler, to_selftest([NOISY, other]))
    assert checked(compiler, to_c([NOISY, other]), test).returncode == 0


def test_a_table_has_an_end() -> None:
    random = np.random.default_rng(2)
    node: Leaf | Split = Leaf(0)
    for place, cut in enumerate(random.permutation(300).tolist()):
        node = Split((Test("comm_size" if place % 2 else "message_size", 10 * cut + 5),), (Leaf(place % 3), node))
    text = to_selftest(DecisionFunction("bcast", LETTERS[:3], node))
    assert text.count("\n    {") <= MOST_ROWS


def test_borders_have_both_sides_of_every_cut() -> None:
    tree = Split((Test("comm_size", 4.5),), (Leaf(0), Split((Test("total_size", 1000),), (Leaf(1), Leaf(0)))))
    comm, message, _ = borders(DecisionFunction("bcast", LETTERS[:2], tree).tree)
    assert {4, 5} <= set(comm.tolist())
    assert {200, 201} <= set(message.tolist())


def test_a_program_includes_the_header(compiler: Compiler) -> None:
    decision = DecisionFunction("bcast", [Method("a", "linear"), Method("b", "binomial")], Leaf(1))
    (compiler.folder / "colltune.h").write_text(to_header(decision), encoding="ascii")
    main = (
        '#include "colltune.h"\n#include "colltune.h"\n#include <stdio.h>\n'
        "int main(void) { int m = colltune_bcast(4, 8); "
        'printf("%s %d\\n", colltune_bcast_methods[m], COLLTUNE_BCAST_METHODS); return 0; }\n'
    )
    files = {"exported.c": to_c(decision), "main.c": main}
    for name, text in files.items():
        (compiler.folder / name).write_text(text, encoding="ascii")
    program = compiler.folder / "program"
    subprocess.run([compiler.gcc, *STRICT.split(), "-o", program, *(compiler.folder / n for n in files)], check=True)
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == "b 2\n"


def test_nothing_to_export_is_refused() -> None:
    for write in (to_header, to_selftest):
        with pytest.raises(ExportError, match="no decision function"):
            write([])


def test_the_header_says_where_it_comes_from() -> None:
    text = to_header(NOISY, provenance={"version": "9.9", "date": "2026-11-21"})
    assert "Generated by colltune 9.9, 2026-11-21" in text
    assert text.isascii()


def test_borders_of_nodes_are_those_of_the_processes_that_fill_them() -> None:
    tree = Split((Test("nodes", 3),), (Leaf(0), Split((Test("ppn", 4),), (Leaf(1), Leaf(2)))))
    comm, _, ppn = borders(DecisionFunction("bcast", LETTERS, tree).tree)
    assert set(ppn) >= {4, 5}
    assert set(comm) >= {12, 13, 15, 16}
