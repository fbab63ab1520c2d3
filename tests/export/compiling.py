"""Generated code compiled and run, and decision functions and sizes to do it with."""

import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test, decision_map, exact, quadtree
from tests.conftest import ran
from tests.cubes import synthetic_cube

STRICT = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wmissing-prototypes -Wmissing-declarations -Werror"
INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LLONG_MIN, LLONG_MAX = -(2**63), 2**63 - 1
METHODS = [
    Method("binomial", "binomial", 0, {"fanout": 4}),
    Method("pipeline 8KiB", "pipeline", 8192),
    Method("linear", "linear"),
]
LETTERS = [Method(f"method {index}", "any") for index in range(128)]


class Compiler:
    """Compiles generated source as strictly as gcc can, in a folder of its own."""

    def __init__(self, gcc: str, folder: Path) -> None:
        self.gcc, self.folder = gcc, folder

    def build(self, source: str, *options: str, name: str = "decision") -> Path:
        """Compile; a warning fails the test."""
        file, made = self.folder / f"{name}.c", self.folder / name
        file.write_text(source, encoding="ascii")
        ran([self.gcc, *STRICT.split(), *options, "-o", str(made), str(file)])
        return made

    def answers(self, source: str, *columns: np.ndarray) -> np.ndarray:
        """What the self-test program answers to pairs of sizes (or triples with ppn), one row each."""
        program = self.build(source, "-O1", "-DCOLLTUNE_MAIN")
        rows = zip(*(column.tolist() for column in columns), strict=True)
        pairs = "".join(" ".join(map(str, row)) + "\n" for row in rows)
        done = subprocess.run([program], input=pairs, capture_output=True, text=True, check=True)
        return np.array([[int(word) for word in line.split()] for line in done.stdout.splitlines()])


def module_of(source: str) -> dict[str, Any]:
    """Run Python source as a module with nothing in it but Python's own names."""
    assert source.isascii()
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(source, "exported.py", "exec", dont_inherit=True), names)  # noqa: S102
    return names


@cache
def trees() -> list[DecisionFunction]:
    """Decision functions of many shapes, from seeded random maps; not to be changed."""
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


def small_sizes(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sizes as the cuts of drawn trees have them."""
    random = np.random.default_rng(20061121)
    return random.integers(-2, 70, count), np.exp(random.uniform(0, np.log(5000), count)).astype(np.int64) - 1


def drawn_tree(attributes: Sequence[str], seed: int, depth: int = 7) -> Leaf | Split:
    """Draw a tree of binary splits over `attributes`, each of its leaves another method."""
    random = np.random.default_rng(seed)
    leaves = iter(range(len(LETTERS)))
    highest = {"comm_size": 64, "ppn": 16, "nodes": 20, "even": 0, "power_of_two": 0, "collective": 1}

    def drawn(level: int) -> Leaf | Split:
        if level == depth or (level > 2 and random.random() < 0.1):
            return Leaf(next(leaves))
        name = attributes[(level + int(random.integers(2))) % len(attributes)]
        cut = float(random.integers(0, highest[name] + 1) if name in highest else 2 ** random.uniform(0, 12))
        return Split((Test(name, cut),), (drawn(level + 1), drawn(level + 1)))

    return drawn(0)


def labelled(collective: str, labels: Sequence[str], facts: dict[str, Any]) -> DecisionFunction:
    """Decide for the label whose number is that of the negative message size."""
    methods = [Method(label, label, 7, {label: label}) for label in labels]
    tree: Leaf | Split = Leaf(0)
    for index in range(1, len(labels)):
        tree = Split((Test("message_size", float(-index)),), (Leaf(index), tree))
    return DecisionFunction(collective, methods, tree, provenance=facts)


def hostile_labels() -> Sequence[str]:
    """Names that would end a comment or a literal, join lines or become other characters."""
    random = np.random.default_rng(3)
    alphabet = list("*/?\"\\\n\r\t\0 %=!(<>'-a0é漢\u202e\u2028")
    drawn = ["".join(random.choice(alphabet, size=int(length))) for length in random.integers(1, 30, 200)]
    return ["*/ int x; /*", "??/", "what??/\n", "??=??(", 'say "hi"\\', "\\", "\n#error", "é1", "\x001", "//", *drawn]
