"""The figures of the emulated Fast Ethernet cluster's broadcast, computed independently of this code."""

import pytest
import xarray as xr

from dashboard.decisions import decision_map, exact, penalty, quadtree, statistics, summarise


@pytest.fixture(scope="module")
def dmap(fast_ethernet_bcast: xr.Dataset) -> xr.Dataset:
    return decision_map(fast_ethernet_bcast)


def test_depth_3(fast_ethernet_bcast: xr.Dataset, dmap: xr.Dataset) -> None:
    figures = statistics(fast_ethernet_bcast, quadtree(dmap, max_depth=3))
    assert (figures["leaves"], figures["nodes"], figures["depth"]["max"]) == (46, 61, 3)
    assert round(figures["depth"]["mean"], 2) == 2.87
    assert round(figures["penalty"]["mean"], 2) == 10.76
    assert round(figures["penalty"]["max"], 2) == 176.80
    assert figures["penalty"]["median"] == 0
    assert figures["penalty"]["unmeasured"] == 0


def test_the_exact_tree_has_397_leaves_at_5_levels_and_no_penalty(
    fast_ethernet_bcast: xr.Dataset, dmap: xr.Dataset
) -> None:
    decision = exact(dmap)
    assert (decision.leaves, decision.depth) == (397, 5)
    assert summarise(penalty(fast_ethernet_bcast, decision))[:4] == (0, 0, 0, 0)
