"""What each process does in barrier, allgather, alltoall, reduce_scatter, allreduce and scan."""

from __future__ import annotations

import math

from dashboard.models.schedules.rooted import halving
from dashboard.models.schedules.trees import segments_of
from dashboard.models.simulator import Both, Program, Programs, Receive, Send, Work

FOLD, UNFOLD = -1, -2


def rounds_of(processes: int) -> int:
    """⌈log2 P⌉."""
    return (processes - 1).bit_length()


def _both(to: int, source: int, size: float, tag: int) -> Both:
    return Both((Send(to, size, tag),), (Receive(source, tag),))


def flat_tree_barrier(processes: int) -> Programs:
    """Everybody reports to the root, whose answers let all go; the reports arrive as if each came alone (4.3.4)."""
    others = range(1, processes)
    root: Program = [Both((), tuple(Receive(process, alone=True) for process in others))]
    root += [Send(process, 0, 1) for process in others]
    programs = [root]
    programs.extend([Send(0, 0, alone=True), Receive(0, 1)] for _ in others)
    return programs


def double_ring_barrier(processes: int) -> Programs:
    """A token goes round twice."""
    programs: list[Program] = []
    for process in range(processes):
        right, left = (process + 1) % processes, (process - 1) % processes
        for_token: Program = [Receive(left, 0), Send(right, 0, 1), Receive(left, 1)]
        if process == 0:
            programs.append([Send(right, 0, 0), *for_token])
        else:
            programs.append([Receive(left, 0), Send(right, 0, 0), Receive(left, 1), Send(right, 0, 1)])
    return programs


def doubling(processes: int, size: float, *, compute: bool) -> Programs:
    """Recursive doubling; what is beyond the largest power of two is folded into the others before and told after."""
    group = 1 << (processes.bit_length() - 1)
    work: Program = [Work(size)] if compute else []
    programs: list[Program] = [[] for _ in range(processes)]
    for process, program in enumerate(programs):
        if process >= group:
            program += [Send(process - group, size, FOLD), Receive(process - group, UNFOLD)]
            continue
        folded = process + group if process + group < processes else 0
        if folded:
            program += [Receive(folded, FOLD), *work]
        for k in range(group.bit_length() - 1):
            program += [_both(process ^ (1 << k), process ^ (1 << k), size, k), *work]
        if folded:
            program.append(Send(folded, size, UNFOLD))
    return programs


def dissemination(processes: int) -> Programs:
    """Bruck's barrier: in round k a message to the process 2^k on."""
    return [
        [_both((r + (1 << k)) % processes, (r - (1 << k)) % processes, 0, k) for k in range(rounds_of(processes))]
        for r in range(processes)
    ]


def bruck_allgather(processes: int, size: float) -> Programs:
    """In round k all blocks known so far go to the process 2^k before, as many as it lacks; then they are turned."""
    programs: list[Program] = []
    for process in range(processes):
        program: Program = []
        for k in range(rounds_of(processes)):
            far = 1 << k
            blocks = min(far, processes - far)
            program.append(_both((process - far) % processes, (process + far) % processes, blocks * size, k))
        programs.append([*program, Work(processes * size, "copy")])
    return programs


def doubling_allgather(processes: int, size: float) -> Programs:
    """In round k all blocks known so far are exchanged with process r XOR 2^k."""
    return [
        [_both(r ^ (1 << k), r ^ (1 << k), size * (1 << k), k) for k in range(rounds_of(processes))]
        for r in range(processes)
    ]


def ring_allgather(processes: int, size: float) -> Programs:
    """The block received last goes on to the right."""
    return [
        [_both((r + 1) % processes, (r - 1) % processes, size, k) for k in range(processes - 1)]
        for r in range(processes)
    ]


