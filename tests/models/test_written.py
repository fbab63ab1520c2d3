"""Formulas and errata as they are written: LaTeX and MathML of the same."""

from xml.etree import ElementTree as ET

from dashboard.models import ALL, MODEL_NAMES
from dashboard.models.errata import errata, row
from dashboard.models.formula.symbols import (
    P,
    alpha,
    cases,
    k,
    less,
    log2_p,
    m,
    m_s,
    power_of_two,
    root,
    series,
    two_to,
)
from dashboard.models.formula.written import Written, words
from dashboard.models.segments import CLOSED


def parsed(piece: Written) -> ET.Element:
    return ET.fromstring(piece.element().replace("&nbsp;", " "))  # noqa: S314 - our own


def texts(parts: ET.Element) -> list[str]:
    return ["".join(part.itertext()) for part in parts]


def everything() -> list[Written]:
    formulas = [each.formula(name) for each in ALL for name in MODEL_NAMES]
    pieces = [f.written(variant) for f in formulas for variant in ("corrected", "as_published")]
    pieces += [f.written(case="best") for f in formulas]
    pieces += [part for each in errata() for part in (each.printed, each.corrected)]
    return pieces + [part for each in CLOSED for part in (*each.written(), *each.written(as_published=True))]


def test_every_formula_and_erratum_is_the_same_in_both() -> None:
    pieces = everything()
    assert len(pieces) > 3 * 105
    for piece in pieces:
        tree, latex = parsed(piece), piece.latex
        text = "".join(tree.itertext())
        assert len(tree.findall(".//mfrac")) == latex.count(r"\frac")
        assert [text.count(mark) for mark in "√∑⌈⌊αβγδ⋅"] == [
            latex.count(mark)
            for mark in (r"\sqrt", r"\sum", r"\lceil", r"\lfloor", r"\alpha", r"\beta", r"\gamma", r"\delta", r"\cdot")
        ]
        assert text.count("log") == latex.count(r"\log")
        assert "\\" not in text
        assert latex.count("{") == latex.count("}")
        assert latex.count(r"\left") == latex.count(r"\right")


def test_scripts_stand_at_what_they_follow() -> None:
    (index,) = parsed((m_s + 1).written).iter("msub")
    assert texts(index) == ["m", "s"]
    (power,) = parsed(two_to(k - 1).written).iter("msup")
    assert texts(power) == ["2", "k−1"]
    (limits,) = parsed(series(0, P, k).written).iter("munderover")
    assert texts(limits) == ["∑", "k=0", "P"]


def test_numerator_comes_before_denominator_and_a_root_has_its_own_line() -> None:
    (fraction,) = parsed(((m + P) / 2).written).iter("mfrac")
    assert texts(fraction) == ["m+P", "2"]
    tree = parsed((root(m) + P).written)
    (line,) = [part for part in tree.iter("mrow") if part.get("class") == "radicand"]
    assert "".join(line.itertext()) == "m"


def test_cases_are_rows_of_two_cells() -> None:
    tree = parsed(cases(power_of_two(P), alpha, log2_p * alpha).written)
    rows = [texts(cells) for cells in tree.iter("mtr")]
    assert rows == [["α", "if P=2k"], ["log2(P)⋅α", "otherwise"]]


def test_words_keep_their_spaces_and_signs_are_escaped() -> None:
    piece = row(words("two words"), less(m, P))
    assert "".join(parsed(piece).itertext()) == "two wordsm<P"
    assert piece.latex == r"\text{two words}m < P"
