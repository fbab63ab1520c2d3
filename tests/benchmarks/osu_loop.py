"""An OSU-style loop of its own: barrier, one call, the longest time of a process; prints JSON. Run under mpiexec.

It shares no code with the campaigns, which are compared with it.
"""

import json
import sys
from time import perf_counter

import numpy as np
from mpi4py import MPI

WARM_UP = 5


def main() -> None:
    """``osu_loop.py COLLECTIVE REPETITIONS SIZE…``: seconds of each repetition by message size."""
    collective, repetitions, sizes = sys.argv[1], int(sys.argv[2]), [int(size) for size in sys.argv[3:]]
    comm = MPI.COMM_WORLD
    answer = {}
    for size in sizes:
        sent, received = np.ones(size // 4, np.float32), np.ones(size // 4, np.float32)
        took = np.empty(repetitions)
        for turn in range(-WARM_UP, repetitions):
            comm.Barrier()
            start = perf_counter()
            if collective == "bcast":
                comm.Bcast(sent, 0)
            else:
                comm.Allreduce(sent, received)
            if turn >= 0:
                took[turn] = perf_counter() - start
        longest = np.empty_like(took)
        comm.Allreduce(took, longest, op=MPI.MAX)
        answer[size] = longest.tolist()
    if comm.Get_rank() == 0:
        print(json.dumps(answer))


main()
