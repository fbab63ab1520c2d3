/*
 * A skeleton: calls collectives in the mix of an application, with nothing computed but waiting between them. What it
 * gains says nothing of that application's own run time.
 *
 * Arguments: steps (default 500), microseconds of computing before each step (0), imbalance of that in percent (0),
 * bytes of the large messages (65536).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Percent of the calls: allreduce, bcast, allgather, alltoall (Steiner 2023, Table 5.3). */
static const double mix[4] = {COLLTUNE_MIX};

static unsigned long long state = 1;

static double number(void)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(state >> 11) / 9007199254740992.0;
}

static void compute(double microseconds)
{
    double until = MPI_Wtime() + microseconds * 1e-6;

    while (MPI_Wtime() < until) {
    }
}

int main(int argc, char **argv)
{
    int steps, rank, size, step, large, wrong = 0;
    double work, imbalance, start;
    char *sent, *received;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps = argc > 1 ? atoi(argv[1]) : 500;
    work = argc > 2 ? atof(argv[2]) : 0;
    imbalance = argc > 3 ? atof(argv[3]) : 0;
    large = argc > 4 ? atoi(argv[4]) / 8 * 8 : 65536;
    sent = calloc((size_t)large + 8, (size_t)size);
    received = calloc((size_t)large + 8, (size_t)size);
    if (sent == NULL || received == NULL || large < 8) {
        fputs("no memory for messages of that size\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    start = MPI_Wtime();
    for (step = 0; step < steps; step++) {
        /* The same on all processes: eight bytes mostly, as applications do. */
        double which = 100 * number(), how = number();
        int bytes = how < 0.7 ? 8 : how < 0.9 ? (large > 1024 ? 1024 : large) : large;
        double value = rank + 1, sum = 0;

        if (work > 0) {
            compute(work * (1 + imbalance / 100 * rank / size));
        }
        if (which < mix[0]) {
            ((double *)(void *)sent)[0] = value;
            MPI_Allreduce(sent, received, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            sum = ((double *)(void *)received)[0];
            wrong += sum != size * (size + 1) / 2.0;
        } else if (which < mix[0] + mix[1]) {
            MPI_Bcast(received, bytes, MPI_BYTE, step % size, MPI_COMM_WORLD);
        } else if (which < mix[0] + mix[1] + mix[2]) {
            MPI_Allgather(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, MPI_COMM_WORLD);
        } else {
            MPI_Alltoall(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, MPI_COMM_WORLD);
        }
    }
    if (rank == 0) {
        printf("skeleton of " COLLTUNE_NAME ", not the application: %d steps in %.6f s, %d wrong\n", steps,
               MPI_Wtime() - start, wrong);
    }
    free(sent);
    free(received);
    MPI_Finalize();
    return wrong != 0;
}