def neighbor_exchange(processes: int, size: float) -> Programs:
    """One block with the first neighbour, then two at a time with either neighbour in turn."""
    programs: list[Program] = []
    for process in range(processes):
        program: Program = []
        for k in range(processes // 2):
            side = 1 if (process % 2 == 0) == (k % 2 == 0) else -1
            partner = (process + side) % processes
            program.append(_both(partner, partner, size if k == 0 else 2 * size, k))
        programs.append(program)
    return programs


def linear_alltoall(processes: int, size: float) -> Programs:
    """All sends and receives are posted at once, each process starting with its right neighbour."""
    others = range(1, processes)
    return [
        [
            Both(
                tuple(Send((r + k) % processes, size) for k in others),
                tuple(Receive((r - k) % processes) for k in others),
            )
        ]
        for r in range(processes)
    ]


def pairwise_alltoall(processes: int, size: float) -> Programs:
    """In step k a block to the process k on and one from the process k before."""
    return [
        [_both((r + k) % processes, (r - k) % processes, size, k) for k in range(1, processes)]
        for r in range(processes)
    ]


def bruck_alltoall(processes: int, size: float) -> Programs:
    """In round k all blocks whose number has bit k go to the process 2^k on, and are copied for the next round."""
    programs: list[Program] = []
    for process in range(processes):
        program: Program = [Work(processes * size, "copy")]
        for k in range(rounds_of(processes)):
            far = 1 << k
            sent = size * sum(1 for block in range(processes) if block & far)
            program += [_both((process + far) % processes, (process - far) % processes, sent, k), Work(sent, "copy")]
        programs.append(program)
    return programs


def halving_reduce_scatter(processes: int, size: float) -> Programs:
    """Recursive halving; the processes beyond a power of two give their vectors to others, and get a block.

    Those that take a second block are spread evenly, so that all halves are as equal as can be.
    """
    group = 1 << (processes.bit_length() - 1)
    if group == processes:
        return halving(processes, processes * size)
    vector = processes * size
    spread = sorted(range(group), key=lambda r: format(r, f"0{group.bit_length()}b")[::-1])
    extra = dict(zip(spread, range(group, processes), strict=False))
    programs: list[Program] = [[] for _ in range(processes)]
    for process in range(group):
        program = programs[process]
        if process in extra:
            program += [Receive(extra[process], FOLD), Work(vector)]
            programs[extra[process]] += [Send(process, vector, FOLD), Receive(process, UNFOLD)]
        far = group // 2
        while far:
            first = process // far * far
            mine, other = (size * sum(1 + (r in extra) for r in range(s, s + far)) for s in (first, first ^ far))
            partner = process ^ far
            program += [Both((Send(partner, other, far),), (Receive(partner, far),)), Work(mine)]
            far //= 2
        if process in extra:
            program.append(Send(extra[process], size, UNFOLD))
    return programs


def ring_reduce_scatter(processes: int, size: float) -> Programs:
    """A block goes round and is computed on by each; the input is copied before."""
    return [[Work(processes * size, "copy"), *_ring(r, processes, [size], compute=True)] for r in range(processes)]


def _ring(process: int, processes: int, segments: list[float], *, compute: bool, step: int = 0) -> Program:
    """P - 1 steps of a ring; a segment goes on as soon as it has been computed on."""
    right, left = (process + 1) % processes, (process - 1) % processes
    count = len(segments)
    tags = {k: (step + k) * count for k in range(processes)}
    program: Program = [Send(right, length, tags[0] + j) for j, length in enumerate(segments)]
    for k in range(processes - 1):
        for j, length in enumerate(segments):
            program.append(Receive(left, tags[k] + j))
            if compute:
                program.append(Work(length))
            if k < processes - 2:
                program.append(Send(right, length, tags[k + 1] + j))
    return program


def ring_allreduce(processes: int, size: float, segment_size: float = 0) -> Programs:
    """A ring that computes on the P blocks, in segments, and a ring that tells all their results."""
    block = float(math.ceil(size / processes))
    segments = segments_of(block, segment_size)
    return [
        _ring(r, processes, segments, compute=True)
        + [
            _both((r + 1) % processes, (r - 1) % processes, block, processes * len(segments) + k)
            for k in range(processes - 1)
        ]
        for r in range(processes)
    ]


def rabenseifner_allreduce(processes: int, size: float) -> Programs:
    """Recursive halving with computing, then recursive doubling of the parts."""
    programs = halving(processes, size)
    rounds = processes.bit_length() - 1
    for process, program in enumerate(programs):
        for k in range(rounds):
            partner = process ^ (1 << k)
            program.append(_both(partner, partner, size / (processes >> k), rounds + k))
    return programs


def linear_scan(processes: int, size: float, segment_size: float = 0) -> Programs:
    """Each segment is received from the left, computed on, and sent to the right."""
    programs: list[Program] = []
    for process in range(processes):
        program: Program = []
        for tag, length in enumerate(segments_of(size, segment_size)):
            if process:
                program += [Receive(process - 1, tag), Work(length)]
            if process < processes - 1:
                program.append(Send(process + 1, length, tag))
        programs.append(program)
    return programs


def binomial_scan(processes: int, size: float) -> Programs:
    """In round k the partial result goes to the process 2^k on."""
    programs: list[Program] = []
    for process in range(processes):
        program: Program = []
        for k in range(rounds_of(processes)):
            to, source = process + (1 << k), process - (1 << k)
            sends = (Send(to, size, k),) if to < processes else ()
            receives = (Receive(source, k),) if source >= 0 else ()
            program += [Both(sends, receives), *([Work(size)] if receives else [])]
        programs.append(program)
    return programs
