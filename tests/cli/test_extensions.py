"""What the developer guide says that an extension touches: here each is the object alone, and all else takes it up."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.benchmarks.libraries.methods import Method, Variants
from dashboard.decisions import DecisionFunction, Leaf
from dashboard.decisions.grown.families import FAMILIES, PLACES
from dashboard.decisions.grown.family import Family
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.options import Option
from dashboard.export import TARGETS, Target
from loaders import FORMATS
from loaders.source import Format, Source
from tests.cli.command import Run
from tests.conftest import ran

MEASURED = "!trial bcast\nlinear 2 8 3e-6\nbinomial 2 8 1e-6\nlinear 4 8 2e-6\nbinomial 4 8 5e-6\nbinomial 4 8\n"


def _read(source: Source) -> Iterator[pd.DataFrame]:
    text = b"".join(block for _, block in source.blocks()).decode()
    (_, collective), *lines = (line.split() for line in text.splitlines())
    for number, line in enumerate(lines, 2):
        if len(line) < 4:
            source.skip(number, " ".join(line), "no time")
    table = pd.DataFrame(
        [line for line in lines if len(line) == 4], columns=["algorithm", "comm_size", "message_size", "time"]
    )
    source.loaded(len(table))
    numbers = {"comm_size": np.int64, "message_size": np.int64, "time": np.float64}
    yield table.astype(numbers).assign(collective=collective)


def _grow(problem: Problem, *, rank: int = 1, progress: Any = None) -> DecisionFunction:
    """The method of the `rank`-th least mean time, whatever the sizes."""
    part = problem.single("always")
    order = np.argsort(np.nanmean(part.times(), axis=(1, 2)))
    return DecisionFunction(
        problem.collective, problem.methods, Leaf(int(order[rank - 1])), kind="always", options={"rank": rank}
    )


FORMAT = Format("trial", "On trial", lambda head, path: head.startswith(b"!trial"), _read)
RANK = Option("rank", "rank", "Which method, by its mean time.", 1, "int", low=1, high=2)
FAMILY = Family("always", "One method", "nobody", (RANK,), _grow, lambda problem: [{"rank": 1}, {"rank": 2}])


def _write(decisions: Sequence[DecisionFunction], provenance: Any = None) -> str:
    return "".join(f"{each.collective} {each.methods[int(each.tree.codes[0])].label}\n" for each in decisions)


@pytest.fixture
def extended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A format, a family and a target more, by the line that each of them has in its registry."""
    monkeypatch.setitem(FORMATS, FORMAT.name, FORMAT)
    monkeypatch.setitem(TARGETS, "trial", Target("trial", "On trial", ".trial", _write))  # type: ignore[arg-type]
    for places in (PLACES, FAMILIES._places):
        monkeypatch.setitem(places, "always", f"{__name__}:FAMILY")
    monkeypatch.setattr(FAMILIES, "_loaded", dict(FAMILIES._loaded))


@pytest.mark.usefixtures("extended")
def test_a_format_a_family_and_a_target_are_taken_up_by_the_commands(colltune: Run, tmp_path: Path) -> None:
    file, written = tmp_path / "measured.txt", tmp_path / "rules.trial"
    file.write_text(MEASURED)
    (info,) = json.loads(colltune("info", file, "--json").out)["files"]
    assert (info["format"], info["rows"], info["skipped"]) == ("trial", 4, 1)
    decided = json.loads(colltune("decide", file, "-c", "bcast", "--tree", "always", "--rank", "2", "--json").out)
    assert decided["penalty"]["max"] == pytest.approx(150)
    assert decided["options"] == {"rank": 2}
    frontier = json.loads(colltune("frontier", file, "-c", "bcast", "--family", "always", "--json").out)
    assert {point["options"].get("rank", 1) for point in frontier["points"]} == {1, 2}
    assert colltune("export", file, "-c", "bcast", "--tree", "always", "--to", "trial", "-o", written).status == 0
    assert written.read_text() == "bcast linear\n"
    assert "Which method, by its mean time (default 1)" in colltune("decide", "--tree", "always", "--help").out


#: The name of a provider stands in the declaration of what a campaign is asked for, which is made on import.
_PROVIDED = """
import sys
from importlib.util import find_spec, module_from_spec
from pathlib import Path
spec = find_spec("dashboard.domain.campaign")
text = Path(spec.origin).read_text().replace('PROVIDERS = (', 'PROVIDERS = ("trial", ')
sys.modules[spec.name] = module = module_from_spec(spec)
exec(compile(text, spec.origin, "exec"), vars(module))
from tests.cli import test_extensions
sys.modules["dashboard.benchmarks.providers.trial"] = test_extensions
from dashboard import cli
sys.exit(cli.main(sys.argv[1:]))
"""


def methods(collective: str, variants: Variants) -> list[Method]:
    """What a provider on trial offers."""
    return [Method("linear", provider="trial")] if collective == "bcast" and variants else []


def test_a_provider_is_asked_for_by_its_name(tmp_path: Path) -> None:
    words = ["bench", "plan", tmp_path / "campaign", "-c", "bcast", "--ranks", "2", "--message-sizes", "8"]
    words += ["--provider", "library,trial"]
    ran([sys.executable, "-c", _PROVIDED, *map(str, words)])
    plan = json.loads((tmp_path / "campaign" / "plan.json").read_text())
    assert plan["methods"]["bcast"][-1]["parameters"] == {"provider": "trial"}
