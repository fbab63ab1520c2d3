"""One colour and one letter for each method, the same in every plot, on every page and for any measurements.

Both follow from the method's name alone. The letter is its algorithm's, and so is the hue; a segmented method is the
lighter the smaller its segments are, and has their size beside the letter, as parameters have theirs. Nobody can tell
more than about eight hues apart safely, colour-blind or not: the letter is the second channel, in cells (where they
are large enough), legends and lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import cycle, islice
from typing import NamedTuple
from zlib import crc32

import numpy as np

from dashboard.domain.arrays import FloatArray

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
#: Algorithms of each letter: what libraries, models and schedules call the same thing, and what no collective has
#: beside it. The first letters have the most distinct hues.
_ALGORITHMS = {
    "B": "binomial",
    "P": "pipeline pairwise",
    "D": "recursive_doubling",
    "R": "ring scatter_allgather_ring scatter_ring_allgather double_ring",
    "L": "linear basic_linear flat_tree",
    "S": "split_binary split_binary_tree segmented_ring ring_segmented linear_segmented sparbit",
    "T": "binary binary_tree tree",
    "C": "chain k_chain",
    "F": "rabenseifner",
    "X": "butterfly",
    "U": "bruck modified_bruck k_bruck bruck_k_fanout",
    "K": "knomial k_nomial",
    "A": "scatter_allgather scatter_recursive_doubling_allgather allgather_reduce gather_bcast reduce_scatter",
    "N": "neighbor neighbor_exchange linear_nb",
    "Y": "linear_sync k_ary",
    "H": "recursive_halving",
    "V": "nonoverlapping non_overlapping reduce_bcast",
    "I": "in_order_binary",
    "O": "circulant",
    "M": "recursive_multiplying direct_messaging",
    "W": "swing",
    "E": "bine",
    "G": "orthogonal",
    "Q": "two_proc",
    "J": "linear_in_order",
    "Z": "default",
}
_LETTERS = {name: letter for letter, names in _ALGORITHMS.items() for name in names.split()}
#: Letters in the order of their hues.
_ORDER = "".join(_ALGORITHMS) + "0123456789"
_SEGMENT = re.compile(r"(\d+) ?(B|KiB|MiB|GiB)")
_BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

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

#: Black text has a contrast of 4.5 or more on CIELAB lightness 50; lighter than 93 looks like the page, and lighter
#: than 89 what is neither yellow nor white is glaring.
_LIGHTNESS = (52.0, 89.0)
_CHROMA = (25.0, 75.0)
#: Lightness between a segmented method and the unsegmented one.
_APART = 6.0
#: Lines and signs have a contrast of 3 or more on a light page and on a dark one.
_LINE_LIGHTNESS = (44.0, 60.0)
#: From the smallest segments to the largest: binary logarithm, place between light and dark. Usual sizes are far apart.
_SIZES, _PLACES = (6, 10, 17, 22), (0.0, 0.05, 0.95, 1.0)


def as_seen(colors: Sequence[str]) -> FloatArray:
    """CIELAB of ``#rrggbb`` colours, shape (vision, color, 3): normal, protan-, deuter-, tritanopic."""
    return _as_seen(np.array([[int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)] for color in colors]))


def _as_seen(rgb: FloatArray) -> FloatArray:
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.clip(np.einsum("vij,cj->vci", _VISIONS, linear), 0, 1) @ _XYZ.T / _WHITE
    cube = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = np.moveaxis(cube, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def _of_lightness(lightness: float, chroma: float, hue: float) -> str:
    """Colour of a lightness, hue (radians) and at most this chroma, as much of it as a screen has."""
    chromas = np.linspace(chroma, 0, 40)
    y = np.full(chromas.shape, (lightness + 16) / 116)
    cube = np.stack([y + chromas * np.cos(hue) / 500, y, y - chromas * np.sin(hue) / 200], axis=-1)
    xyz = np.where(cube > 0.206893, cube**3, (cube - 16 / 116) / 7.787) * _WHITE
    linear = xyz @ np.linalg.inv(_XYZ).T
    rgb = linear[np.argmax(((linear > -1e-3) & (linear < 1.001)).all(axis=-1))].clip(0, 1)
    levels = np.where(rgb <= 0.0031308, rgb * 12.92, 1.055 * rgb ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * level):02x}" for level in levels)


def _polar(color: str) -> tuple[float, float, float]:
    """Lightness, chroma and hue of a colour."""
    lightness, a, b = as_seen([color])[0, 0]
    return float(lightness), float(np.hypot(a, b)), float(np.arctan2(b, a))


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


class _Name(NamedTuple):
    """What a label says: algorithm, segment size (bytes, 0 = none), values of everything else."""

    algorithm: str
    segment: int
    values: tuple[str, ...]


def _read(label: str) -> _Name:
    algorithm, _, rest = label.partition(" ")
    size = _SEGMENT.search(rest)
    segment = int(size[1]) * _BYTES[size[2]] if size else 0
    values = [part.rpartition("=")[2].strip("()") for part in _SEGMENT.sub("", rest, count=1).split()]
    return _Name(algorithm.lower().replace("-", "_"), segment, tuple(value for value in values if value))


