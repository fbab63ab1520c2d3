"""NCCL's tuner configuration: read line by line as the plugin does, it decides as the tree."""

import pytest

from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.nodes import Leaf, Method, Split, Test
from dashboard.export import TARGETS, ExportError
from dashboard.export.rules.lint import read_text
from dashboard.export.writing import Order, write

METHODS = [
    Method("ring ll channels=4", "ring", 0, {"protocol": "ll", "channels": 4}),
    Method("tree", "tree", 0, {"protocol": "simple"}),
    Method("default", "default"),
]


def decided(collective: str, below: int = 1, **facts: object) -> DecisionFunction:
    """Up to 4 ranks one method, above by the message size."""
    above = Split((Test("message_size", 1024),), (Leaf(0), Leaf(1)))
    return DecisionFunction(collective, METHODS, Split((Test("comm_size", 4),), (Leaf(below), above)), provenance=facts)


def acts(text: str, ranks: int, size: int) -> str:
    """The algorithm of the first line that fits a call, as the plugin's source does; empty where none does."""
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        _, least, most, algorithm, _, _, _, wanted = line.split(",")
        if int(least) <= size <= int(most) and int(wanted) in (-1, ranks):
            return algorithm
    return ""


def written(decision: DecisionFunction) -> str:
    text = str(TARGETS["nccl"].write([decision]))
    assert read_text(text).faults == ()
    return text


@pytest.mark.parametrize(("collective", "factor"), [("allreduce", 0), ("bcast", 0), ("allgather", 1)])
def test_the_first_line_that_fits_decides_as_the_tree(collective: str, factor: int) -> None:
    decision = decided(collective)
    text = written(decision)
    for ranks in (2, 3, 4, 5):
        for size in (1, 1024, 1025, 1 << 20):
            total = size * (ranks if factor else 1)
            method = METHODS[int(decision.predict([ranks], [size])[0])]
            assert acts(text, ranks, total) == method.algorithm, (ranks, size)
    assert all(words in text for words in (",ring,ll,4,-1,", ",tree,simple,-1,-1,"))
    assert (acts(text, 64, 8) == "ring") == (not factor)
    assert ("NCCL decides by itself" in text) == bool(factor)


def test_blocks_are_decided_for_every_number_of_ranks_up_to_the_largest_measured() -> None:
    text = written(decided("allgather", comm_size=(2, 32)))
    for ranks in (5, 8, 31, 32):
        assert [acts(text, ranks, size * ranks) for size in (1024, 1025)] == ["ring", "tree"]
    assert acts(text, 33, 33) == ""
    assert "of more than 32 processes NCCL decides by itself" in text
    (part,) = write(Order("nccl", (decided("allgather", comm_size=(2, 32)),), {})).parts
    assert part.notes == ("Of more than 32 processes NCCL decides by itself.",)
    assert "of more than 5 processes NCCL decides by itself" in written(decided("allgather", comm_size=32))
    with pytest.raises(ExportError, match="more than 4,096 lines"):
        written(decided("allgather", comm_size=(2, 4096)))


def test_what_is_left_to_nccl_has_no_line_that_catches_it() -> None:
    text = written(decided("allreduce", below=2))
    assert acts(text, 3, 4096) == ""
    assert acts(text, 5, 4096) == "tree"


def test_what_was_decided_to_be_left_to_nccl_is_not_said_to_be_otherwise() -> None:
    up_to_8 = Split((Test("comm_size", 8),), (decided("allreduce", below=2).root, Leaf(2)))
    text = written(DecisionFunction("allreduce", METHODS, up_to_8))
    assert [acts(text, ranks, 4096) for ranks in (4, 8, 9)] == ["", "tree", ""]
    assert "NCCL decides by itself" not in text


def test_what_nccl_lacks_is_refused_by_name() -> None:
    with pytest.raises(ExportError, match="does not decide alltoall"):
        TARGETS["nccl"].write([decided("alltoall")])
    for method in (Method("binomial", "binomial"), Method("ring many", "ring", 0, {"channels": "many"})):
        with pytest.raises(ExportError, match=f"NCCL has no '{method.label}'; it has tree, ring"):
            TARGETS["nccl"].write([DecisionFunction("bcast", [method], Leaf(0))])


def test_where_all_is_left_to_nccl_there_is_no_file() -> None:
    with pytest.raises(ExportError, match="left to NCCL's own decision: no file is needed"):
        TARGETS["nccl"].write([DecisionFunction("bcast", METHODS, Leaf(2))])
