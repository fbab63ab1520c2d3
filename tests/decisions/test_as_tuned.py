"""A decision beside the library's default, from a campaign that measured every method."""

from typing import Any

import numpy as np
import pytest

from dashboard.decisions import DecisionError, DecisionFunction, Leaf, Method, Split, Test
from dashboard.decisions.judged.as_tuned import as_tuned
from dashboard.decisions.judged.improvement import improvement
from tests.cubes import cube_of, named

NAMES = ["default", "binomial", "binary"]


def cube(**more: Any) -> Any:
    """Binomial is twice as fast as the default for small messages and half as fast for large ones."""
    time = np.full((3, 2, 4), 1.0)
    time[1, :, :2], time[1, :, 2:] = 0.5, 2.0
    time[2, 0, 0] = np.nan
    return named(cube_of(time, [4, 8], [1, 64, 4096, 65536], **more), NAMES)


def decision(*labels: str) -> DecisionFunction:
    """One method up to 100 B, another beyond."""
    root = Split((Test("message_size", 100),), (Leaf(0), Leaf(1)))
    return DecisionFunction("bcast", [Method(label, label) for label in labels], root)


def test_each_cell_has_the_default_and_what_is_chosen() -> None:
    both = as_tuned(cube(), decision("binomial", "binomial"))
    assert both["method"].values.tolist() == ["default", "tuned"]
    assert both["time"].values.tolist() == [[[1.0] * 4] * 2, [[0.5, 0.5, 2.0, 2.0]] * 2]
    assert both["time_std"].values[1].tolist() == [[0.01, 0.01, 0.04, 0.04]] * 2
    other_order = as_tuned(cube().isel(method=[1, 0, 2]), decision("binomial", "binomial"))
    assert np.array_equal(other_order["time"], both["time"])


def test_nothing_is_won_where_the_library_decides_or_nobody_measured() -> None:
    both = as_tuned(cube(), decision("binary", "default"))
    assert np.isnan(both["time"].values[1, :, 2:]).all()
    assert np.isnan(both["time"].values[1, 0, 0])
    assert both["repetitions"].values[1].tolist() == [[0, 10, 0, 0], [10, 10, 0, 0]]
    assert improvement(both).count("no difference") == 3


def test_repetitions_go_along() -> None:
    results = cube()
    random = np.random.default_rng(1)
    sample = results["time"].expand_dims(repetition=5, axis=-1) * random.uniform(1, 1.1, 5)
    both = as_tuned(results.assign(sample=sample), decision("binomial", "binomial"))
    assert both["sample"].dims == ("method", "comm_size", "message_size", "repetition")
    assert (both["sample"].values[1] == sample.values[1]).all()


def test_a_campaign_without_the_default_is_one_clear_error() -> None:
    with pytest.raises(DecisionError, match="own decision was not measured here"):
        as_tuned(cube().isel(method=[1, 2]), decision("binomial", "binary"))


def test_it_is_a_cube_whatever_the_results_hold_and_in_whatever_order() -> None:
    results = cube().transpose("message_size", ...).drop_vars("repetitions")
    both = as_tuned(results, decision("binary", "binomial"))
    assert both["time"].dims == ("method", "comm_size", "message_size")
    assert both["algorithm"].values.tolist() == ["default", "tuned"]
    assert both["segment_size"].values.tolist() == [0, 0]
