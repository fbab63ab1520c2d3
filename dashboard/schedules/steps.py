"""When each operation of a schedule can happen, in rounds: a rank sends one message and receives one in a round.

Computing and copying take no round. The figures of the dissertation count steps so (4.4 to 4.12).
"""

from collections import deque

from dashboard.schedules.errors import DeadlockError
from dashboard.schedules.rank import RECEIVE, SEND, WAIT, MessageKey, messages_of
from dashboard.schedules.schedule import Schedule


class _Clock:
    """Where a rank is: its next row, the last round it knows of, and the last in which it sent and received."""

    def __init__(self, rank: int, rows: list[list[int]]) -> None:
        self.rank, self.rows, self.line, self.now, self.sent, self.received = rank, rows, 0, 0, 0, 0
        self.step: list[int] = [0] * len(rows)
        self.messages = messages_of(rank, rows, SEND, RECEIVE)
        #: What posted receives take, by their lines.
        self.posted: dict[int, MessageKey] = {}


def steps(schedule: Schedule) -> list[list[int]]:
    """Round of every row of every rank, from 1 on; 0 before any message.

    A message has the round in which it passes, at both ends; what follows it has that round too.

    Raises
    ------
    DeadlockError
        When a rank waits for a message that is never sent.
    """
    clocks = [_Clock(rank, program.rows.tolist()) for rank, program in enumerate(schedule.programs)]
    # Round and line of each send, and who waits for one that is still to come.
    sent: dict[MessageKey, tuple[int, int]] = {}
    waiting: dict[MessageKey, int] = {}
    ready = deque(range(len(clocks)))
    while ready:
        clock = clocks[ready.popleft()]
        while clock.line < len(clock.rows):
            kind, peer = clock.rows[clock.line][:2]
            clock.step[clock.line] = clock.now
            if kind == SEND:
                clock.sent = clock.step[clock.line] = max(clock.now, clock.sent) + 1
                message, _ = next(clock.messages)
                sent[message] = clock.sent, clock.line
                if message in waiting:
                    ready.append(waiting.pop(message))
            elif kind == RECEIVE:
                clock.posted[clock.line], _ = next(clock.messages)
            # The step of a send may still grow, should the receiver be late; who waits for it does not see that.
            elif kind == WAIT and clock.rows[peer][0] == RECEIVE:
                message = clock.posted[peer]
                if message not in sent:
                    waiting[message] = clock.rank
                    break
                start, line = sent[message]
                clock.received = max(start, clock.received + 1)
                clock.now = max(clock.now, clock.received)
                clock.step[peer] = clock.step[clock.line] = clocks[message[0]].step[line] = clock.received
            clock.line += 1
    stuck = [clock.rank for clock in clocks if clock.line < len(clock.rows)]
    if stuck:
        raise DeadlockError(f"ranks {stuck[:8]} wait for messages that are never sent")
    return [clock.step for clock in clocks]
