"""The numbers of an Open MPI rules file in the order in which the library reads them.

The library reads with ``fscanf("%li")``: line ends mean nothing, ``#`` starts a comment, a leading 0 makes a number
octal and 0x hexadecimal, and of anything else one character is dropped and reading goes on behind it.
Source: open-mpi/ompi, ompi/mca/coll/base/coll_base_util.c, ``ompi_coll_base_file_getnext_long``.
"""

import re
from dataclasses import dataclass

LONG_MAX = 2**63 - 1
_BLANK = re.compile(r"[ \t\n\r\f\v]*")
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_NEXT_DIGIT = re.compile(r"[ \t]*[0-9]")
_HEADER = re.compile(r"rule-file-version-\s*([+-]?[0-9]{1,9})")


@dataclass(frozen=True)
class Number:
    """A number with its line (from 1), as it stands there."""

    value: int
    line: int
    text: str


class End(Exception):
    """There is no further number."""


class Scanner:
    """Reads numbers as the library does.

    Parameters
    ----------
    text
        The whole file.
    versioned
        Whether this library knows the line ``rule-file-version-N``.
    """

    def __init__(self, text: str, *, versioned: bool) -> None:
        self._text = text
        #: That is being read.
        self.line = 1
        self.dropped: list[tuple[int, str]] = []
        header = _HEADER.match(text) if versioned else None
        self.version = int(header[1]) if header else 1
        self._place = header.end() if header else 0

    def next(self) -> Number:
        """Give the next number; `End` when there is none."""
        while True:
            if blank := _BLANK.match(self._text, self._place):
                self._go(blank.end())
            if self._place >= len(self._text):
                raise End
            match = _NUMBER.match(self._text, self._place)
            if match:
                self._place = match.end()
                return Number(_value(match[0]), self.line, match[0])
            if self._text[self._place] in "+-":  # fscanf has taken the sign already
                self._drop()
            if self._place < len(self._text):
                self._drop()

    def digit_follows(self) -> bool:
        """Whether the next that is no blank, on this line, is a digit; blanks before it are gone then."""
        return _NEXT_DIGIT.match(self._text, self._place) is not None

    def _drop(self) -> None:
        char = self._text[self._place]
        if char == "#":
            end = self._text.find("\n", self._place)
            self._go(len(self._text) if end < 0 else end + 1)
            return
        if not char.isspace():
            self._note(char)
        self._go(self._place + 1)

    def _note(self, char: str) -> None:
        """Remember what was dropped, one entry a line."""
        if self.dropped and self.dropped[-1][0] == self.line:
            self.dropped[-1] = (self.line, self.dropped[-1][1] + char)
        else:
            self.dropped.append((self.line, char))

    def _go(self, place: int) -> None:
        self.line += self._text.count("\n", self._place, place)
        self._place = place


def _value(text: str) -> int:
    sign = -1 if text[0] == "-" else 1
    digits = text.lstrip("+-")
    if digits[:2] in ("0x", "0X"):
        value = int(digits, 16)
    elif len(digits) > 1 and digits[0] == "0":
        value = int(digits, 8)
    else:
        # int() refuses numbers of thousands of digits; they are all too large alike.
        value = int(digits) if len(digits) < 40 else LONG_MAX
    return max(min(sign * value, LONG_MAX), -LONG_MAX - 1)
