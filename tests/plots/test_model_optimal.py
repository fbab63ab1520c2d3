"""Maps of the optimal implementation: classes of segment sizes, and what the legends count."""

import numpy as np

from dashboard.domain.units import format_bytes
from dashboard.models.optimal_map import optimal_map
from dashboard.models.presets import machine
from dashboard.plots.axes import Axes
from dashboard.plots.colors import MethodKey, as_seen
from dashboard.plots.models import optimal as model_optimal
from dashboard.plots.raster import Raster

FOUND = optimal_map("bcast", machine("grig-tcp").of("hockney"), [2, 8, 28], [1, 1024, 65536, 393216], multiple=8)


def test_classes_are_powers_of_two() -> None:
    sizes = np.array([0.0, 1.0, 32.0, 63.0, 64.0, 1024.0, 1032.0, 1 << 30])
    classes = model_optimal.segment_classes(sizes)
    titles, colors = model_optimal.class_titles(), model_optimal.class_colors()
    assert len(titles) == len(colors) == len(set(colors))
    assert titles[classes[0]] == "not segmented"
    assert classes[1] == classes[2] == classes[3] != classes[4]
    assert titles[classes[5]] == titles[classes[6]] == "1 KiB to 2 KiB"
    assert titles[classes[7]].endswith("and above")
    # Black figures are read on all of them.
    assert (as_seen(colors)[0, :, 0] > 50).all()


def test_maps_show_what_was_found() -> None:
    axes = Axes.of(FOUND)
    raster, key = Raster.of(axes), MethodKey.of(FOUND["candidate"].values)
    layers = model_optimal.algorithm_layers(FOUND, axes, raster, key)
    letters = np.asarray(layers["optimal text"].columns["text"])
    best = FOUND["algorithm"].values.ravel()
    said = {(text, int(method)) for text, method in zip(letters, best, strict=True) if text}
    assert said == {(key.letters[method], method) for method in set(best.tolist())}
    cells = model_optimal.segment_layers(FOUND, axes, raster)["segments cells"].draw()
    segments = cells.dimension_values("segments").tolist()
    for text, size in zip(segments, FOUND["segment_size"].values.ravel(), strict=True):
        assert text == (format_bytes(round(size)) if size else "not segmented")


def test_legends_count_the_cells() -> None:
    key = MethodKey.of(FOUND["candidate"].values)
    legend = model_optimal.algorithm_legend(FOUND, key)
    best = FOUND["algorithm"].values
    for place in np.unique(best):
        assert f"{key.labels[place]}</td>" in legend
        assert f"{100 * (best == place).mean():.1f} %" in legend
    cut = int((FOUND["segment_size"].values > 0).sum())
    assert f">{best.size - cut}</td>" in model_optimal.segment_legend(FOUND)