def _letters(algorithms: Iterable[str]) -> Mapping[str, str]:
    """Letter of each algorithm; those that nobody declared take the first that is free, of their own name if can be."""
    names = list(dict.fromkeys(algorithms))
    letters = {name: _LETTERS[name] for name in names if name in _LETTERS}
    for name in names:
        if name not in letters:
            free = [each for each in (*name.upper(), *_ORDER) if each in _ORDER and each not in letters.values()]
            letters[name] = free[0] if free else f"{_ORDER[len(letters) % 26]}{len(letters) // 26}"
    return letters


def _code(letter: str, name: _Name) -> str:
    """Letter with what tells the method from others of its algorithm: ``B``, ``P8`` (KiB), ``C8/4``."""
    unit = next(unit for unit, size in reversed(_BYTES.items()) if name.segment % size == 0 or size == 1)
    size = f"{name.segment // _BYTES[unit]}{'' if unit == 'KiB' else unit[0]}" if name.segment else ""
    return letter + size + "".join(f"/{each if each[:1].isdigit() else each[:1]}" for each in name.values)


@lru_cache(maxsize=4096)
def _color(place: int, segment: int, values: tuple[str, ...], scheme: str) -> str:
    """Colour of a method by the place of its algorithm's hue; other parameters' values change it a little."""
    base = distinct_colors(max(len(_ORDER), place + 1), scheme)[place]
    at = float(np.interp(np.log2(segment), _SIZES, _PLACES)) if segment else 0.0
    if scheme == GREY:
        return _GREYS[(place + (1 + round(7 * at) if segment else 0)) % len(_GREYS)]
    if not segment and not values:
        return base
    lightness, chroma, hue = _polar(base)
    darkest, lightest = _LIGHTNESS
    if segment:
        # Duller than the unsegmented one, and lighter or darker than it by what can be seen, where there is room.
        off = lightest - at * (lightest - darkest - 1) - lightness
        room = abs((lightest if off >= 0 else darkest) - lightness)
        if room > 2 * _APART:
            off = np.copysign(_APART, off) + off * (1 - _APART / room)
        lightness, chroma = lightness + float(off), 0.65 * chroma
    if values:
        aside = crc32(" ".join(values).encode()) / 2**32 - 0.5
        lightness, hue = float(np.clip(lightness + 24 * aside, darkest + 1, lightest)), hue + 0.5 * aside
    return _of_lightness(lightness, chroma, hue)


@lru_cache(maxsize=4096)
def line_color(color: str) -> str:
    """Shade of a method's colour for lines and signs: it has contrast on a light page and on a dark one."""
    lightness, chroma, hue = _polar(color)
    return _of_lightness(float(np.interp(lightness, _LIGHTNESS, _LINE_LIGHTNESS)), chroma, hue)


@dataclass(frozen=True, eq=False)
class MethodKey:
    """Colour and letter of each method of a cube."""

    #: Methods in the cube's order, which is the method index everywhere.
    labels: tuple[str, ...]
    #: ``#rrggbb`` along them, for areas: black letters can be read on them.
    colors: tuple[str, ...]
    #: Codes along them: the algorithm's letter, then what tells its methods apart.
    letters: tuple[str, ...]
    #: What the colours are from.
    scheme: str = OKABE_ITO

    @classmethod
    def of(cls, labels: Iterable[str], scheme: str = OKABE_ITO) -> MethodKey:
        """Key methods by their names.

        Parameters
        ----------
        labels
            As `loaders.methods.method_label` writes them. Which others there are matters only to algorithms that
            nobody declared.
        scheme
            One of `SCHEME_TITLES`.
        """
        known = tuple(str(label) for label in labels)
        names = [_read(label) for label in known]
        letters = _letters(name.algorithm for name in names)
        places = [_ORDER.find(letter) for letter in letters.values()]
        beyond = dict(zip(letters, (at if at >= 0 else len(_ORDER) + n for n, at in enumerate(places)), strict=True))
        colors = tuple(_color(beyond[name.algorithm], name.segment, name.values, scheme) for name in names)
        return cls(known, colors, _unlike([_code(letters[name.algorithm], name) for name in names]), scheme)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Colours along the methods for lines and signs, which need a contrast to the page: see `line_color`."""
        return tuple(map(line_color, self.colors))

    def only(self, labels: Iterable[str]) -> MethodKey:
        """Key of some of the methods, with the colours and letters that they have."""
        places = [self.labels.index(label) for label in labels]
        parts = (tuple(part[at] for at in places) for part in (self.labels, self.colors, self.letters))
        return MethodKey(*parts, self.scheme)


def _unlike(codes: Sequence[str]) -> tuple[str, ...]:
    """Codes with a sign more where one was there before."""
    unlike: list[str] = []
    for code in codes:
        taken = code
        while taken in unlike:
            taken += "'"
        unlike.append(taken)
    return tuple(unlike)
