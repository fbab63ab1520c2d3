"""LaTeX of the formulas as MathML."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from dashboard.models import ALL, MODEL_NAMES
from dashboard.models.errata import errata
from dashboard.models.segments import CLOSED
from dashboard.plots.models.math import mathml


def parsed(latex: str) -> ET.Element:
    return ET.fromstring(mathml(latex).replace("&nbsp;", " "))  # noqa: S314 - our own


def text(latex: str) -> str:
    return "".join(parsed(latex).itertext())


def latex_of_everything() -> list[str]:
    formulas = [each.formula(name) for each in ALL for name in MODEL_NAMES]
    found = [f.latex(variant) for f in formulas for variant in ("corrected", "as_published")]
    found += [f.latex(case="best") for f in formulas]
    found += [part for each in errata() for part in (each.printed, each.corrected)]
    return found + [part for each in CLOSED for part in (*each.latex(), *each.latex(as_published=True))]


def test_every_formula_and_erratum_is_read_with_nothing_lost() -> None:
    everything = latex_of_everything()
    assert len(everything) > 3 * 105
    for latex in everything:
        tree, told = parsed(latex), text(latex)
        assert len(tree.findall(".//mfrac")) == latex.count(r"\frac")
        assert told.count("√") == latex.count(r"\sqrt")
        assert told.count("∑") == latex.count(r"\sum")
        assert told.count("log") == latex.count(r"\log")
        assert "\\" not in told


def test_scripts_stand_at_what_they_follow() -> None:
    (sub,) = parsed("m_s + 1").iter("msub")
    assert [each.text for each in sub] == ["m", "s"]
    (power,) = parsed("2^{k - 1}").iter("msup")
    assert ["".join(each.itertext()) for each in power] == ["2", "k−1"]
    (limits,) = parsed(r"\sum_{k=0}^{P} k").iter("munderover")
    assert ["".join(each.itertext()) for each in limits] == ["∑", "k=0", "P"]


def test_numerator_comes_before_denominator() -> None:
    (fraction,) = parsed(r"\frac{a + b}{2}").iter("mfrac")
    assert ["".join(each.itertext()) for each in fraction] == ["a+b", "2"]


def test_cases_are_rows_of_two_cells() -> None:
    tree = parsed(r"\begin{cases} a & \text{if } P = 2^k \\ b & \text{otherwise} \end{cases}")
    rows = [["".join(cell.itertext()) for cell in row] for row in tree.iter("mtr")]
    assert rows == [["a", "if P=2k"], ["b", "otherwise"]]


def test_text_keeps_its_spaces_and_is_escaped() -> None:
    assert text(r"\text{two words} < x") == "two words<x"


@pytest.mark.parametrize(
    "latex", [r"\frac{a", r"a}", r"\unknown{x}", r"\left[ a \right]", r"\begin{array} a \end{array}"]
)
def test_what_is_not_understood_is_an_error_that_shows_the_formula(latex: str) -> None:
    with pytest.raises(ValueError, match=r"^'"):
        mathml(latex)
