"""What the command prints: sizes and times with units, and maps that can be read back."""

from collections.abc import Sequence

import numpy as np
import pytest

from dashboard.commands import text as cli_text
from dashboard.decisions import decision_map
from tests.cubes import synthetic_cube


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1.05e-3, "1.050 ms"), (17.25e-6, "17.25 µs"), (123.4, "123.4 s"), (0.0, "0 s"), (float("nan"), "-"), (None, "-")],
)
def test_times_have_four_digits_and_a_unit(seconds: float | None, text: str) -> None:
    assert cli_text.time(seconds) == text


def read_map(lines: Sequence[str], best: np.ndarray) -> np.ndarray:
    """Read a drawn map back as method indices, by its legend; -1 for missing."""
    start = next(number for number, line in enumerate(lines) if line.split()[:2] == ["index", "method"])
    legend = {}
    for line in lines[start + 1 :]:
        words = line.split()
        if len(words) > 2 and words[1].isdigit():
            legend[words[0]] = int(words[1])
    rows: dict[int, list[int]] = {}
    for line in lines[:start]:
        words = line.replace(",", "").split()
        if len(words) > 1 and words[0].isdigit() and all(word in legend or word == "." for word in words[1:]):
            rows.setdefault(int(words[0]), []).extend(legend.get(word, -1) for word in words[1:])
    return np.array(list(rows.values())).reshape(best.shape)


@pytest.mark.parametrize("width", [40, 100, 500])
@pytest.mark.parametrize(("methods", "missing"), [(3, 0.0), (20, 0.5), (75, 0.0)])
def test_a_drawn_map_can_be_read_back(
    monkeypatch: pytest.MonkeyPatch, methods: int, missing: float, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    cube = synthetic_cube(14, 40, methods, seed=methods, missing=missing, noise=3.0)
    dmap = decision_map(cube)
    lines = cli_text.map_text(dmap)
    best = dmap["best"].values
    np.testing.assert_array_equal(read_map(lines, best), best)
    drawn = lines[: lines.index(next(line for line in lines if line.split()[:2] == ["index", "method"]))]
    assert max(map(len, drawn)) <= width
