"""Two campaigns beside each other."""

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import DecisionError, exact, penalty, select_ppn, summarise
from dashboard.decisions.judged.portability import campaign_facts, portability, ppn_of_both, time_ratios
from dashboard.decisions.measured.problem import Problem
from tests.cubes import named, opposed_cubes, synthetic_cube


def grown(problem: Problem) -> object:
    return exact(problem.slices[0].dmap)


@pytest.fixture
def cubes() -> tuple[xr.Dataset, xr.Dataset]:
    return synthetic_cube(6, 9, 5, seed=1), synthetic_cube(5, 7, 5, seed=2)


def test_the_four_penalties_are_those_of_each_decision_on_each_campaign(cubes: tuple[xr.Dataset, xr.Dataset]) -> None:
    result = portability(Problem.of(cubes[0]), Problem.of(cubes[1]), grown)
    assert result.table["mean"][[0, 3]].tolist() == [0, 0]
    for made, judged, row in ((0, 1, 1), (1, 0, 2)):
        decision = exact(Problem.of(cubes[made]).slices[0].dmap)
        assert result.table.loc[row, "mean"] == summarise(penalty(cubes[judged], decision)).mean
        assert result.table.loc[row, "mean"] > 0
    assert result.gap("A", "B") == (pytest.approx(result.table.loc[1, "mean"]), 35)


def test_a_machine_of_the_same_ranking_costs_nothing(cubes: tuple[xr.Dataset, xr.Dataset]) -> None:
    slower = cubes[0].assign(time=3 * cubes[0]["time"])
    result = portability(Problem.of(cubes[0]), Problem.of(slower), grown)
    assert (result.table["mean"].tolist(), result.among) == ([0, 0, 0, 0], "")
    ratios = time_ratios(cubes[0], slower)
    assert np.allclose(ratios[["low", "median", "high"]], 3)
    assert ratios["cells"].tolist() == [54] * 5


def test_only_methods_of_both_are_decided_between(cubes: tuple[xr.Dataset, xr.Dataset]) -> None:
    second = cubes[1].isel(method=[3, 1])
    result = portability(Problem.of(cubes[0]), Problem.of(second), grown)
    assert result.among == "among the 2 methods that both have"
    names = {method.label for method in result.problems[0].methods}
    assert names == set(map(str, second["method"].values))
    assert result.problems[0].provenance == Problem.of(cubes[0]).provenance
    assert result.table["unmeasured"].tolist() == [0, 0, 0, 0]
    result = portability(Problem.of(cubes[0]), Problem.of(second), grown, common=False)
    assert not result.among
    assert result.table.loc[1, "unmeasured"] > 0
    # Both means are over the same cells.
    ported, own = (penalty(second, each)["penalty"].values for each in result.decisions)
    both = np.isfinite(ported) & np.isfinite(own)
    assert result.gap("A", "B")[1] == both.sum() < own.size
    if both.any():
        assert result.gap("A", "B")[0] == pytest.approx((ported - own)[both].mean())


def test_calls_weigh_though_methods_are_left_out(cubes: tuple[xr.Dataset, xr.Dataset]) -> None:
    calls = np.zeros((6, 9))
    calls[2, 5] = 1
    second = cubes[1].isel(method=[3, 1])
    result = portability(Problem.of(cubes[0], weights=calls), Problem.of(second), grown)
    decision = exact(Problem.of(second).slices[0].dmap)
    cost = penalty(cubes[0].isel(method=[3, 1]), decision)["penalty"].values[2, 5]
    assert result.table.loc[2, "mean"] == pytest.approx(cost)


