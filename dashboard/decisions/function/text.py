"""Decision trees drawn as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dashboard.decisions.function.flat import FlatTree
from dashboard.decisions.function.nodes import plain_number

#: Cases of each leaf, by its position among the nodes, and how many of them have another method.
Counts = Mapping[int, tuple[int, int]]


def draw(
    tree: FlatTree,
    labels: Sequence[str],
    *,
    categories: Mapping[str, Sequence[str]] | None = None,
    max_lines: int | None = None,
    counts: Counts | None = None,
) -> str:
    """Draw `tree` with one line per outcome of each test.

    Parameters
    ----------
    tree
        The tree.
    labels
        What to write for each method.
    categories
        For attributes of named values, the names by position.
    max_lines
        Stop after so many lines and say how many leaves there are.
    counts
        Written behind each leaf, as C4.5 does (dissertation, Figure 5.5): ``(cases/errors)``, or ``(cases)``.
    """
    lines: list[str] = []
    for line in _lines(tree, labels, categories or {}, counts):
        if max_lines is not None and len(lines) >= max_lines:
            lines.append(f"... (a tree of {int((tree.codes >= 0).sum())} leaves)")
            break
        lines.append(line)
    return "\n".join(lines)


def _counted(counts: Counts | None, place: int) -> str:
    if counts is None:
        return ""
    cases, errors = counts.get(place, (0, 0))
    return f" ({cases}/{errors})" if errors else f" ({cases})"


def _lines(
    tree: FlatTree, labels: Sequence[str], names: Mapping[str, Sequence[str]], counts: Counts | None
) -> Iterator[str]:
    if tree.codes[0] >= 0:
        yield f"always: {labels[int(tree.codes[0])]}{_counted(counts, 0)}"
        return
    # Nodes still to be drawn, the next one last: (position among the nodes, indent, outcome that leads to it).
    waiting = _outcomes(tree, 0, "", names)
    while waiting:
        place, indent, outcome = waiting.pop()
        code = int(tree.codes[place])
        if code >= 0:
            yield f"{indent}{outcome}: {labels[code]}{_counted(counts, place)}"
        else:
            yield f"{indent}{outcome}:"
            waiting.extend(_outcomes(tree, place, indent + "|   ", names))


def _outcomes(
    tree: FlatTree, place: int, indent: str, names: Mapping[str, Sequence[str]]
) -> list[tuple[int, str, str]]:
    """The children of a split, the last one first."""
    split = -1 - int(tree.codes[place])
    width = int(tree.widths[split])
    outcomes = []
    for child in range(1 << width):
        parts = []
        for position in range(width):
            name, cut = tree.attributes[tree.tested[split, position]], float(tree.cuts[split, position])
            parts.append(outcome(name, cut, holds=not child >> position & 1, names=names.get(name, ())))
        outcomes.append((int(tree.first_child[split]) + child, indent, ", ".join(parts)))
    return outcomes[::-1]


def outcome(name: str, cut: float, *, holds: bool, names: Sequence[str] = ()) -> str:
    """Say what is known after a test: a bound, or of named values which of them are left."""
    if not names:
        return f"{name} {'<=' if holds else '>'} {plain_number(cut)}"
    chosen = [text for place, text in enumerate(names) if (place <= cut) == holds]
    return f"{name} is {' or '.join(chosen) or 'none'}"
