"""Decision trees drawn as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dashboard.decisions.flat import FlatTree
from dashboard.decisions.nodes import plain_number


def draw(tree: FlatTree, labels: Sequence[str], *, max_lines: int | None = None) -> str:
    """Draw `tree` with one line per outcome of each test.

    Parameters
    ----------
    tree
        The tree.
    labels
        What to write for each method.
    max_lines
        Stop after so many lines and say how many leaves there are.
    """
    lines: list[str] = []
    for line in _lines(tree, labels):
        if max_lines is not None and len(lines) >= max_lines:
            lines.append(f"... (a tree of {int((tree.codes >= 0).sum())} leaves)")
            break
        lines.append(line)
    return "\n".join(lines)


def _lines(tree: FlatTree, labels: Sequence[str]) -> Iterator[str]:
    if tree.codes[0] >= 0:
        yield f"always: {labels[int(tree.codes[0])]}"
        return
    # Nodes still to be drawn, the next one last: (position among the nodes, indent, outcome that leads to it).
    waiting = _outcomes(tree, 0, "")
    while waiting:
        place, indent, outcome = waiting.pop()
        code = int(tree.codes[place])
        if code >= 0:
            yield f"{indent}{outcome}: {labels[code]}"
        else:
            yield f"{indent}{outcome}:"
            waiting.extend(_outcomes(tree, place, indent + "|   "))


def _outcomes(tree: FlatTree, place: int, indent: str) -> list[tuple[int, str, str]]:
    """The children of a split, the last one first."""
    split = -1 - int(tree.codes[place])
    width = int(tree.widths[split])
    outcomes = []
    for child in range(1 << width):
        parts = []
        for position in range(width):
            name = tree.attributes[tree.tested[split, position]]
            sign = ">" if child >> position & 1 else "<="
            parts.append(f"{name} {sign} {plain_number(float(tree.cuts[split, position]))}")
        outcomes.append((int(tree.first_child[split]) + child, indent, ", ".join(parts)))
    return outcomes[::-1]
