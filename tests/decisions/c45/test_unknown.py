"""Unknown values, by the worked example of Quinlan's book (1993, chapter 3): golf with one outlook not known."""

import numpy as np
import pytest

from dashboard.decisions.grown.c45.choose import Options
from dashboard.decisions.grown.c45.classify import classify
from dashboard.decisions.grown.c45.discrete import count_values
from dashboard.decisions.grown.c45.gain import discrete_gain
from dashboard.decisions.grown.c45.grow import grow
from dashboard.decisions.grown.c45.prune import prune
from dashboard.decisions.grown.c45.table import Level, TrainingTable, Trial
from dashboard.domain.errors import DecisionError

PLAY, DONT = 0, 1
SUNNY, OVERCAST, RAIN = 0, 1, 2
TRUE, FALSE = 0, 1
UNKNOWN = np.nan
GOLF = [
    (SUNNY, 75, 70, TRUE, PLAY),
    (SUNNY, 80, 90, TRUE, DONT),
    (SUNNY, 85, 85, FALSE, DONT),
    (SUNNY, 72, 95, FALSE, DONT),
    (SUNNY, 69, 70, FALSE, PLAY),
    (UNKNOWN, 72, 90, TRUE, PLAY),
    (OVERCAST, 83, 78, FALSE, PLAY),
    (OVERCAST, 64, 65, TRUE, PLAY),
    (OVERCAST, 81, 75, FALSE, PLAY),
    (RAIN, 71, 80, TRUE, DONT),
    (RAIN, 65, 70, TRUE, DONT),
    (RAIN, 75, 80, FALSE, PLAY),
    (RAIN, 68, 80, FALSE, PLAY),
    (RAIN, 70, 96, FALSE, PLAY),
]


@pytest.fixture
def golf() -> TrainingTable:
    columns = np.array(GOLF, dtype=np.float32).T
    return TrainingTable.of(columns[:4], np.array([3, 0, 0, 2], dtype=np.int32), columns[4].astype(np.int32), 2)


def test_gain_and_split_information_of_outlook(golf: TrainingTable) -> None:
    counts, sizes = np.zeros((3, 2), np.float32), np.zeros(4, np.float32)
    lists = np.array([0, 14]), np.arange(14, dtype=np.int32)[None], np.ones((1, 14), np.float32)
    level = Level(*lists, np.zeros(1, np.int32), np.zeros((1, 4), np.bool_))
    room = np.ones(1, np.bool_), np.zeros((1, 2), np.float32), np.zeros((3, 4, 1), np.float32)
    trial = Trial(golf, level, *room)
    base = count_values(trial, 0, 0, counts, sizes)

    gain, info = discrete_gain(counts, sizes, 3, base, 2, golf.logs)

    assert base == pytest.approx(0.961, abs=5e-4)
    assert gain == pytest.approx(0.199, abs=5e-4)
    assert info == pytest.approx(1.809, abs=5e-4)
    assert gain / info == pytest.approx(0.110, abs=5e-4)


@pytest.mark.parametrize("pruned", [False, True])
def test_the_tree_of_the_book(golf: TrainingTable, pruned: bool) -> None:
    tree = grow(golf, Options(2, gain_ratio=True, group_values=False))
    nodes = prune(golf, tree, 25.0) if pruned else tree

    assert nodes.attribute.tolist() == [0, 2, -1, 3, -1, -1, -1, -1]
    assert nodes.cut[1] == 75
    leaves = nodes.width == 0
    # Play (3.2), Play (2.0), Don't Play (3.4/0.4), Don't Play (2.4/0.4), Play (3.0)
    assert nodes.cases[leaves] == pytest.approx([3 + 3 / 13, 2, 3 + 5 / 13, 2 + 5 / 13, 3])
    assert nodes.label[leaves].tolist() == [PLAY, PLAY, DONT, DONT, PLAY]
    assert (nodes.cases - nodes.counts.max(axis=1))[leaves] == pytest.approx([0, 0, 5 / 13, 5 / 13, 0], abs=1e-6)


def test_a_case_of_unknown_humidity_is_shared_out(golf: TrainingTable) -> None:
    """Sunny, humidity unknown: Play 44 %, Don't Play 56 %."""
    nodes = grow(golf, Options(2, gain_ratio=True, group_values=False))
    low, high = nodes.first[1], nodes.first[1] + 1
    play = sum(nodes.counts[node, PLAY] / nodes.cases[1] for node in (low, high))

    assert play == pytest.approx(0.44, abs=5e-3)
    case = np.array([[SUNNY], [70], [UNKNOWN], [FALSE]], dtype=np.float32)
    assert classify(nodes, case, golf.declared).tolist() == [DONT]


def test_a_value_that_is_not_declared_counts_as_unknown(golf: TrainingTable) -> None:
    tree = grow(golf, Options(2, gain_ratio=True, group_values=False))

    cases = np.array([[7, UNKNOWN], [70, 70], [80, 80], [TRUE, TRUE]], dtype=np.float32)

    assert len(set(classify(tree, cases, golf.declared).tolist())) == 1


def test_tables_with_many_unknown_values_grow_and_prune() -> None:
    random = np.random.default_rng(3)
    values = random.integers(0, 4, (4, 300)).astype(np.float32)
    classes = ((values[0] + values[2]) % 3).astype(np.int32)
    values[random.random(values.shape) < 0.2] = np.nan
    table = TrainingTable.of(values, np.array([0, 4, 0, 4], dtype=np.int32), classes, 3)

    for group_values in (False, True):
        before = grow(table, Options(2, True, group_values))
        after = prune(table, before, 25.0)

        for tree in (before, after):
            inner = np.flatnonzero(tree.width)
            for node in inner:
                branches = slice(tree.first[node], tree.first[node] + tree.width[node])
                assert tree.cases[branches].sum() == pytest.approx(tree.cases[node], rel=1e-4)
            right = classify(tree, table.values, table.declared) == table.classes
            assert right.mean() > 0.6


@pytest.mark.parametrize(
    ("values", "declared", "classes", "words"),
    [
        (np.zeros((1, 2)), [0], [0, 3], "classes 0 to 3, expected 0 to 1"),
        (np.full((1, 2), 2), [2], [0, 1], "attribute 0 has values 2.0 to 2.0, expected whole numbers from 0 to 1"),
        (np.zeros((1, 3)), [0], [0, 1], "expected 1 attributes × 2 cases"),
        (np.zeros((0, 2)), [], [0, 1], "at least one of each"),
    ],
)
def test_tables_that_fit_nothing_are_refused(
    values: np.ndarray, declared: list[int], classes: list[int], words: str
) -> None:
    with pytest.raises(DecisionError, match=words):
        TrainingTable.of(
            values.astype(np.float32), np.array(declared, dtype=np.int32), np.array(classes, dtype=np.int32), 2
        )
