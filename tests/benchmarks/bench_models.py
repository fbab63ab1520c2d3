"""Communication models: what evaluating them costs, how near they come to measurements, slider to curves.

Aims: 20 methods under three models on a 27 × 48 map at most 1 µs per point and method, 1000 × 1000 points of any method
under a second, slider to curves 60 ms. The limit beside them is numpy adding and multiplying two such arrays once each.
Parameters and penalties are of the sample data, emulated Fast Ethernet; the dissertation has, for a like network, 86, 5
and 7 % mean penalty (broadcast) and 8, 4 and 6 % (allgather) for Hockney, LogGP and PLogP (Tables 6.2 and 6.3).
"""

import sys
from typing import Any

import numpy as np
import xarray as xr
from playwright.sync_api import sync_playwright

from dashboard.decisions.measured.problem import Problem
from dashboard.models import MODEL_NAMES, MODELS
from dashboard.models.deciding import model_penalties
from dashboard.models.fit import fit_all
from dashboard.models.observations import observe
from dashboard.models.parameter_set import ParameterSet
from dashboard.models.pingpong import parameters_of_table, read_logp_table
from dashboard.models.predicting import Covered, candidates
from loaders import open_results
from tests.benchmarks.bench_slider import line, moved
from tests.benchmarks.measure import timed
from tests.conftest import FAST_ETHERNET, FAST_ETHERNET_PATTERN, find_chromium

SEGMENTS = (0, 512, 1024, 8192, 65536)


def evaluating(network: ParameterSet) -> None:
    """Print what a map costs, and a million points of each method."""
    known = Covered.of("bcast", candidates("bcast", segment_sizes=SEGMENTS)[:20])
    counts, sizes = np.arange(2, 29)[:, None], np.unique(np.geomspace(64, 1 << 23, 48).astype(int))[None, :]
    points = 27 * sizes.size * len(known.methods)
    for model in MODEL_NAMES:
        spent = timed(lambda model=model: known.times(network.of(model), counts, sizes), runs=9)
        print(f"{model:8} 20 methods, 27 × {sizes.size}: {1e6 * min(spent.seconds) / points:6.3f} µs per point")
    count, size = np.meshgrid(np.arange(2, 1002), np.arange(1, 1001) * 4096)
    limit = timed(lambda: (count + size) * size)
    for model in MODEL_NAMES:
        worst = {}
        for collective, algorithms in MODELS.items():
            for name, each in algorithms.items():
                spent = timed(lambda each=each, model=model: each.predict(network.of(model), count, size, 8192), runs=1)
                worst[f"{collective} {name}"] = spent.median
        slowest = max(worst, key=lambda name: worst[name])
        ratio = worst[slowest] / limit.median
        print(f"{model:8} 1000 × 1000, slowest: {worst[slowest]:6.3f} s ({slowest}), {ratio:5.0f} × the limit")


def fits(results: xr.DataTree) -> None:
    """Print parameters fitted to each collective, with how far they are off."""
    for name in results.children:
        if name not in MODELS:
            continue
        _, fitted = fit_all(observe(results[name].to_dataset()))
        for model, fit in fitted.items():
            known = [each for each in fit.intervals if not each.startswith("gap at")]
            numbers = ", ".join(f"{each} {fit.value(each):.3g}" for each in known)
            print(f"{name:10} {model:8} {numbers}; median residual {fit.median_error:.1f} %")


def penalties(results: xr.DataTree, network: ParameterSet) -> None:
    """Print mean penalties of decisions by models, of measured parameters and of fitted ones."""
    for name in results.children:
        if name not in MODELS:
            continue
        cube = results[name].to_dataset()
        for source, known in (("measured", network), ("fitted", fit_all(observe(cube))[0])):
            judged = model_penalties(Problem.of(cube), known)
            fair, every = (
                ", ".join(f"{by} {judged[by][side].mean:.1f}" for by in (*MODEL_NAMES, "vote")) for side in (0, 1)
            )
            print(f"{name:10} {source:9} parameters: {fair} %; against all methods {every} %")


def main() -> None:
    """Print all figures; with ``--no-browser`` without the slider."""
    network = parameters_of_table(read_logp_table(FAST_ETHERNET / "pointtopoint.csv"), name="fast-ethernet-16")
    results = open_results(sorted(FAST_ETHERNET.glob("*.sko")), pattern=FAST_ETHERNET_PATTERN)
    evaluating(network)
    fits(results)
    penalties(results, network)
    if "--no-browser" in sys.argv:
        return
    with sync_playwright() as driver:
        options: dict[str, Any] = {"executable_path": find_chromium(), "args": ["--no-sandbox"]}
        browser = driver.chromium.launch(**options)
        print(line("slider to curves", moved(browser, ["dashboard"], "?page=Models", slider=0, canvas=0, first=-450)))
        browser.close()


if __name__ == "__main__":
    main()
