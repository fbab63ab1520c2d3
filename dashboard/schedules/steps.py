"""When each operation of a schedule can happen, in rounds: a rank sends one message and receives one in a round.

Computing and copying take no round. The figures of the dissertation count steps so (4.4 to 4.12).
"""

from collections import defaultdict, deque

from dashboard.schedules.errors import DeadlockError
from dashboard.schedules.rank import RECEIVE, SEND, WAIT
from dashboard.schedules.schedule import Schedule


class _Clock:
    """Where a rank is: its next row, the last round it knows of, and the last in which it sent and received."""

    def __init__(self, rows: list[list[int]]) -> None:
        self.rows, self.line, self.now, self.sent, self.received = rows, 0, 0, 0, 0
        self.step: list[int] = [0] * len(rows)
        #: Rows of posted receives, with the number of the message on their way.
        self.posted: dict[int, tuple[tuple[int, int, int], int]] = {}


def steps(schedule: Schedule) -> list[list[int]]:
    """Round of every row of every rank, from 1 on; 0 before any message.

    A message has the round in which it passes, at both ends; what follows it has that round too.

    Raises
    ------
    DeadlockError
        When a rank waits for a message that is never sent.
    """
    clocks = [_Clock(program.rows.tolist()) for program in schedule.programs]
    sent: defaultdict[tuple[int, int, int], list[tuple[int, int]]] = defaultdict(list)
    taken: defaultdict[tuple[int, int, int], int] = defaultdict(int)
    ready = deque(range(len(clocks)))
    waiting: dict[tuple[tuple[int, int, int], int], int] = {}
    while ready:
        rank = ready.popleft()
        clock = clocks[rank]
        while clock.line < len(clock.rows):
            kind, peer, tag = clock.rows[clock.line][:3]
            clock.step[clock.line] = clock.now
            if kind == SEND:
                clock.sent = clock.step[clock.line] = max(clock.now, clock.sent) + 1
                way = (rank, peer, tag)
                sent[way].append((clock.sent, clock.line))
                if (key := (way, len(sent[way]) - 1)) in waiting:
                    ready.append(waiting.pop(key))
            elif kind == RECEIVE:
                way = (peer, rank, tag)
                clock.posted[clock.line] = way, taken[way]
                taken[way] += 1
            elif kind == WAIT and not _waited(clock, peer, sent, clocks, waiting, rank):
                break
            clock.line += 1
    stuck = [rank for rank, clock in enumerate(clocks) if clock.line < len(clock.rows)]
    if stuck:
        raise DeadlockError(f"ranks {stuck[:8]} wait for messages that are never sent")
    return [clock.step for clock in clocks]


def _waited(
    clock: _Clock,
    request: int,
    sent: defaultdict[tuple[int, int, int], list[tuple[int, int]]],
    clocks: list[_Clock],
    waiting: dict[tuple[tuple[int, int, int], int], int],
    rank: int,
) -> bool:
    """Let a rank have what it waits for; False when that has not been sent yet."""
    if clock.rows[request][0] == SEND:
        # Its step may still grow, should the receiver be late; the sender does not see that here.
        return True
    way, number = clock.posted[request]
    if len(sent[way]) <= number:
        waiting[way, number] = rank
        return False
    start, line = sent[way][number]
    step = max(start, clock.received + 1)
    clock.received = step
    clock.now = max(clock.now, step)
    clock.step[request] = clock.step[clock.line] = step
    clocks[way[0]].step[line] = step
    return True