def test_what_differs_is_told_and_nothing_else(cubes: tuple[xr.Dataset, xr.Dataset]) -> None:
    first = cubes[0].assign_attrs(system="frodo", library="Open MPI", library_version="4.1.4")
    second = cubes[0].isel(method=[0, 1, 2, 3]).assign_attrs(system="grig", library="Open MPI", library_version="4.1.4")
    facts = campaign_facts(first, second).set_index("what")
    assert facts.loc["system"].tolist() == ["frodo", "grig"]
    assert facts.loc["methods of one only", "B"] == "none"
    assert str(first["method"].values[4]) in facts.loc["methods of one only", "A"]
    assert "library" not in facts.index
    assert campaign_facts(first, first).empty
    longest = first.isel(message_size=[-1])
    larger = first.assign_coords(message_size=[*first["message_size"].values[:-1], 3 << 20])
    facts = campaign_facts(larger, longest).set_index("what")
    assert facts.loc["message sizes of one only", "A"].endswith("3 MiB")
    many = synthetic_cube(15, 3, 2, seed=1)
    facts = campaign_facts(many, many.isel(comm_size=[0])).set_index("what")
    assert facts.loc["communicator sizes of one only", "A"] == "3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, and 2 more"


def test_campaigns_are_compared_at_the_processes_per_node_that_both_have() -> None:
    several = opposed_cubes()["bcast"]
    single, double = several.isel(ppn=0), several.isel(ppn=[1])
    assert ppn_of_both(several, double)[0] == ppn_of_both(double, several)[0] == 2
    assert "A has 1, 2 and B has 2" in ppn_of_both(several, double)[1]
    # Of several that both have what was measured most.
    gaps = several.copy(deep=True)
    gaps["time"][0, 0, 0, 0] = np.nan
    assert ppn_of_both(several, several)[0] == 1
    assert ppn_of_both(several, gaps)[0] == 2
    assert ppn_of_both(single, single) == (1, "")
    unknown = single.drop_vars("ppn")
    assert ppn_of_both(unknown, several) == ppn_of_both(unknown, unknown) == (None, "")
    chosen, note = ppn_of_both(single, double)
    assert (chosen, note) == (None, "no processes per node that both campaigns were measured at: A has 1 and B has 2")
    assert campaign_facts(single, double.isel(ppn=0)).values.tolist() == [["processes per node", "1", "2"]]


def test_what_differs_is_of_the_processes_per_node_compared() -> None:
    several = opposed_cubes()["bcast"].assign_attrs(device="host; gpu", by_ppn='{"device": {"1": "host", "2": "gpu"}}')
    several = several.copy(deep=True)
    several["time"].loc[{"ppn": 2, "method": several["method"][0]}] = np.nan
    several["time"].loc[{"ppn": 2, "comm_size": several["comm_size"][0]}] = np.nan
    first, second = (select_ppn(several, ppn)[0] for ppn in (1, 2))
    facts = campaign_facts(first, second.assign_attrs(element_type="double")).set_index("what")
    assert facts.loc["device"].tolist() == ["host", "gpu"]
    assert facts.loc["datatype"].tolist() == ["–", "double"]
    assert facts.loc["methods of one only", "A"] == str(several["method"].values[0])
    assert facts.loc["communicator sizes of one only"].tolist() == [str(several["comm_size"].values[0]), "none"]


def test_sizes_are_matched_by_value(cubes: tuple[xr.Dataset, xr.Dataset]) -> None:
    part = cubes[0].isel(message_size=slice(2, None, 2))
    ratios = time_ratios(cubes[0], part)
    assert np.allclose(ratios["median"], 1)
    elsewhere = cubes[0].assign_coords(message_size=cubes[0]["message_size"] + (1 << 40))
    assert time_ratios(cubes[0], elsewhere).empty


def test_what_cannot_be_compared(cubes: tuple[xr.Dataset, xr.Dataset]) -> None:
    other = cubes[1].assign_attrs(collective="reduce")
    with pytest.raises(DecisionError, match="A is bcast and B reduce"):
        portability(Problem.of(cubes[0]), Problem.of(other), grown)
    renamed = named(cubes[1], [f"x{n}" for n in range(5)])
    with pytest.raises(DecisionError, match=r"no method of bcast .* \(--all-methods; on the page Compare"):
        portability(Problem.of(cubes[0]), Problem.of(renamed), grown)
    assert len(portability(Problem.of(cubes[0]), Problem.of(renamed), grown, common=False).table)
