"""What stages say in figures: how many rules there are, how much they gain by a comparison, and how surely."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.stats
import xarray as xr

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.decisions.judged.improvement import Improvement, judge
from dashboard.tuning import rules as module
from dashboard.tuning.compared import Compared, cells_of

#: Up to 16 B it is left to the library; a rule decides above.
RULES = DecisionFunction(
    "bcast",
    [Method("default", "default"), Method("ring", "ring")],
    Split((Test("message_size", 16),), (Leaf(0), Leaf(1))),
)


def compared(
    gains: list[float], deviations: list[float], untrusted: int = 0, freedom: float = 1e9, before: Any = None
) -> Compared:
    """A comparison at 8 B, 64 B, 128 B, … with these logarithms of default over tuned, and that many lost times."""
    sizes = 8 * 2 ** np.array([0, *range(3, 2 + len(gains))])
    gain, error = np.array([gains]), np.array([deviations]) ** 2
    rows = {
        "gain": gain,
        "error": error,
        "freedom": np.full(gain.shape, freedom),
        "improvement": 100 * (1 - np.exp(-gain)),
    }
    rows |= {"default": np.exp(gain), "tuned": np.ones(gain.shape), "p": np.ones(gain.shape)}
    rows |= {"outcome": np.ones(gain.shape, dtype=int), "same": np.zeros(gain.shape, dtype=bool)}
    dims = ("comm_size", "message_size")
    cells = xr.Dataset({name: (dims, table) for name, table in rows.items()}, {"comm_size": [4], "message_size": sizes})
    improvement = Improvement("bcast", cells, 0.05)
    lost = np.arange(sizes.size)[None, :] >= sizes.size - untrusted
    verdicts = judge(improvement, RULES)
    return Compared({"bcast": RULES}, {"bcast": improvement}, {"bcast": verdicts}, before, {"bcast": lost})


def test_what_rules_gain_is_that_of_their_cells_and_its_interval_holds_95_of_100_draws() -> None:
    gains, deviations = [0.7, 0.1, 0.3], [0.1, 0.02, 0.05]
    gain = compared(gains, deviations).gain("bcast")
    drawn = np.random.default_rng(1).normal(gains[1:], deviations[1:], (100_000, 2)).mean(axis=1)
    ends = 100 * (1 - np.exp(-np.quantile(drawn, [0.5, 0.025, 0.975])))
    assert [gain[name] for name in ("mean", "low", "high")] == pytest.approx(ends.tolist(), abs=0.05)
    assert cells_of(gain) == "2 sizes compared (64 B to 128 B)"


@pytest.mark.parametrize("freedom", [(3.0, 3.0), (2.0, 7.0)])
def test_of_few_launches_gains_are_as_sure_as_students_t_has_them_and_surer_by_two_comparisons(
    freedom: tuple[float, float],
) -> None:
    first, last = (compared([0.0, 0.2, 0.2], [0.1, 0.1, 0.1], freedom=each) for each in freedom)
    for each, known, error in ((last, freedom[1], 0.02), (replace(last, before=first), _welch(freedom), 0.01)):
        half = scipy.stats.t.ppf(0.975, known) * np.sqrt(error) / 2
        gain = each.gain("bcast")
        ends = [100 * (1 - np.exp(-(0.2 + sign * half))) for sign in (-1, 1)]
        assert [gain["low"], gain["high"]] == pytest.approx(ends, abs=0.006)
        own = next(verdict for verdict in each.alone("bcast") if not verdict.default)
        assert own.p == pytest.approx(2 * scipy.stats.t.sf(0.4 / np.sqrt(error), known), rel=1e-6)


def _welch(freedom: tuple[float, float]) -> float:
    """Degrees of freedom of a mean of two that are as sure."""
    return 4 / sum(1 / each for each in freedom)


@pytest.mark.parametrize(
    ("deviation", "untrusted", "wide"),
    [(0.048, 0, False), (0.05, 0, True), (0.01, 1, False), (0.01, 2, True)],
)
def test_times_scatter_too_much_where_a_tenth_would_not_show_or_most_are_lost(
    deviation: float, untrusted: int, wide: bool
) -> None:
    # A gain of a tenth is one of 0.0953 by its logarithm, 1.96 standard errors of 0.0486.
    deviations = [9.0, deviation, *[np.nan] * untrusted]
    assert compared([0.0] * (2 + untrusted), deviations, untrusted).too_wide is wide
    assert compared([0.0, *[0.2] * (1 + untrusted)], deviations, untrusted).too_wide is (untrusted > 1)


@pytest.mark.parametrize(("decision", "said"), [(RULES.changed(root=Leaf(1)), "1 rule for"), (RULES, "2 rules for")])
def test_a_single_rule_is_counted_as_one(
    decision: DecisionFunction, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = {"library": "Open MPI", "library_version": "5.0.11"}
    work = SimpleNamespace(room=lambda _: tmp_path, folder=SimpleNamespace(path=tmp_path), facts=lambda _: facts)
    monkeypatch.setattr(module, "decisions_of", lambda _: [decision])
    written = module.Rules("", {"bcast": decision}), {"losses": {"bcast": 1.25}, "notes": []}
    monkeypatch.setattr(module, "written", lambda *_: written)
    assert module.export(work).facts["said"] == f"{said} bcast; bcast loses 1.25 points"
