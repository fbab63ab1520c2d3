"""Mathematics as it is written: every piece as LaTeX and as MathML, which browsers set by themselves, made together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

_GREEK: Mapping[str, str] = {"α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "μ": r"\mu"}
_SIGNS: Mapping[str, str] = {"⋅": r"\cdot", "≥": r"\geq", "≫": r"\gg", "≪": r"\ll", "…": r"\dots"}
_FENCES: Mapping[str, tuple[str, str]] = {
    "(": (r"\left(", r"\right)"),
    "{": (r"\left\{", r"\right\}"),
    "⌈": (r"\left\lceil ", r" \right\rceil"),
    "⌊": (r"\left\lfloor ", r" \right\rfloor"),
}
_CLOSING: Mapping[str, str] = {"(": ")", "{": "}", "⌈": "⌉", "⌊": "⌋"}


@dataclass(frozen=True)
class Written:
    """A piece of mathematics."""

    latex: str
    mathml: str

    def __add__(self, other: Written) -> Written:
        """Put another piece behind it."""
        return Written(self.latex + other.latex, self.mathml + other.mathml)

    def element(self) -> str:
        """Give it as a MathML element that stands by itself, sums and fractions at their full height."""
        return f'<math displaystyle="true"><mrow>{self.mathml}</mrow></math>'


#: A sign before a piece, where `sign` stands between two.
MINUS = Written("-", "<mo>−</mo>")


def name(text: str, below: str = "") -> Written:
    """Write a name, a Greek letter or a named function's, with an index `below` it."""
    latex = _GREEK.get(text, rf"\{text}" if text in ("log", "max", "min") else text)
    own = Written(latex, f"<mi>{text}</mi>")
    return scripts(own, Written(below, f"<mi>{below}</mi>")) if below else own


def number(value: float) -> Written:
    """Write a number."""
    return Written(f"{value:g}", f"<mn>{value:g}</mn>")


def sign(text: str) -> Written:
    """Write what stands between two pieces, such as ``+``, ``⋅``, ``=``."""
    latex = f"{text} " if text == "," else f" {_SIGNS.get(text, text)} "
    return Written(latex, f"<mo>{escape(text).replace('-', '−')}</mo>")


def words(text: str) -> Written:
    """Write words, with the spaces around them."""
    return Written(rf"\text{{{text}}}", f"<mtext>{escape(text).replace(' ', '&nbsp;')}</mtext>")


def joined(pieces: list[Written], between: str) -> Written:
    """Write pieces in a row with a sign between them."""
    first, *others = pieces
    for each in others:
        first += sign(between) + each
    return first


def fenced(opening: str, piece: Written) -> Written:
    """Write a piece in ``( )``, ``{ }``, ``⌈ ⌉`` or ``⌊ ⌋``."""
    left, right = _FENCES[opening]
    marks = [f'<mo stretchy="true">{mark}</mo>' for mark in (opening, _CLOSING[opening])]
    return Written(f"{left}{piece.latex}{right}", f"<mrow>{marks[0]}{piece.mathml}{marks[1]}</mrow>")


def fraction(above: Written, below: Written) -> Written:
    """Write a fraction."""
    mathml = f"<mfrac><mrow>{above.mathml}</mrow><mrow>{below.mathml}</mrow></mfrac>"
    return Written(rf"\frac{{{above.latex}}}{{{below.latex}}}", mathml)


def root(piece: Written) -> Written:
    """Write a square root.

    Where no font for mathematics is installed, browsers leave out the sign of an ``<msqrt>``, which would be another
    formula; a sign and a line of our own (``.root``, ``.radicand``) are always there.
    """
    mathml = f'<mrow><mo class="root">√</mo><mrow class="radicand"><mrow>{piece.mathml}</mrow></mrow></mrow>'
    return Written(rf"\sqrt{{{piece.latex}}}", mathml)


def scripts(
    base: Written, below: Written | None = None, above: Written | None = None, *, limits: bool = False
) -> Written:
    """Write indices and powers at a piece; `limits`: under and over it."""
    latex = base.latex
    for mark, piece in (("_", below), ("^", above)):
        latex += "" if piece is None else mark + (piece.latex if len(piece.latex) == 1 else f"{{{piece.latex}}}")
    kind = (
        ("munder" if limits else "msub")
        if above is None
        else "msup"
        if below is None
        else "munderover"
        if limits
        else "msubsup"
    )
    pieces = "".join(f"<mrow>{piece.mathml}</mrow>" for piece in (below, above) if piece is not None)
    return Written(latex, f"<{kind}>{base.mathml}{pieces}</{kind}>")


def total(below: Written, above: Written, piece: Written) -> Written:
    """Write a sum between limits."""
    symbol = Written(r"\sum", '<mo movablelimits="false">∑</mo>')
    return scripts(symbol, below, above, limits=True) + Written(" ", "") + piece


def cases(*rows: tuple[Written, Written]) -> Written:
    """Write pieces one below the other, each with when it holds."""
    latex = r" \\ ".join(rf"{piece.latex} & {when.latex}" for piece, when in rows)
    cells = "".join(f"<mtr><mtd>{piece.mathml}</mtd><mtd>{when.mathml}</mtd></mtr>" for piece, when in rows)
    brace = '<mo stretchy="true">{</mo>'
    return Written(
        rf"\begin{{cases}} {latex} \end{{cases}}", f'<mrow>{brace}<mtable columnalign="left">{cells}</mtable></mrow>'
    )
