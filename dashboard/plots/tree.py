"""Decision trees drawn as SVG: tests from left to right, one line for each leaf or closed branch."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.flat import FlatTree
from dashboard.decisions.function.text import condition
from dashboard.domain.arrays import IntArray
from dashboard.domain.units import format_count
from dashboard.plots.colors import MethodKey

#: Lines of more than this nobody reads; the tree is then drawn to a smaller depth.
MOST_LINES = 160
LINE = 26
#: Width of a level: from, to, and what a letter of the longest text takes.
NARROW, WIDE, LETTER = 70, 420, 5.6
#: A drawing that is wider than its place shrinks, to no less than this.
SMALLEST = 0.75
STYLE = """
/* Where the drawing goes on beyond the right edge, that has a shadow, which the drawing's own end covers. */
.tree { overflow-x: auto; background:
  linear-gradient(to left, var(--panel-background-color, #fff) 40%, transparent) right / 48px 100% no-repeat local,
  linear-gradient(to left, rgba(128, 128, 128, 0.55), transparent) right / 16px 100% no-repeat scroll; }
.tree [data-leaf] { cursor: pointer; }
.tree svg { display: block; font: 12px Roboto, Helvetica, Arial, sans-serif; }
.tree text { fill: var(--panel-on-background-color, #222); }
.tree text.dark { fill: #111; }
.tree path { fill: none; stroke: rgba(128, 128, 128, 0.75); stroke-width: 1.2; }
.tree path.on { stroke: #e6007e; stroke-width: 3; }
.tree rect { stroke: rgba(128, 128, 128, 0.8); stroke-width: 1; }
.tree rect.test { fill: var(--panel-background-color, #fff); }
.tree rect.on { stroke: #e6007e; stroke-width: 2.5; }
.tree .closed { stroke-dasharray: 4 3; }
"""


@dataclass
class Drawn:
    """A node that is drawn."""

    #: Among the nodes of the tree.
    place: int
    #: Outcome of the tests above that leads here; empty at the root.
    condition: str
    #: Levels below the root.
    depth: int
    #: What is drawn below; empty at a leaf and where the branch is closed.
    children: list[Drawn] = field(default_factory=list)
    #: Height at which it stands, in lines.
    line: float = 0.0


def depth_to_show(decision: DecisionFunction, most: int = MOST_LINES) -> int:
    """The deepest level to which a tree can be drawn with at most so many lines."""
    tree = decision.tree
    depths = tree.node_depths
    for depth in range(1, tree.depth + 1):
        lines = int(((tree.codes >= 0) & (depths < depth)).sum() + (depths == depth).sum())
        if lines > most:
            return depth - 1
    return tree.depth


def path_to(tree: FlatTree, place: int) -> list[int]:
    """Places of the nodes from the root to a node."""
    parents = _parents(tree)
    path = [place]
    while path[-1] > 0:
        path.append(int(parents[path[-1]]))
    return path[::-1]


def _parents(tree: FlatTree) -> IntArray:
    splits = np.flatnonzero(tree.codes < 0)
    counts = np.left_shift(1, tree.widths.astype(np.int64))
    return np.concatenate([[-1], np.repeat(splits, counts)])


def outline(decision: DecisionFunction, depth: int, path: Sequence[int] = ()) -> Drawn:
    """Lay a tree out: open to a depth, and along a path however deep that is.

    Branches of one split that cannot be told apart by its tests (those of a quadtree in the padding) are left out.
    """
    opened = set(path)
    root = Drawn(0, "", 0)
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if decision.tree.codes[node.place] >= 0 or (node.depth >= depth and node.place not in opened):
            continue
        node.children = [
            Drawn(place, condition, node.depth + 1) for place, condition in _outcomes(decision, node.place)
        ]
        waiting.extend(node.children)
    _set_lines(root)
    return root


def _outcomes(decision: DecisionFunction, place: int) -> list[tuple[int, str]]:
    tree = decision.tree
    split = -1 - int(tree.codes[place])
    outcomes = []
    for child in range(1 << int(tree.widths[split])):
        parts, possible = [], True
        for position in range(int(tree.widths[split])):
            above, cut = bool(child >> position & 1), float(tree.cuts[split, position])
            if np.isinf(cut):
                possible = possible and above == (cut < 0)
                continue
            name = tree.attributes[tree.tested[split, position]]
            parts.append(condition(name, cut, above=above, names=decision.categories.get(name, ())))
        if possible:
            outcomes.append((int(tree.first_child[split]) + child, ", ".join(parts)))
    return outcomes


def _set_lines(root: Drawn) -> None:
    nodes = _nodes(root)
    for line, leaf in enumerate(node for node in nodes if not node.children):
        leaf.line = float(line)
    for node in reversed(nodes):
        if node.children:
            node.line = (node.children[0].line + node.children[-1].line) / 2


def _nodes(root: Drawn) -> list[Drawn]:
    """Nodes from top to bottom, each before those below it."""
    nodes, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        waiting.extend(reversed(node.children))
    return nodes


def tree_svg(decision: DecisionFunction, key: MethodKey, *, depth: int, path: Sequence[int] = ()) -> str:
    """Draw a tree.

    Parameters
    ----------
    key
        Colours and letters, by label.
    depth
        Level to which it is open; deeper branches are one box that tells how many leaves it holds.
    path
        Places of nodes that are highlighted, as `path_to` gives them; these branches are open.
    """
    root = outline(decision, depth, path)
    nodes = _nodes(root)
    lines = sum(not node.children for node in nodes)
    drawing = _Drawing(decision, key, set(path), nodes)
    width, height = drawing.width, lines * LINE + 16
    shapes = [drawing.edge(node, child) for node in nodes for child in node.children]
    shapes += [drawing.node(node) for node in nodes]
    caption = (
        f"Decision tree, {format_count(decision.leaves, 'leaf', 'leaves')}, drawn to depth {min(depth, decision.depth)}"
    )
    label = escape(caption, quote=True)
    return (
        f'<div class="tree" role="region" tabindex="0" aria-label="{label}">'
        f'<svg viewBox="0 0 {width:.0f} {height}" role="img" aria-label="{label}" '
        f'style="width: 100%; max-width: {width:.0f}px; min-width: {SMALLEST * width:.0f}px">'
        f"{''.join(shapes)}</svg></div>"
    )


class _Drawing:
    """Nodes and edges as SVG."""

    def __init__(self, decision: DecisionFunction, key: MethodKey, on: Collection[int], nodes: list[Drawn]) -> None:
        self._decision, self._key, self._on = decision, key, on
        self._counts = _leaves_below(decision.tree)
        tested = {node.place: _tested(node) for node in nodes}
        #: What stands above and below the line to each node: the condition, without what its parent is said to test.
        self._tested = tested
        self._texts = {
            child.place: _two_lines(child.condition.removeprefix(tested[node.place]).strip())
            for node in nodes
            for child in node.children
        }
        beside = [[above, f"{below}  {tested[place]}".strip()] for place, (above, below) in self._texts.items()]
        longest = max((len(text) for texts in beside for text in texts), default=0)
        self.column = min(max(LETTER * longest + 42, NARROW), WIDE)
        # The root has no line to stand below of.
        self._left = max(10.0, LETTER * len(tested[nodes[0].place]) + 14)
        self.width = max(self._at(node)[0] + 8 + self._end(node) for node in nodes)

    def _at(self, node: Drawn) -> tuple[float, float]:
        return self._left + node.depth * self.column, 8 + (node.line + 0.5) * LINE

    def _end(self, node: Drawn) -> float:
        """Room to the right of where a node stands."""
        code = int(self._decision.tree.codes[node.place])
        if code < 0:
            return 84.0
        label = self._decision.methods[code].label
        return _box(look(self._key, label)[1]) + 6 + 6.6 * len(label)

    def edge(self, node: Drawn, child: Drawn) -> str:
        """Line from a test to one of its outcomes."""
        (x0, y0), (x1, y1) = self._at(node), self._at(child)
        kind = ' class="on"' if child.place in self._on else ""
        return f'<path{kind} d="M{x0 + 10:.0f} {y0:.1f} H{x0 + 26:.0f} V{y1:.1f} H{x1:.0f}"/>'

    def node(self, node: Drawn) -> str:
        """Leaf, test or closed branch, with what must hold to come here above the line that leads to it."""
        x, y = self._at(node)
        code = int(self._decision.tree.codes[node.place])
        marked = " on" if node.place in self._on else ""
        clause = self._condition(node, x, y)
        if code >= 0:
            label = self._decision.methods[code].label
            color, letter = look(self._key, label)
            wide = _box(letter)
            return (
                f'{clause}<g data-leaf="{node.place}"><rect class="leaf{marked}" x="{x:.0f}" y="{y - 9:.1f}"'
                f' width="{wide:.0f}" height="18" rx="3" fill="{color}"/><text class="dark" x="{x + wide / 2:.0f}"'
                f' y="{y + 4:.1f}" text-anchor="middle">{escape(letter)}</text>'
                f'<text x="{x + wide + 6:.0f}" y="{y + 4:.1f}">{escape(label)}</text></g>'
            )
        if node.children:
            beneath = f'<text x="{x + 2:.0f}" y="{y + 12:.1f}" text-anchor="end" font-size="11">'
            name = f"{beneath}{self._tested[node.place]}</text>"
            fill = "#e6007e" if marked else "#888888"
            return f'{clause}{name}<circle cx="{x + 6:.0f}" cy="{y:.1f}" r="5" fill="{fill}"/>'
        text = f"{int(self._counts[node.place]):,} leaves"
        box = f'<rect class="test closed{marked}" x="{x:.0f}" y="{y - 9:.1f}" width="84" height="18" rx="3"/>'
        return f'{clause}{box}<text x="{x + 42:.0f}" y="{y + 4:.1f}" text-anchor="middle">{text}</text>'

    def _condition(self, node: Drawn, x: float, y: float) -> str:
        if not node.condition:
            return ""
        most, title = int((self.column - 38) / LETTER), f"<title>{escape(node.condition)}</title>"
        texts = (text if len(text) <= most else text[: most - 1] + "…" for text in self._texts[node.place])
        return "".join(
            f'<text x="{x - self.column + 32:.0f}" y="{y + shift:.1f}" font-size="11">{escape(text)}{title}</text>'
            for text, shift in zip(texts, (-4, 12), strict=True)
            if text
        )


def _two_lines(condition: str) -> tuple[str, str]:
    """The outcomes of several tests in two lines, of one test in the first."""
    parts = condition.split(", ")
    middle = (len(parts) + 1) // 2
    return ", ".join(parts[:middle]), ", ".join(parts[middle:])


def _tested(node: Drawn) -> str:
    """What all outcomes of a node compare with a number: ``message``; empty where they are said in other words."""
    compared = [re.fullmatch(r"([a-z ]+) [≤>] [\d.,]+( \w+)?", child.condition) for child in node.children]
    names = {match[1] if match else "" for match in compared}
    return names.pop() if len(names) == 1 else ""


def _box(letter: str) -> float:
    return max(22.0, 6.6 * len(letter) + 8)


def look(key: MethodKey, label: str) -> tuple[str, str]:
    """Colour and letter of a method by its label; grey and ? where it is not among those of the key."""
    if label not in key.labels:
        return "#cccccc", "?"
    place = key.labels.index(label)
    return key.colors[place], key.letters[place]


def _leaves_below(tree: FlatTree) -> IntArray:
    counts = (tree.codes >= 0).astype(np.int64)
    parents = _parents(tree)
    for start, end in reversed(list(zip(tree.level_starts[1:-1], tree.level_starts[2:], strict=True))):
        np.add.at(counts, parents[start:end], counts[start:end])
    return counts
