"""LaTeX mathematics of the formulas as MathML, which browsers set by themselves: nothing is loaded for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|\s+|.", re.DOTALL)
_SYMBOLS: Mapping[str, str] = {
    r"\alpha": "<mi>α</mi>",
    r"\beta": "<mi>β</mi>",
    r"\gamma": "<mi>γ</mi>",  # noqa: RUF001 - Greek
    r"\delta": "<mi>δ</mi>",
    r"\mu": "<mi>μ</mi>",
    r"\log": "<mi>log</mi>",
    r"\max": "<mi>max</mi>",
    r"\min": "<mi>min</mi>",
    r"\cdot": "<mo>⋅</mo>",
    r"\geq": "<mo>≥</mo>",
    r"\leq": "<mo>≤</mo>",
    r"\gg": "<mo>≫</mo>",
    r"\ll": "<mo>≪</mo>",
    r"\dots": "<mo>…</mo>",
    r"\sum": '<mo movablelimits="false">∑</mo>',
    r"\;": '<mspace width="0.4em"/>',
    r"\,": '<mspace width="0.17em"/>',
    "-": "<mo>−</mo>",
}
_FENCES: Mapping[str, str] = {
    r"\lceil": "⌈",
    r"\rceil": "⌉",
    r"\lfloor": "⌊",
    r"\rfloor": "⌋",
    r"\{": "{",
    r"\}": "}",
    "(": "(",
    ")": ")",
}


#: What the roots look like; for the page that shows them.
STYLE = """
math .root { font-size: 1.5em; }
math .radicand { border-top: 1px solid currentColor; padding: 2px 2px 0; }
math mtd { text-align: left; }
"""


def mathml(latex: str, *, display: bool = False) -> str:
    """Write LaTeX mathematics as a MathML element.

    Parameters
    ----------
    latex
        What `dashboard.models` writes: fractions, roots, sums, scripts, fences, cases, text.
    display
        Whether sums and fractions take their full height.

    Raises
    ------
    ValueError
        When it holds a command that is not known, or a brace that is not closed.
    """
    body = _Reader(latex).all()
    return f'<math displaystyle="{"true" if display else "false"}">{body}</math>'


class _Reader:
    """Reads one formula from left to right."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.tokens = [each for each in _TOKEN.findall(latex) if not each.isspace()]
        # Spaces count in text only, where the source itself is asked.
        self.starts = [match.start() for match in _TOKEN.finditer(latex) if not match[0].isspace()]
        self.at = 0
        self.readers: Mapping[str, Callable[[], str]] = {
            "{": self._group,
            r"\left": self._fenced,
            r"\frac": lambda: f"<mfrac>{self._atom()}{self._atom()}</mfrac>",
            r"\sqrt": self._root,
            r"\text": self._text,
            r"\mathrm": self._text,
            r"\begin": self._cases,
        }

    def all(self) -> str:
        """Read to the end."""
        found = self._row(())
        if self.at < len(self.tokens):
            raise self._error(f"{self.tokens[self.at]} closes nothing")
        return f"<mrow>{found}</mrow>"

    def _error(self, what: str) -> ValueError:
        return ValueError(f"{self.latex!r}: {what}")

    def _next(self) -> str:
        if self.at == len(self.tokens):
            raise self._error("it ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def _expect(self, wanted: str) -> None:
        found = self._next()
        if found != wanted:
            raise self._error(f"found {found} where {wanted} should be")

    def _row(self, ends: tuple[str, ...]) -> str:
        parts = []
        while self.at < len(self.tokens) and self.tokens[self.at] not in (*ends, "}", r"\right", r"\end"):
            parts.append(self._scripted())
        return "".join(parts)

    def _scripted(self) -> str:
        large = self.tokens[self.at] == r"\sum"
        base = self._atom()
        scripts: dict[str, str] = {}
        while self.at < len(self.tokens) and self.tokens[self.at] in ("_", "^"):
            place = self._next()
            scripts[place] = self._atom()
        if not scripts:
            return base
        if len(scripts) == 2:
            name = "munderover" if large else "msubsup"
            return f"<{name}>{base}{scripts['_']}{scripts['^']}</{name}>"
        name = {"_": "munder" if large else "msub", "^": "mover" if large else "msup"}[next(iter(scripts))]
        return f"<{name}>{base}{next(iter(scripts.values()))}</{name}>"

    def _atom(self) -> str:
        token = self._next()
        if token in self.readers:
            return self.readers[token]()
        if token in _SYMBOLS:
            return _SYMBOLS[token]
        if token in _FENCES:
            return f'<mo stretchy="false">{_FENCES[token]}</mo>'
        if token.startswith("\\"):
            raise self._error(f"{token} is not known")
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        return f"<mi>{escape(token)}</mi>" if token.isalpha() else f"<mo>{escape(token)}</mo>"

    def _group(self) -> str:
        found = self._row(())
        self._expect("}")
        return f"<mrow>{found}</mrow>"

    def _root(self) -> str:
        # Where no font for mathematics is installed, browsers leave out the sign of an <msqrt>, which would be another
        # formula; a sign and a line of our own are always there.
        return f'<mrow><mo class="root">√</mo><mrow class="radicand">{self._atom()}</mrow></mrow>'

    def _fenced(self) -> str:
        opening = self._fence()
        inside = self._row(())
        self._expect(r"\right")
        return f"<mrow>{opening}{inside}{self._fence()}</mrow>"

    def _fence(self) -> str:
        token = self._next()
        if token not in _FENCES:
            raise self._error(f"{token} is no fence")
        return f'<mo stretchy="true">{_FENCES[token]}</mo>'

    def _text(self) -> str:
        self._expect("{")
        depth, start = 1, self.starts[self.at - 1] + 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self._next(), 0)
        told = self.latex[start : self.starts[self.at - 1]]
        return f"<mtext>{escape(told).replace(' ', '&nbsp;')}</mtext>"

    def _cases(self) -> str:
        name = "".join(self._next() for _ in "{cases}")
        if name != "{cases}":
            raise self._error(f"{name} is not known; expected {{cases}}")
        rows: list[list[str]] = [[""]]
        while self.tokens[self.at] != r"\end":
            rows[-1][-1] += self._row(("&", r"\\"))
            if self.tokens[self.at] in ("&", r"\\"):
                if self._next() == "&":
                    rows[-1].append("")
                else:
                    rows.append([""])
        self.at += 1
        for _ in "{cases}":
            self._next()
        cells = "".join("<mtr>" + "".join(f"<mtd>{each}</mtd>" for each in row) + "</mtr>" for row in rows if any(row))
        return f'<mrow><mo stretchy="true">{{</mo><mtable columnalign="left">{cells}</mtable></mrow>'
