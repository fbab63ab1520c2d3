"""Schedules as pictures: who sends to whom in which step (Figures 4.1 to 4.3), and what each rank holds (4.4 to 4.12).

Plain SVG, which needs no browser to be made; colours follow the step, from early (blue) to late (red).
"""

import math
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from dashboard.domain.units import format_count
from dashboard.schedules.movement import movement
from dashboard.schedules.rank import SEND
from dashboard.schedules.schedule import Schedule
from dashboard.schedules.steps import steps

#: From, to and the step of a message.
Edge = tuple[int, int, int]
_RADIUS, _LAYER, _GAP, _MARGIN, _CELL = 13.0, 70.0, 16.0, 30.0, 11.0
_TEXT = 'font-family="sans-serif" font-size="11"'


def messages(schedule: Schedule) -> list[Edge]:
    """All messages, each with its step, in the order of the steps."""
    made = [
        (rank, row[1], at)
        for rank, (program, rounds) in enumerate(zip(schedule.programs, steps(schedule), strict=True))
        for row, at in zip(program.rows.tolist(), rounds, strict=True)
        if row[0] == SEND
    ]
    return sorted(made, key=lambda edge: (edge[2], edge[:2]))


def ways_of(sent: Sequence[Edge]) -> list[Edge]:
    """Ways that messages take, each with the step of its first message, in the order of the steps."""
    first: dict[tuple[int, int], int] = {}
    for rank, to, step in sent:
        first.setdefault((rank, to), step)
    return [(*way, step) for way, step in first.items()]


def places(ways: Sequence[Edge], processes: int, root: int) -> list[tuple[float, float]]:
    """Where each rank is drawn: a tree below its root, whichever way messages go along it; all else on a circle."""
    # Those that each sends to or receives from, in the order of the steps.
    beside: list[dict[int, None]] = [{} for _ in range(processes)]
    for source, to, _ in ways:
        beside[source][to] = beside[to][source] = None
    order: list[tuple[int, int, list[int]]] = []
    seen, left = {root}, [(root, 0)]
    while left:
        rank, depth = left.pop()
        children = [other for other in beside[rank] if other not in seen]
        seen.update(children)
        order.append((rank, depth, children))
        left += [(child, depth + 1) for child in reversed(children)]
    if len(order) == processes and sum(map(len, beside)) == 2 * (processes - 1):
        leaves = [rank for rank, _, children in order if not children]
        across = {rank: place * (2 * _RADIUS + _GAP) for place, rank in enumerate(leaves)}
        for rank, _, children in reversed(order):
            if children:
                across[rank] = (across[children[0]] + across[children[-1]]) / 2
        return [(across[rank], depth * _LAYER) for rank, depth, _ in sorted(order)]
    radius = max(60.0, processes * (2 * _RADIUS + _GAP) / (2 * math.pi))
    turns = [2 * math.pi * rank / processes for rank in range(processes)]
    return [(radius + radius * math.sin(turn), radius - radius * math.cos(turn)) for turn in turns]


