"""One colour and one letter for each method, the same in every plot.

Colours are keyed by method, not by its place in some plot, so that a method that leaves a map does
not recolour the others. Methods that win somewhere come first, so the most distinct colours are
spent on what is seen. Beyond about eight colours nobody can tell them apart safely, colour-blind or
not: the letter is the second channel, in cells (where they are large enough), legends and lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import cycle, islice

import numpy as np
import xarray as xr
from numpy.typing import NDArray

OKABE_ITO, TOL, GREY = "okabe-ito", "tol", "grey"
#: Colour schemes by what they are called.
SCHEME_TITLES = {"Okabe and Ito": OKABE_ITO, "Tol, light": TOL, "Greys": GREY}
#: First colours of each scheme. Of Okabe and Ito's palette black and dark blue are left out, on which black letters
#: could not be read; Tol's is his "light" one, made for cells with labels, without its grey.
_SEEDS = {
    OKABE_ITO: ("#56b4e9", "#e69f00", "#009e73", "#f0e442", "#d55e00", "#cc79a7"),
    TOL: ("#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33", "#aaaa00"),
}
#: Greys that can be told apart on paper, the most different ones first; further methods begin again.
_GREYS = ("#f4f4f4", "#8a8a8a", "#c0c0c0", "#dadada", "#a5a5a5")

# Machado, Oliveira and Fernandes 2009, table of matrices in linear RGB, full severity.
_VISIONS = np.array(
    [
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ]
)
_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])

#: Black text has a contrast of 4.5 or more on CIELAB lightness 50; lighter than 93 looks like the page.
_LIGHTNESS = (52.0, 92.0)
_CHROMA = (25.0, 85.0)


def as_seen(colors: Sequence[str]) -> NDArray[np.float64]:
    """CIELAB of ``#rrggbb`` colours, shape (vision, color, 3): normal, protan-, deuter-, tritanopic."""
    return _as_seen(np.array([[int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)] for color in colors]))


def _as_seen(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.clip(np.einsum("vij,cj->vci", _VISIONS, linear), 0, 1) @ _XYZ.T / _WHITE
    cube = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = np.moveaxis(cube, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


@lru_cache(maxsize=32)
def distinct_colors(count: int, scheme: str = OKABE_ITO) -> tuple[str, ...]:
    """Give `count` colours, each new one as far as can be from those before, under every vision.

    Distances under colour blindness count 1.6 times, since there is less room: a colour is taken for how well it is
    told apart by whoever sees it worst. Greys are few: they repeat, and letters tell them apart.
    """
    if scheme == GREY:
        return tuple(islice(cycle(_GREYS), count))
    levels = np.linspace(0, 1, 13)
    rgb = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1).reshape(-1, 3)
    seen = _as_seen(rgb)
    lightness, chroma = seen[0, :, 0], np.hypot(seen[0, :, 1], seen[0, :, 2])
    fit = (lightness >= _LIGHTNESS[0]) & (lightness <= _LIGHTNESS[1]) & (chroma >= _CHROMA[0]) & (chroma <= _CHROMA[1])
    rgb, seen = rgb[fit], seen[:, fit]
    hexes = ["#" + "".join(f"{round(level * 255):02x}" for level in color) for color in rgb]
    chosen = list(_SEEDS[scheme][:count])
    far = np.full(len(rgb), np.inf)
    added = as_seen(chosen) if chosen else np.empty((4, 0, 3))
    while True:
        for color in np.moveaxis(added, 1, 0):
            distance = np.linalg.norm(seen - color[:, None], axis=-1)
            far = np.minimum(far, np.minimum(distance[0], 1.6 * distance[1:].min(axis=0)))
        if len(chosen) >= count:
            return tuple(chosen)
        best = int(far.argmax())
        chosen.append(hexes[best])
        added = seen[:, best : best + 1]


def letter_codes(count: int) -> tuple[str, ...]:
    """Give `count` short codes: ``A`` … ``Z``, then ``A2`` … ``Z2``, ``A3`` …."""
    return tuple(chr(65 + index % 26) + (str(index // 26 + 1) if index >= 26 else "") for index in range(count))


@dataclass(frozen=True, eq=False)
class MethodKey:
    """Colour and letter of each method of a cube.

    Attributes
    ----------
    labels
        Methods in the cube's order, which is the method index everywhere.
    colors
        ``#rrggbb`` along them.
    letters
        Codes along them.
    scheme
        What the colours are from.
    """

    labels: tuple[str, ...]
    colors: tuple[str, ...]
    letters: tuple[str, ...]
    scheme: str = OKABE_ITO

    @classmethod
    def of(cls, maps: Iterable[xr.Dataset], scheme: str = OKABE_ITO) -> MethodKey:
        """Key the methods of one collective by how often each is best.

        Parameters
        ----------
        maps
            Decision maps of the collective, all of them (one for each number of processes per
            node), so that the key does not depend on which is looked at.
        scheme
            One of `SCHEME_TITLES`.
        """
        labels: tuple[str, ...] = ()
        wins = np.zeros(0, dtype=np.int64)
        for decisions in maps:
            labels = tuple(str(label) for label in decisions["method"].values)
            best = decisions["best"].values
            counts = np.bincount(best[best >= 0].ravel(), minlength=len(labels))
            wins = counts if not wins.size else wins + counts
        return cls.by_wins(labels, wins, scheme)

    @classmethod
    def by_wins(
        cls, labels: Sequence[str], wins: NDArray[np.int64] | Sequence[int], scheme: str = OKABE_ITO
    ) -> MethodKey:
        """Key methods of which the i-th is best in ``wins[i]`` cells; on a tie the earlier one comes first."""
        rank = np.empty(len(labels), dtype=int)
        rank[np.argsort(-np.asarray(wins), kind="stable")] = np.arange(len(labels))
        return cls.by_rank(labels, rank, scheme)

    @classmethod
    def by_rank(cls, labels: Sequence[str], ranks: Iterable[int], scheme: str = OKABE_ITO) -> MethodKey:
        """Key methods of which the i-th has the ``ranks[i]``-th colour and letter."""
        colors, letters = distinct_colors(len(labels), scheme), letter_codes(len(labels))
        places = list(ranks)
        return cls(tuple(labels), tuple(colors[i] for i in places), tuple(letters[i] for i in places), scheme)

    def only(self, labels: Iterable[str]) -> MethodKey:
        """Key of some of the methods, with the colours and letters that they have."""
        places = [self.labels.index(label) for label in labels]
        parts = (tuple(part[at] for at in places) for part in (self.labels, self.colors, self.letters))
        return MethodKey(*parts, self.scheme)

    def name(self, method: int) -> str:
        """Label of a method; what to say for none."""
        return self.labels[method] if 0 <= method < len(self.labels) else "not measured"
