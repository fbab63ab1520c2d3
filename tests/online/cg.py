"""A real program for the tests: conjugate gradients on a Laplacian in one dimension, its answer checked; mpi4py.

Each step has two dot products, an allreduce of 8 bytes each; at the end all
processes gather the answer. Argument: unknowns per process. With COLLTUNE_ONLINE_TUNER=1 it tunes itself in Python.
"""

import os
import sys
import time
from typing import Any

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD


def own_allreduce(comm: Any, send: Any, receive: Any) -> None:
    """Gather and broadcast, after a millisecond: right, and slower than the library on however busy a machine."""
    time.sleep(1e-3)
    parts = comm.gather(send.copy(), root=0)
    receive[:] = comm.bcast(sum(parts[1:], parts[0]) if parts else None, root=0)


def laplacian(part: Any) -> Any:
    """The matrix times a vector that is spread over the processes."""
    rank, size = COMM.Get_rank(), COMM.Get_size()
    left, right = np.zeros(1), np.zeros(1)
    before, after = rank - 1 if rank else MPI.PROC_NULL, rank + 1 if rank + 1 < size else MPI.PROC_NULL
    COMM.Sendrecv(part[-1:].copy(), after, recvbuf=left, source=before)
    COMM.Sendrecv(part[:1].copy(), before, recvbuf=right, source=after)
    return 2 * part - np.concatenate([left, part[:-1]]) - np.concatenate([part[1:], right])


def main(unknowns: int) -> int:
    """Solve, and compare with the known answer; 0 = right."""
    call = None
    if os.environ.get("COLLTUNE_ONLINE_TUNER"):
        from dashboard.online.tuner import OnlineTuner  # noqa: PLC0415 - without it nothing of colltune is needed

        functions = {"default": MPI.Comm.Allreduce, "own": own_allreduce, "library": MPI.Comm.Allreduce}
        call = OnlineTuner(COMM, {"allreduce": functions})

    def total(value: float) -> float:
        send, receive = np.array([value]), np.zeros(1)
        if call is None:
            COMM.Allreduce(send, receive)
        else:
            call.call("allreduce", 8, send, receive)
        return float(receive[0])

    size = unknowns * COMM.Get_size()
    expected = np.sin(np.arange(size) + 1.0)
    mine = expected[COMM.Get_rank() * unknowns :][:unknowns]
    residual = laplacian(mine)
    answer, direction, square = np.zeros(unknowns), residual.copy(), total(residual @ residual)
    for _ in range(2 * size):
        image = laplacian(direction)
        step = square / total(direction @ image)
        answer, residual = answer + step * direction, residual - step * image
        square, former = total(residual @ residual), square
        if square < 1e-24:
            break
        direction = residual + square / former * direction
    everything = np.zeros(size)
    COMM.Allgather(answer, everything)
    if call is not None:
        call.close()
    wrong = float(np.abs(everything - expected).max())
    if COMM.Get_rank() == 0:
        sys.stdout.write("right\n" if wrong < 1e-8 else f"wrong by {wrong}\n")
    return int(wrong >= 1e-8)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