def graph_svg(schedule: Schedule, step: int | None = None) -> str:
    """Who sends to whom; the number at an arrow is the step of its first message, or the `step` that alone is shown."""
    sent = messages(schedule)
    ways = ways_of(sent)
    shown = ways if step is None else [each for each in sent if each[2] == step]
    last = max((step for *_, step in ways), default=1)
    spots = [(x + _MARGIN, y + 2 * _MARGIN) for x, y in places(ways, schedule.call.processes, schedule.call.root)]
    pale = {way[:2] for way in ways} - {way[:2] for way in shown}
    shapes = [line for way in ways if way[:2] in pale for line in _arrow(spots, way, last)]
    shapes = ['<g opacity="0.15">', *shapes, "</g>"] if shapes else []
    shapes += [line for way in shown for line in _arrow(spots, way, last)]
    for rank, (x, y) in enumerate(spots):
        shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="white" stroke="black"/>')
        shapes.append(f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" {_TEXT}>{rank}</text>')
    if step is None and len(sent) > len(ways):
        note = f"first step at each arrow; {len(sent)} messages in all"
        shapes.append(f'<text x="8" y="34" {_TEXT}>{note}</text>')
    width, height = (max(each[axis] for each in spots) + _MARGIN for axis in (0, 1))
    return _svg(shapes, max(width, 320.0), height, schedule)


def _arrow(spots: Sequence[tuple[float, float]], way: Edge, last: int) -> Iterator[str]:
    """A line that ends at the circles, its head, and its step nearer to the receiver."""
    (x1, y1), (x2, y2), step = spots[way[0]], spots[way[1]], way[2]
    length = math.hypot(x2 - x1, y2 - y1)
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    # Both ways of a pair stand beside each other.
    x1, y1, x2, y2 = x1 - 3 * dy, y1 + 3 * dx, x2 - 3 * dy, y2 + 3 * dx
    x1, y1, x2, y2 = x1 + _RADIUS * dx, y1 + _RADIUS * dy, x2 - _RADIUS * dx, y2 - _RADIUS * dy
    colour = f"hsl({220 - 220 * (step - 1) / max(1, last - 1):.0f} 80% 38%)"
    yield f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" fill="none"/>'
    left, right = ((x2 - 7 * dx + side * 3 * dy, y2 - 7 * dy - side * 3 * dx) for side in (1, -1))
    yield (f'<path d="M{x2:.1f} {y2:.1f}L{left[0]:.1f} {left[1]:.1f}L{right[0]:.1f} {right[1]:.1f}Z" fill="{colour}"/>')
    x, y = x1 + 0.6 * (x2 - x1) - 6 * dy, y1 + 0.6 * (y2 - y1) + 6 * dx
    yield f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" fill="{colour}" {_TEXT}>{step}</text>'


def movement_svg(schedule: Schedule, step: int | None = None) -> str:
    """What each rank holds after each step, or after one: a row for each rank, a column for each element.

    Darker is what has been combined of more ranks, red what came in that step.
    """
    held = movement(schedule)
    wanted = range(len(held)) if step is None else (step,)
    _, ranks, columns = held.shape
    count = len(wanted)
    wide = columns * _CELL + 2 * _MARGIN
    across = max(1, int(1200 // wide))
    high = ranks * _CELL + _MARGIN
    shapes: list[str] = []
    for place, at in enumerate(wanted):
        grid = held[at]
        left, top = (place % across) * wide + _MARGIN, (place // across) * high + 2 * _MARGIN
        title = f"after step {at}" if at else "before"
        shapes.append(f'<text x="{left:.1f}" y="{top - 5:.1f}" {_TEXT}>{title}</text>')
        new = grid != (held[at - 1] if at else grid)
        for rank in range(ranks):
            for column in range(columns):
                share = grid[rank, column] / ranks if schedule.call.entry.reduces else float(grid[rank, column] > 0)
                fill = f"hsl({20 if new[rank, column] else 210} 70% {95 - 55 * share:.0f}%)" if share else "white"
                x, y = left + column * _CELL, top + rank * _CELL
                shapes.append(
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{_CELL}" height="{_CELL}" fill="{fill}" stroke="#bbb">'
                    f"<title>rank {rank}, element {column}: {grid[rank, column]}</title></rect>"
                )
    rows = -(-count // across)
    return _svg(shapes, max(min(count, across) * wide, 320.0), rows * high + 2 * _MARGIN, schedule)


def movement_text(schedule: Schedule) -> Iterator[str]:
    """The same as text: a digit for the contributions held, a dot for nothing, + from ten on."""
    for step, grid in enumerate(movement(schedule)):
        yield f"after step {step}" if step else "before"
        for rank, row in enumerate(grid.tolist()):
            yield f"{rank:4d} " + "".join("." if not n else str(n) if n < 10 else "+" for n in row)


def graph_text(schedule: Schedule) -> Iterator[str]:
    """Who sends to whom, step by step."""
    sent = messages(schedule)
    if not sent:
        yield "one process sends nothing" if schedule.call.processes == 1 else "nothing is sent"
    for step, passing in groupby(sent, key=lambda each: each[2]):
        yield f"step {step}: " + ", ".join(f"{source} → {to}" for source, to, _ in passing)


def _svg(shapes: Sequence[str], width: float, height: float, schedule: Schedule) -> str:
    call = schedule.call
    settings = "".join(f", {name.replace('_', ' ')} {value}" for name, value in schedule.parameters.items() if value)
    title = escape(f"{schedule.algorithm.title}, {format_count(call.processes, 'process', 'processes')}{settings}")
    box = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" style="max-width: 100%"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img" aria-label="{title}">',
            f"<title>{title}</title>",
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
            f'<text x="8" y="18" {_TEXT} font-weight="bold">{title}</text>',
            *shapes,
            "</svg>\n",
        ]
    )
