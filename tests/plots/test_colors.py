"""One colour and one letter for each method."""

import numpy as np
import pytest

from dashboard.plots.colors import GREY, OKABE_ITO, SCHEME_TITLES, TOL, MethodKey, as_seen, distinct_colors
from loaders.openmpi import COLLECTIVE_IDS, VERSIONS, algorithms
from tests.cubes import synthetic_cube


def nearest(colors: tuple[str, ...]) -> np.ndarray:
    """Smallest distance (CIELAB) between two of the colours, for each kind of vision."""
    seen = as_seen(colors)
    distance = np.linalg.norm(seen[:, :, None] - seen[:, None], axis=-1)
    return distance[:, *np.triu_indices(len(colors), 1)].min(axis=1)


def luminance(color: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    levels = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_white_and_black_are_where_cielab_has_them() -> None:
    assert as_seen(["#ffffff", "#000000"])[0] == pytest.approx(np.array([[100, 0, 0], [0, 0, 0]]), abs=0.02)


@pytest.mark.parametrize(("count", "least"), [(8, 15.0), (12, 15.0), (20, 10.0)])
def test_colors_are_told_apart_under_every_vision(count: int, least: float) -> None:
    # A difference of 2.3 is just noticed side by side; fields some way apart need several times that.
    assert (nearest(distinct_colors(count)) > least).all()


@pytest.mark.parametrize(("count", "least"), [(8, 10.0), (20, 10.0)])
def test_tol_s_colors_are_told_apart_under_every_vision(count: int, least: float) -> None:
    assert (nearest(distinct_colors(count, TOL)) > least).all()


def test_greys_are_grey_apart_on_paper_and_begin_again() -> None:
    greys = distinct_colors(12, GREY)
    lightness, *chroma = np.moveaxis(as_seen(greys)[0], -1, 0)
    assert np.abs(chroma).max() < 0.1
    assert len(set(greys)) == 5
    assert np.diff(np.sort(lightness[:5])).min() > 8
    assert greys[5] == greys[0]


@pytest.mark.parametrize("scheme", [OKABE_ITO, TOL])
@pytest.mark.parametrize("count", [0, 1, 5, 75, 200])
def test_there_are_as_many_colors_as_methods_all_different(count: int, scheme: str) -> None:
    assert len(set(distinct_colors(count, scheme))) == count


def test_a_method_keeps_its_color_when_there_are_more() -> None:
    assert distinct_colors(75)[:20] == distinct_colors(20)


@pytest.mark.parametrize("scheme", SCHEME_TITLES.values())
def test_black_letters_can_be_read_on_every_color(scheme: str) -> None:
    labels = [f"{name} {size}KiB" for name in algorithms("bcast").values() for size in (1, 8, 64, 1024)]
    segmented = MethodKey.of(labels, scheme)
    # Contrast by WCAG 2, whose level AA asks for 4.5.
    darkest = min(map(luminance, (*distinct_colors(75, scheme), *segmented.colors)))
    assert (darkest + 0.05) / (luminance("#111111") + 0.05) >= 4.5


@pytest.mark.parametrize(
    ("label", "letter"),
    [
        ("binomial", "B"),
        ("pipeline 8KiB", "P8"),
        ("pipeline 512B", "P512B"),
        ("pipeline 1MiB", "P1M"),
        ("chain 16KiB fanout=4", "C16/4"),
        ("orthogonal layout=4x4", "G/4x4"),
        ("binomial provider=own", "B/o"),
    ],
)
def test_a_letter_says_algorithm_segment_size_and_parameters(label: str, letter: str) -> None:
    assert MethodKey.of([label]).letters == (letter,)


@pytest.mark.parametrize(
    "pair", [("binary 8 KiB", "binary_tree 8KiB"), ("chain", "k_chain"), ("bruck", "modified_bruck")]
)
def test_a_method_has_one_colour_by_whatever_name(pair: tuple[str, str]) -> None:
    first, second = (MethodKey.of([label]) for label in pair)
    assert (first.colors, first.letters) == (second.colors, second.letters)


def test_colours_and_letters_do_not_depend_on_what_else_was_measured() -> None:
    labels = ["linear", "binomial 8KiB", "scatter_allgather", "knomial 1KiB"]
    together = MethodKey.of(["pipeline", "unheard-of", *labels, "binomial"])
    assert together.only(labels).colors == MethodKey.of(labels).colors
    assert together.only(labels).letters == MethodKey.of(labels).letters


@pytest.mark.parametrize("collective", [name for name in COLLECTIVE_IDS if algorithms(name)])
def test_algorithms_of_a_collective_of_open_mpi_are_told_apart(collective: str) -> None:
    for version in VERSIONS:
        key = MethodKey.of(algorithms(collective, version).values())
        assert len(set(key.letters)) == len(key.labels)
        assert set("".join(key.letters)) == set(key.letters)
        assert len(key.labels) < 2 or (nearest(key.colors) > 8.0).all()


def test_an_algorithm_s_segment_sizes_are_told_apart_the_smallest_lightest() -> None:
    sizes = (1, 4, 16, 64)
    for name in ("pipeline", "knomial", "split_binary", "chain"):
        unsegmented, *colors = MethodKey.of([name, *(f"{name} {size}KiB" for size in sizes)]).colors
        apart = nearest((unsegmented, *colors))
        assert apart[0] > 6.0, name
        # What is left to those who see fewer colours is said by the code, too.
        assert (apart > 3.0).all(), name
        assert (np.diff(as_seen(colors)[0, :, 0]) < 0).all(), name


@pytest.mark.parametrize("page", ["#ffffff", "#0f1216"])
def test_lines_have_contrast_on_a_light_and_on_a_dark_page(page: str) -> None:
    labels = [f"{name} {size}KiB" for name in ("linear", "pipeline", "binomial", "binary", "chain") for size in (1, 64)]
    for color in MethodKey.of([*labels, "linear", "pipeline", "split_binary", "recursive_doubling"]).lines:
        light, dark = sorted((luminance(color), luminance(page)), reverse=True)
        # WCAG 2 asks for 3 of what is drawn.
        assert (light + 0.05) / (dark + 0.05) >= 3.0, color


def test_75_methods_are_keyed() -> None:
    key = MethodKey.of(synthetic_cube(2, 2, 75, seed=3)["method"].values)
    assert len(set(key.letters)) == 75
