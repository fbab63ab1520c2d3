"""Groups of message sizes with methods of their own, and reductions that do not commute."""

from pathlib import Path

import pytest

from dashboard.benchmarks.campaigns.groups import Group, only, parse_group
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Method, Variants
from dashboard.benchmarks.providers import own
from loaders import open_results
from tests.bench.campaigns import campaign_of, run

METHODS = {"bcast": tuple(Method(name) for name in ("default", "linear", "pipeline")), "barrier": (Method("bruck"),)}


def test_each_group_of_sizes_has_its_methods() -> None:
    groups = [parse_group("1-1KiB=linear"), parse_group("64KiB-1MiB=pipeline,default")]
    chosen = only(groups, METHODS, (2, 4), (8, 1024, 8192, 65536))
    assert chosen == {
        "bcast": tuple(
            (ranks, size, places)
            for size, places in ((8, (1,)), (1024, (1,)), (8192, (0, 1, 2)), (65536, (0, 2)))
            for ranks in (2, 4)
        )
    }
    plan = Plan(4, METHODS, (2, 4), (8, 1024, 8192, 65536), only=chosen)
    assert len(list(plan.points())) == 2 * (1 + 1 + 3 + 2) + 2
    assert only([], METHODS, (2,), (8,)) == {}


@pytest.mark.parametrize(
    ("text", "why"), [("linear", "must be LOW-HIGH=NAME"), ("9-8=linear", "9 is more than 8"), ("1-x=linear", "x")]
)
def test_what_is_no_group_is_refused(text: str, why: str) -> None:
    with pytest.raises(PlanError, match=why):
        parse_group(text)
    with pytest.raises(PlanError, match="no collective asked for has an algorithm 'magic'"):
        only([Group(1, 2, ("magic",))], METHODS, (2,), (8,))


def test_requests_and_first_segments_are_parameters() -> None:
    variants = Variants(max_requests=(1, 4), first_segments=(512,))
    made = {method.parameters for method in own.methods("alltoall", variants) if method.algorithm == "linear_sync"}
    assert made == {(("max_requests", 1),), (("max_requests", 4),)}
    gathers = [method.parameters for method in own.methods("gather", variants) if method.algorithm == "linear_sync"]
    assert gathers == [(("first_segment", 512),)]


@pytest.mark.slow
def test_an_operation_that_does_not_commute_is_measured_and_what_cannot_serve_falls_back(
    tmp_path: Path, installation: Installation
) -> None:
    campaign = campaign_of(
        tmp_path / "first",
        installation,
        collectives=("reduce", "scan"),
        providers=("own",),
        algorithms=("pipeline", "in_order_binary", "linear"),
        operation="first",
        checked=False,
    )
    assert run(campaign, installation)["state"] == "finished"
    results = open_results([campaign.results])
    assert results["reduce"].attrs["operation"] == "first"
    cube = results["reduce"].to_dataset()
    assert bool(cube["time"].notnull().all())
    # The pipeline changes the order of operands: what ran is named.
    labels = [str(label) for label in cube["method"].values]
    assert any("pipeline" in label for label in labels)
    assert "double_of" in cube
