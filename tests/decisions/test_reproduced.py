"""Whether rules gain in use what they were decided for, beyond what repetitions and launches differ by."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
import xarray as xr

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.decisions.judged.improvement import Launches, improvement
from dashboard.decisions.judged.reproduced import reproduced
from dashboard.export.targets.openmpi.rules import to_openmpi
from loaders import RunWriter, open_results
from tests.cli.command import Run
from tests.cubes import cube_of, named

SIZES = (8, 1024, 65536)
DEFAULT = Method("default", "default", 0, {"library_id": 0})
BINOMIAL = Method("binomial", "binomial", 0, {"library_id": 6})
PIPELINE = Method("pipeline", "pipeline", 0, {"library_id": 3})
#: Binomial up to 1 KiB, pipeline above.
DECISION = DecisionFunction(
    "bcast",
    [BINOMIAL, PIPELINE],
    Split((Test("message_size", 1024),), (Leaf(0), Leaf(1))),
    provenance={"library": "Open MPI", "library_version": "5.0.11", "comm_size": [8, 8]},
)
ATTRS = {"benchmark": "colltune bench, skampi", "library": "Open MPI", "library_version": "5.0.11"}
#: Seconds by algorithm and size: binomial takes half the default's time, pipeline a quarter at the largest.
CAMPAIGN = {"default": (10e-6, 20e-6, 8e-4), "binomial": (5e-6, 10e-6, 9e-4), "pipeline": (30e-6, 40e-6, 2e-4)}


def run_file(path: Path, times: dict[str, tuple[float, ...]], launches: dict[int, float] | None = None) -> Path:
    """A run file whose repetitions scatter by 2 %; each launch takes so many times as long for "tuned"."""
    random = np.random.default_rng(3)
    with RunWriter(path, ATTRS) as writer:
        for number, factor in (launches or {1: 1.0}).items():
            for algorithm, each in times.items():
                for size, time in zip(SIZES, each, strict=True):
                    mean = time * (factor if algorithm == "tuned" else 1.0)
                    samples = (mean * np.exp(random.normal(0, 0.02, 20))).tolist()
                    known: dict[str, Any] = {"collective": "bcast", "algorithm": algorithm, "comm_size": 8}
                    writer.append({**known, "message_size": size, "samples": samples, "launch": number})
    return path


def cube(path: Path) -> xr.Dataset:
    return open_results([path])["bcast"].to_dataset()


def in_use(path: Path, tuned: tuple[float, ...], slow: float = 1.0) -> Path:
    """Measured through the file, on a machine that was so many times as slow for both."""
    default = tuple(slow * time for time in CAMPAIGN["default"])
    return run_file(path, {"default": default, "tuned": tuple(slow * time for time in tuned)})


def test_gains_that_are_as_decided_are_told_from_those_that_are_not(tmp_path: Path) -> None:
    decided = cube(run_file(tmp_path / "campaign.jsonl", CAMPAIGN))
    # A machine that takes three times as long for all changes nothing; the rule for 1 KiB did not act.
    used = improvement(cube(in_use(tmp_path / "used.jsonl", (5e-6, 20e-6, 2e-4), slow=3.0)))
    frame = reproduced(used, DECISION, decided)
    assert frame["method"].tolist() == ["binomial", "binomial", "pipeline"]
    assert frame["outcome"].tolist() == ["as decided", "slower", "as decided"]
    assert frame["decided"].to_numpy() == pytest.approx([50, 50, 75], abs=2)
    assert frame["measured"].to_numpy() == pytest.approx([50, 0, 75], abs=2)


def test_what_launches_differ_by_is_noise(tmp_path: Path) -> None:
    decided = cube(run_file(tmp_path / "campaign.jsonl", CAMPAIGN))
    measured = cube(in_use(tmp_path / "used.jsonl", (6e-6, 12e-6, 2.4e-4)))
    assert set(reproduced(improvement(measured), DECISION, decided)["outcome"]) == {"slower"}
    used = improvement(measured, between_launches=Launches(20.0))
    assert set(reproduced(used, DECISION, decided)["outcome"]) == {"as decided"}


def test_a_method_that_was_not_measured_is_not_judged_and_the_default_gains_nothing(tmp_path: Path) -> None:
    used = improvement(cube(in_use(tmp_path / "used.jsonl", (10e-6, 10e-6, 2e-4))))
    part = cube(run_file(tmp_path / "part.jsonl", {name: CAMPAIGN[name] for name in ("default", "binomial")}))
    left = DecisionFunction("bcast", [DEFAULT, PIPELINE], DECISION.tree)
    frame = reproduced(used, left, part)
    assert frame["outcome"].tolist() == ["as decided", "faster", "not measured"]
    assert frame["decided"].tolist()[:2] == [0.0, 0.0]


def test_the_command_holds_a_rules_file_against_what_it_was_decided_from(
    tmp_path: Path, done: Run, refused: Run
) -> None:
    (tmp_path / "rules.conf").write_text(to_openmpi(DECISION))
    campaign = run_file(tmp_path / "campaign.jsonl", CAMPAIGN)
    tuned = {"default": CAMPAIGN["default"], "tuned": (5e-6, 20e-6, 2e-4)}
    used = run_file(tmp_path / "used.jsonl", tuned, {1: 0.98, 2: 1.0, 3: 1.02})
    order = ["tune-check", tmp_path / "rules.conf", "--results", used, "--decided", campaign]
    cells = done(*order, "--json").json["decided"]["bcast"]
    assert [cell["outcome"] for cell in cells] == ["as decided", "slower", "as decided"]
    output = done(*order).out
    assert "bcast: as decided at 2 of 3 cells, within noise" in output
    assert "slower than decided" in output
    refused("tune-check", *order[2:])


@pytest.mark.parametrize(("launches", "faster"), [({1: 1.0, 2: 1.0, 3: 1.0}, 3), ({1: 0.7, 2: 1.0, 3: 1.4}, 0)])
def test_launches_of_results_that_are_given_count_as_noise(
    launches: dict[int, float], faster: int, tmp_path: Path, done: Run
) -> None:
    tenth = {"default": CAMPAIGN["default"], "tuned": tuple(0.9 * time for time in CAMPAIGN["default"])}
    used = run_file(tmp_path / "used.jsonl", tenth, launches)
    cells = done("tune-check", "--results", used, "--json").json["collectives"]["bcast"]["cells"]
    assert sum(cell["outcome"] == "faster" for cell in cells) == faster


def certain(default: float, tuned: float, names: tuple[str, str] = ("default", "tuned")) -> xr.Dataset:
    """Two methods at 8 processes and 8 B, of repetitions that do not differ."""
    results = cube_of([[[default]], [[tuned]]], [8], [8])
    results["time_std"] = results["time"] * 0.0
    return named(results, names)


@pytest.mark.parametrize(
    ("number", "spread", "freedom"), [(1, 0.1, np.inf), (3, 0.05 * np.sqrt(8), np.inf), (1, 0.1, 2), (1, 0.1, 9)]
)
def test_launches_count_for_both_methods_of_both_campaigns(number: int, spread: float, freedom: float) -> None:
    """Four means of 5 % each, those of the campaign that was decided from of a single launch."""
    launches = Launches(5.0, freedom, number)
    used = improvement(certain(10.0, 6.0), between_launches=launches)
    decided = certain(10.0, 5.0, ("default", "binomial"))
    p = reproduced(used, DECISION, decided)["p"].item()
    # Of both campaigns together each one's is known by its own freedom.
    assert p == pytest.approx(2 * scipy.stats.t.sf(np.log(6 / 5) / spread, 2 * freedom), rel=1e-6)


@pytest.mark.parametrize(("tuned", "p"), [(5.0, 1.0), (5.01, 0.0)])
def test_without_any_spread_a_gain_is_as_decided_or_certainly_not(tuned: float, p: float) -> None:
    used, decided = improvement(certain(10.0, tuned)), certain(10.0, 5.0, ("default", "binomial"))
    assert reproduced(used, DECISION, decided)["p"].tolist() == [p]
