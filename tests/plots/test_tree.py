"""Tree diagrams: what is drawn, what is closed, what is highlighted."""

import re

import numpy as np
import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test, decision_map, quadtree
from dashboard.decisions.function.text import condition, region
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.measured.problem import Problem
from dashboard.plots.colors import MethodKey
from dashboard.plots.rules import rules_page
from dashboard.plots.tree import depth_to_show, outline, path_to, tree_svg
from tests.cubes import synthetic_cube

METHODS = (Method("linear", "linear"), Method("binomial", "binomial"), Method("<ring>", "ring"))


@pytest.fixture(scope="module")
def small() -> DecisionFunction:
    inner = Split((Test("comm_size", 8),), (Leaf(1), Leaf(2)))
    return DecisionFunction("bcast", METHODS, Split((Test("message_size", 4096),), (Leaf(0), inner)))


def lines(node: object) -> int:
    return sum(map(lines, node.children)) if node.children else 1


def key_of(*labels: str) -> MethodKey:
    return MethodKey.of(labels)


def test_every_leaf_is_drawn_with_what_leads_to_it(small: DecisionFunction) -> None:
    svg = tree_svg(small, key_of("linear", "binomial", "<ring>"), depth=9)
    texts, titles = (re.findall(rf"<{part}[^>]*>([^<]+)", svg) for part in ("text", "title"))
    assert {"message ≤ 4 KiB", "message &gt; 4 KiB", "processes ≤ 8", "processes &gt; 8"} == set(titles)
    # What a test compares is said once, at its node.
    assert {"≤ 4 KiB", "&gt; 4 KiB", "≤ 8", "&gt; 8"} <= set(texts)
    assert texts.count("message") == texts.count("processes") == 1
    assert {"linear", "binomial", "&lt;ring&gt;"} <= set(texts)
    assert "<ring>" not in svg


def test_what_several_tests_say_stands_above_and_below_the_line() -> None:
    cuts = Split((Test("message_size", 4096), Test("comm_size", 8)), (Leaf(0), Leaf(1), Leaf(2), Leaf(0)))
    svg = tree_svg(DecisionFunction("bcast", METHODS, cuts), key_of("linear", "binomial", "<ring>"), depth=9)
    places = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" font-size="11">([^<]+)', svg)
    for (left, above, first), (beside, below, second) in zip(places[::2], places[1::2], strict=True):
        assert (first.split()[0], second.split()[0]) == ("message", "processes")
        assert left == beside
        assert float(below) - float(above) == 16


def test_below_the_depth_branches_are_closed_and_count_their_leaves(small: DecisionFunction) -> None:
    svg = tree_svg(small, key_of("linear", "binomial", "<ring>"), depth=1)
    assert "2 leaves" in svg
    assert "binomial" not in svg
    assert lines(outline(small, 1)) == 2


def test_the_way_to_a_cell_is_open_and_highlighted_however_deep(small: DecisionFunction) -> None:
    path = path_to(small.tree, int(small.leaf_places(16, 8192)))
    svg = tree_svg(small, key_of("linear", "binomial", "<ring>"), depth=0, path=path)
    assert len(path) == 3
    assert svg.count('class="on"') == 2
    assert "&lt;ring&gt;" in svg


def test_a_quadtree_draws_no_branch_that_no_size_leads_to() -> None:
    dmap = decision_map(synthetic_cube(5, 9, 5, seed=3, noise=1))
    decision = quadtree(dmap)
    assert lines(outline(decision, 99)) == len(decision.rules()) < decision.leaves


def test_a_large_tree_is_drawn_to_the_depth_that_can_be_read() -> None:
    decision = quadtree(decision_map(synthetic_cube(64, 64, 8, seed=3, noise=1)))
    depth = depth_to_show(decision, most=100)
    assert 0 < depth < decision.depth
    assert lines(outline(decision, depth)) <= 100 < lines(outline(decision, depth + 1))


def test_rules_say_the_same_as_the_tree(small: DecisionFunction) -> None:
    words = {region(rule.bounds): small.methods[rule.method].label for rule in small.rules()}
    assert words == {
        "message ≤ 4 KiB": "linear",
        "processes ≤ 8, message > 4 KiB": "binomial",
        "processes > 8, message > 4 KiB": "<ring>",
    }
    page = rules_page(small, small.rules(), key_of("linear", "binomial", "<ring>"), 0, 2)
    assert "Rules 1 to 2 of 3" in page
    assert "<ring>" not in page


def test_yes_no_and_named_attributes_are_words() -> None:
    names = ("bcast", "reduce", "scan")
    assert condition("even", 0, above=True) == "even"
    assert condition("power_of_two", 0, above=False) == "not power of two"
    assert condition("collective", 0, above=True, names=names) == "collective is reduce or scan"
    bounds = {"message_size": (1024.0, 65536.0), "comm_size": (8.0, np.inf), "even": (0.0, 1.0)}
    assert region(bounds) == "processes > 8, 1 KiB < message ≤ 64 KiB, even"
    assert region({"collective": (-np.inf, 0.0)}, {"collective": names}) == "collective is bcast"
    assert region({}) == "always"


def test_leaves_of_composite_attributes_are_found_by_the_tree_itself() -> None:
    problem = Problem.of(synthetic_cube(8, 12, 6, seed=5, noise=1))
    decision = FAMILIES["cart"].grow(problem, attributes=("total_size", "even", "comm_size"))
    cube = problem.slices[0].cube
    comm, message = cube["comm_size"].values[:, None], cube["message_size"].values[None, :]
    places = decision.leaf_places(comm, message)
    assert (decision.tree.codes[places] == decision.predict(comm, message)).all()
