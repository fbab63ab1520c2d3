"""Times of a campaign that cannot be trusted: told by ``info``, left out by ``decide`` unless they are kept."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Run, assert_one_clear_line
from tests.files import run_file

OWN = {"benchmark": "colltune bench, skampi", "library": "Open MPI", "library_version": "5.0.11", "system": "here"}


def point(algorithm: str, size: int, micro: float, **further: Any) -> dict[str, Any]:
    samples = [micro * 1e-6 * share for share in (0.98, 1, 1.01, 1.02, 0.99)]
    sizes = {"segment_size": 0, "comm_size": 4, "message_size": size}
    return {"collective": "allreduce", "algorithm": algorithm, **sizes, "samples": samples, **further}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The faster method's time for 8 B is of late starts, and the launches of 64 B disagree."""
    linear = [point("linear", size, 20) for size in (8, 64, 512)]
    launches = [point("ring", 64, micro, launch=launch) for launch, micro in ((1, 10), (2, 45))]
    ring = [point("ring", 8, 10, late=136), *launches, point("ring", 512, 10)]
    return run_file(tmp_path / "results.jsonl", *linear, *ring, **OWN)


def test_info_lists_them_with_the_reason(colltune: Run, run: Path) -> None:
    doubtful = colltune("info", run, "--json").json["collectives"]["allreduce"]["doubtful"]
    assert [(cell["method"], cell["message_size"]) for cell in doubtful] == [("ring", 8), ("ring", 64)]
    assert doubtful[0]["reason"] == "136 starts were late, and 5 were not"
    assert "the longest takes 4.5 times the shortest" in doubtful[1]["reason"]
    assert "doubtful times: 2" in colltune("info", run).out


def test_they_make_no_rule_unless_they_are_kept(colltune: Run, run: Path) -> None:
    tree = ("decide", run, "-c", "allreduce", "--tree", "quadtree")
    left = colltune(*tree)
    assert "left out: 2 times that cannot be trusted" in left.err
    kept = colltune(*tree, "--keep-doubtful")
    assert "kept: 2 times that cannot be trusted" in kept.err
    assert colltune(*tree, "--json", "--keep-doubtful").json["methods"] != []

    def chosen(*more: str) -> str:
        export = ("export", run, "-c", "allreduce", "--tree", "quadtree", "--to", "openmpi")
        rules = [line for line in colltune(*export, *more).out.splitlines() if line.split("#")[0].count(" ") == 4]
        return " ".join(rule.split()[1] for rule in rules)

    assert chosen() == "1 4"
    assert chosen("--keep-doubtful").startswith("4 ")


def test_the_map_leaves_them_out_unless_they_are_kept(colltune: Run, run: Path) -> None:
    maps = [colltune("map", run, "-c", "allreduce", "--json", *more).json for more in ((), ("--keep-doubtful",))]
    best = [[each["methods"][place] for place in each["best"][0]] for each in maps]
    assert best == [["linear", "linear", "ring"], ["ring", "linear", "ring"]]


def test_where_nothing_can_be_trusted_nothing_is_decided(colltune: Run, tmp_path: Path) -> None:
    path = run_file(tmp_path / "late.jsonl", point("ring", 8, 10, late=136), **OWN)
    assert_one_clear_line(colltune("decide", path, "-c", "allreduce", "--tree", "quadtree"), "no time can be trusted")
