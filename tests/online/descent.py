"""A real program: least squares over rows that are spread over the processes, by gradient descent; mpi4py.

Each step adds up a gradient of all unknowns (an allreduce); the answer is compared with the known one. Arguments:
unknowns and steps.
"""

import sys

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
_ROWS = 4


def main(unknowns: int, steps: int) -> int:
    """Solve; 0 = right."""
    # Each process has rows of columns of its own: the matrix is well conditioned for any number of processes.
    generator = np.random.default_rng(COMM.Get_rank())
    own = np.arange(unknowns) % COMM.Get_size() == COMM.Get_rank()
    scales = 1 + generator.random((_ROWS, int(own.sum())))
    expected = np.sin(np.arange(unknowns) + 1.0)
    right = scales * expected[own]
    answer, gradient = np.zeros(unknowns), np.zeros(unknowns)
    for _ in range(steps):
        mine = np.zeros(unknowns)
        mine[own] = (scales * (scales * answer[own] - right)).sum(axis=0)
        COMM.Allreduce(mine, gradient)
        answer -= gradient / (4.0 * _ROWS)
    wrong = float(np.abs(answer - expected).max())
    if COMM.Get_rank() == 0:
        sys.stdout.write(f"{'right' if wrong < 1e-6 else 'wrong'}: {wrong:.1e} after {steps} steps\n")
    return int(wrong >= 1e-6)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
