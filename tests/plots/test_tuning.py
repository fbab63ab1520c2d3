"""A tuning as pictures: stages that say how they stand, gains with their intervals, what became of each rule."""

import re

import holoviews as hv
import pytest

from dashboard.measuring.tunings import Step
from dashboard.plots import tuning

GAIN = {
    "bcast": {"cells": 3, "mean": 12.5, "low": 4.0, "high": 20.0},
    "reduce": {"cells": 0, "mean": None, "low": None, "high": None},
    "allreduce": {"cells": 1, "mean": 30.0, "low": 28.0, "high": 32.0},
}


def test_stages_stand_in_their_order_and_say_how_they_stand() -> None:
    steps = [
        Step("look", "done", 0.4, "5 <methods>"),
        Step("measure", "running", None, "12 points", 0.25),
        Step("decide", "waiting", None, ""),
    ]
    text = tuning.stage_list(steps)
    assert re.findall(r'<li class="(\w+)"', text) == ["done", "running", "waiting"]
    assert "5 &lt;methods&gt;" in text
    assert 'style="width: 25%"' in text
    assert text.count('class="bar"') == 1
    assert "the recommended tree of each collective" in text


def test_a_gain_is_drawn_with_its_interval_and_what_is_not_kept_is_not() -> None:
    drawn = tuning.gain_chart(GAIN)
    points = next(layer for layer in drawn if isinstance(layer, hv.Scatter))
    bars = next(layer for layer in drawn if isinstance(layer, hv.Segments))
    assert list(points["name"]) == ["allreduce", "bcast"]
    assert list(points["mean"]) == [30.0, 12.5]
    assert sorted(zip(bars["low"], bars["high"], strict=True)) == [(4.0, 20.0), (28.0, 32.0)]
    assert hv.render(drawn).height == tuning.gain_height(2)


def test_rules_that_are_kept_come_first_and_the_others_say_why() -> None:
    rule = {"rule": "m > 64", "method": "ring", "cells": 2, "improvement": 7.0, "p": 0.01}
    compared = [
        {**rule, "collective": "bcast", "verdict": "same", "kept": False},
        {**rule, "collective": "reduce", "verdict": "faster", "kept": True},
    ]
    table = tuning.rules_table(compared)
    assert table.index("kept") < table.index("no faster beyond noise")
    assert "m &gt; 64" in table
    assert tuning.rules_table([]) == ""


@pytest.mark.parametrize("count", [0, 1, 5])
def test_any_number_of_collectives_is_drawn(count: int) -> None:
    gain = {f"c{place}": {"cells": 1, "mean": 1.0 * place, "low": 0.0, "high": 2.0} for place in range(count)}
    hv.render(tuning.gain_chart(gain))
