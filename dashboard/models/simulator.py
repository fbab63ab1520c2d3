"""A discrete-event simulator: runs what each process does, message by message, under a point-to-point model.

Each process has a program, a list of operations in the order of its processor. A message leaves through the sender's
port and enters through the receiver's, both of which take time of their own (full duplex, section 4.3):

* LogP / LogGP and PLogP: a send keeps the processor for o (o_s) and the port for g + (m - 1) G (g(m)); the message is
  received L + 2 o + (m - 1) G (L + g(m)) after its start at the earliest, as long after the one before it as the port
  needs, and after the receiver has spent o (o_r) on it.
* A port takes messages in the order in which the receiver has posted its receives.
* Hockney: a transfer keeps the sender, and the port of the receiver, for alpha + beta m; a process that computes takes
  nothing in (it "must be fully involved", section 4.3.2).
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from dashboard.models.errors import ModelError
from dashboard.models.p2p import Hockney, LogGP, PLogP, PointToPointModel

ARRIVE, PROCESS, PORT = range(3)


class Send(NamedTuple):
    """Send `size` bytes to process `to`; `alone`: it reaches the other as if it were the only one (section 4.3.4)."""

    to: int
    size: float
    tag: int = 0
    alone: bool = False


class Receive(NamedTuple):
    """Wait for a message and take it; `alone`: it passes the port as if it were the only one."""

    source: int
    tag: int = 0
    alone: bool = False


class Both(NamedTuple):
    """Send and receive at once, in whatever order ports and messages allow."""

    sends: tuple[Send, ...]
    receives: tuple[Receive, ...]


class Work(NamedTuple):
    """Compute on (gamma) or copy (delta) `size` bytes."""

    size: float
    kind: Literal["compute", "copy"] = "compute"


Operation = Send | Receive | Both | Work
Program = list[Operation]
Programs = Sequence[Sequence[Operation]]
"""What each process does, by its number."""


class Event(NamedTuple):
    """What a processor did from `start` to `end` (seconds); `peer` is -1 for work. Only traces tell waits."""

    process: int
    kind: Literal["send", "receive", "compute", "copy", "wait"]
    start: float
    end: float
    peer: int
    size: float
    tag: int


class Message(NamedTuple):
    """A message on its way, from the start of its send to the end of its receive (seconds)."""

    source: int
    to: int
    start: float
    end: float
    size: float
    tag: int
    alone: bool = False


@dataclass
class Run:
    """A finished run."""

    #: When each process was done, s.
    finished: list[float]
    #: For a time line: what the processors did, and the messages between them.
    events: list[Event] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

    @property
    def time(self) -> float:
        """Duration of the collective: when the last process is done."""
        return max(self.finished, default=0.0)


class Costs(NamedTuple):
    """What a message of one size costs: the sender's processor, each port, all of it, the receiver's processor."""

    sender: float
    port: float
    total: float
    receiver: float


class Nodes(NamedTuple):
    """Which processes share a node: the node of each, and what messages cost within one (of the model between them)."""

    of: Sequence[int]
    within: PointToPointModel


def simulate(programs: Programs, parameters: PointToPointModel, nodes: Nodes | None = None) -> Run:
    """Run the programs of all processes.

    Parameters
    ----------
    parameters
        Of messages between nodes, and of computing.
    nodes
        Who shares one; None: nobody does.

    Raises
    ------
    ModelError
        When a process waits for a message that nobody sends, or a message is never taken; when the nodes are of
        another number of processes, or what costs within them is of another model.
    """
    if nodes is not None and (len(nodes.of) != len(programs) or type(nodes.within) is not type(parameters)):
        raise ModelError(f"nodes of {len(nodes.of)} processes, {len(programs)} run; both models must be of one kind")
    kind = _Hockney if isinstance(parameters, Hockney) else _Machine
    return kind(programs, parameters, nodes).run()


@dataclass(slots=True)
class _Process:
    """State of one process: where it is in its program, and until when its processor and its ports are taken."""

    number: int
    program: Sequence[Operation]
    #: Sources and tags of the receives in their order.
    posted: list[tuple[int, int]]
    index: int = 0
    served: int = 0
    version: int = 0
    waiting: bool = False
    idle: float = 0.0
    out: float = 0.0
    taken: float = float("-inf")
    sends: list[Send] = field(default_factory=list)
    receives: list[Receive] = field(default_factory=list)
    arrived: dict[tuple[int, int], Message] = field(default_factory=dict)

    def load(self) -> Operation | None:
        """Fetch the next operation; messages become what is to be sent and received."""
        if self.index == len(self.program):
            return None
        operation = self.program[self.index]
        self.index += 1
        if isinstance(operation, Send):
            self.sends = [operation]
        elif isinstance(operation, Receive):
            self.receives = [operation]
        elif isinstance(operation, Both):
            self.sends, self.receives = list(operation.sends), list(operation.receives)
        return operation

    def next_message(self) -> Message | None:
        """Message that the port takes next, if it has come."""
        return self.arrived.get(self.posted[self.served]) if self.served < len(self.posted) else None


def _posted(program: Sequence[Operation]) -> list[tuple[int, int]]:
    """Sources and tags of the receives in their order."""
    receives: list[tuple[int, int]] = []
    for operation in program:
        if isinstance(operation, Receive):
            receives.append((operation.source, operation.tag))
        elif isinstance(operation, Both):
            receives += [(each.source, each.tag) for each in operation.receives if not each.alone]
    return receives


class _Machine:
    """LogP / LogGP and PLogP.

    The heap holds what happens when, and at one time: first messages arrive, then processes go on (unless their version
    has changed), and last the ports take what has come, so that it does not matter who came first at the same time.
    """

    def __init__(self, programs: Programs, parameters: PointToPointModel, nodes: Nodes | None) -> None:
        self.parameters, self.nodes = parameters, nodes
        self.processes = [_Process(number, program, _posted(program)) for number, program in enumerate(programs)]
        self.there: dict[tuple[int, int, int], tuple[float, Message]] = {}
        self.heap: list[tuple[float, int, int, int, Message | None]] = []
        self.pushed = 0
        self.result = Run([0.0] * len(programs))
        self.known: dict[tuple[bool, float], Costs] = {}

    def costs(self, source: int, to: int, size: float) -> Costs:
        """What a message costs on its way."""
        nodes = self.nodes
        near = nodes is not None and nodes.of[source] == nodes.of[to]
        if (near, size) not in self.known:
            self.known[near, size] = costs_of(nodes.within if nodes and near else self.parameters, size)
        return self.known[near, size]

    def run(self) -> Run:
        """Run until nothing happens any more."""
        for process in self.processes:
            self._go_on(process, 0.0)
        while self.heap:
            time, what, order, number, message = heapq.heappop(self.heap)
            process = self.processes[number]
            if what == ARRIVE and message is not None:
                self._arrive(process, time, message)
            elif what == PORT:
                self._serve(process, time)
            elif order == process.version:
                process.waiting = False
                self._step(process, time)
        self._check()
        return self.result

    def _check(self) -> None:
        for process in self.processes:
            if process.receives:
                raise ModelError(
                    f"process {process.number} waits for ever for a message of {process.receives[0].source}"
                )
            if process.arrived or process.sends:
                raise ModelError(f"process {process.number} is left with a message that nobody takes")
        if self.there:
            source, to, tag = next(iter(self.there))
            raise ModelError(f"process {to} never takes the message of {source} with tag {tag}")

    def _push(self, time: float, what: int, number: int, message: Message | None = None) -> int:
        self.pushed += 1
        heapq.heappush(self.heap, (time, what, self.pushed, number, message))
        return self.pushed

    def _go_on(self, process: _Process, time: float) -> None:
        process.version = self._push(time, PROCESS, process.number)

    def _step(self, process: _Process, time: float) -> None:
        while not process.sends and not process.receives:
            operation = process.load()
            if operation is None:
                self.result.finished[process.number] = process.idle
                return
            if isinstance(operation, Work):
                self._work(process, operation, time)
                return
        if process.sends and process.out <= time:
            self._send(process, process.sends.pop(0), time)
            return
        for wanted in process.receives:
            if (wanted.source, process.number, wanted.tag) in self.there:
                self._take(process, wanted)
                return
        process.waiting = True
        if process.sends:
            self._go_on(process, process.out)

    def _work(self, process: _Process, work: Work, time: float) -> None:
        rate = self.parameters.gamma if work.kind == "compute" else self.parameters.delta
        self._busy(process, Event(process.number, work.kind, time, time + rate * work.size, -1, work.size, 0))

    def _busy(self, process: _Process, event: Event) -> None:
        self.result.events.append(event)
        process.idle = event.end
        self._go_on(process, event.end)

    def _send(self, process: _Process, send: Send, time: float) -> None:
        costs = self.costs(process.number, send.to, send.size)
        process.out = time + costs.port
        end = time + costs.total
        self._push(end, ARRIVE, send.to, Message(process.number, send.to, time, end, send.size, send.tag, send.alone))
        self._busy(process, Event(process.number, "send", time, time + costs.sender, send.to, send.size, send.tag))

    def _arrive(self, process: _Process, time: float, message: Message) -> None:
        if message.alone:
            self._ready(process, time, message)
            return
        process.arrived[message.source, message.tag] = message
        self._push(time, PORT, process.number)

    def _serve(self, process: _Process, time: float) -> None:
        message = process.next_message()
        if message is None:
            return
        free = process.taken + self.costs(message.source, message.to, message.size).port
        if free > time:
            self._push(free, PORT, process.number)
            return
        process.taken = time
        self._ready(process, time, self._served(process))
        self._push(time, PORT, process.number)

    def _served(self, process: _Process) -> Message:
        message = process.arrived.pop(process.posted[process.served])
        process.served += 1
        return message

    def _ready(self, process: _Process, time: float, message: Message) -> None:
        self.there[message.source, message.to, message.tag] = time, message
        for wanted in process.receives if process.waiting else ():
            if (wanted.source, wanted.tag) == (message.source, message.tag):
                process.waiting = False
                self._take(process, wanted)
                return

    def _take(self, process: _Process, wanted: Receive) -> None:
        process.receives.remove(wanted)
        ready, message = self.there.pop((wanted.source, process.number, wanted.tag))
        overhead = self.costs(message.source, message.to, message.size).receiver
        end = max(ready, process.idle + overhead)
        self.result.messages.append(message._replace(end=end))
        self._busy(
            process, Event(process.number, "receive", end - overhead, end, wanted.source, message.size, wanted.tag)
        )


class _Hockney(_Machine):
    """Hockney without overlap (Figure 4.13 a): one transfer at a time out of a process, and one into it.

    A sender waits until the receiver's port takes its message, and until it has been taken.
    """

    def _send(self, process: _Process, send: Send, time: float) -> None:
        message = Message(process.number, send.to, time, time, send.size, send.tag, send.alone)
        if send.alone:
            self._transfer(message, time)
            return
        receiver = self.processes[send.to]
        receiver.arrived[process.number, send.tag] = message
        process.version = 0
        self._push(max(time, receiver.taken), PORT, send.to)

    def _transfer(self, message: Message, time: float) -> float:
        end = time + self.costs(message.source, message.to, message.size).total
        self._push(end, ARRIVE, message.to, message._replace(start=time, end=end))
        sender = self.processes[message.source]
        self._busy(sender, Event(message.source, "send", time, end, message.to, message.size, message.tag))
        return end

    def _arrive(self, process: _Process, time: float, message: Message) -> None:
        self._ready(process, time, message)
        self._push(time, PORT, process.number)

    def _serve(self, process: _Process, time: float) -> None:
        if process.next_message() is not None and process.taken <= time:
            process.taken = self._transfer(self._served(process), time)

    def _work(self, process: _Process, work: Work, time: float) -> None:
        super()._work(process, work, max(time, process.taken))
        process.taken = process.idle
        self._push(process.idle, PORT, process.number)


def costs_of(parameters: PointToPointModel, size: float) -> Costs:
    """What a message of `size` bytes costs under a model."""
    total = float(parameters.message_time(size))
    if isinstance(parameters, LogGP):
        port = parameters.gap + max(size - 1, 0) * parameters.gap_per_byte
        return Costs(parameters.overhead, port, total, parameters.overhead)
    if isinstance(parameters, PLogP):
        send, receive = (float(f(size)) for f in (parameters.send_overhead_at, parameters.receive_overhead_at))
        return Costs(send, float(parameters.gap_at(size)), total, receive)
    return Costs(total, total, total, 0.0)
