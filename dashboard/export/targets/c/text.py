"""The small print of C: names, numbers, strings and comments that every C99 compiler takes as meant."""

import re
import textwrap
from collections.abc import Iterable

INT_MAX = 2**31 - 1
LLONG_MAX = 2**63 - 1
_WIDTH = 100
_PLAIN = re.compile(r"[ -~]")


def identifier(text: str) -> str:
    """Make a part of a C identifier of any text: what is no ASCII letter or digit becomes ``_``."""
    return re.sub(r"[^A-Za-z0-9]", "_", text)


def integer(value: int) -> str:
    """Integer constant in the range of ``long long`` (C99 6.4.4.1; -2^63 has no constant of its own)."""
    if value < -LLONG_MAX:
        return f"(-{LLONG_MAX}LL - 1)"
    return str(value) if abs(value) <= INT_MAX else f"{value}LL"


def string(text: str) -> str:
    r"""String literal whose bytes are the text in UTF-8.

    Octal escapes always have three digits, so that no digit after them is swallowed; ``?`` after ``?``
    is escaped because C99 replaces trigraphs such as ``??/`` even in literals (5.2.1.1).
    """
    parts = []
    before = ""
    for char in text:
        if char in '"\\' or (char == before == "?"):
            parts.append("\\" + char)
        elif _PLAIN.match(char):
            parts.append(char)
        else:
            parts.extend(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogatepass"))
        before = char
    return '"' + "".join(parts) + '"'


def comment_text(text: str) -> str:
    """Text that can stand within a comment: one line of ASCII without ``*/``, ``/*`` and trigraphs."""
    text = text.encode("ascii", "backslashreplace").decode("ascii")
    text = "".join(char if _PLAIN.match(char) else " " for char in text)
    text = re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", lambda match: match[0] + " ", text)
    # A backslash at the end would join the next line to this one.
    return text.rstrip("\\ ")


def comment(lines: Iterable[str], hanging: str = "    ") -> list[str]:
    """Block comment of several lines, wrapped (further lines after `hanging`); an indented line is kept as it is."""
    body: list[str] = []
    for line in lines:
        safe = line[: len(line) - len(line.lstrip())] + comment_text(line.lstrip())
        if safe.startswith(" ") or not safe:
            body.append(safe)
        else:
            # A number keeps its percent sign: NUL is no blank to wrap at, and comment_text leaves none in.
            glued = safe.replace(" %", "\0%")
            wrapped = textwrap.wrap(glued, _WIDTH - 3, subsequent_indent=hanging, break_long_words=False)
            body.extend(part.replace("\0", " ") for part in wrapped)
    return ["/*", *(f" * {line}".rstrip() for line in body), " */"]
