/*
 * What a preloaded library adds to a broadcast (with -DALLGATHER: to an allgather), on two or more processes: "added with without", nanoseconds a call.
 *
 * The program's own PMPI_ function does nothing; it is found before that of the MPI library, so the preloaded library
 * calls it after it has looked the communicator up, decided and counted. Everything else is the real MPI. The sizes
 * are log-uniform up to 4 MiB; the smallest of several rounds counts.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SIZES 4096
#define TURNS 20
#define ROUNDS 15

#ifdef ALLGATHER
/* Of a library that itself broadcasts. */
typedef int (*function)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
#define THROUGH MPI_Allgather
#define DIRECT PMPI_Allgather
#define CALL(function, bytes) function(NULL, bytes, MPI_BYTE, NULL, bytes, MPI_BYTE, MPI_COMM_WORLD)
#else
typedef int (*function)(void *, int, MPI_Datatype, int, MPI_Comm);
#define THROUGH MPI_Bcast
#define DIRECT PMPI_Bcast
#define CALL(function, bytes) function(NULL, bytes, MPI_BYTE, 0, MPI_COMM_WORLD)
#endif

static int sizes[SIZES];
static volatile long called;

#ifdef ALLGATHER
int PMPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int other, MPI_Datatype same, MPI_Comm comm)
{
    (void)from, (void)count, (void)type, (void)to, (void)other, (void)same, (void)comm;
#else
int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    (void)buffer, (void)count, (void)datatype, (void)root, (void)comm;
#endif
    called = called + 1;
    return MPI_SUCCESS;
}

/* Of this thread on a processor: others may be busy on it as well. */
static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double timed(function call)
{
    double start = seconds();
    int turn, i;

    for (turn = 0; turn < TURNS; turn++) {
        for (i = 0; i < SIZES; i++) CALL(call, sizes[i]);
    }
    return (seconds() - start) / TURNS / SIZES * 1e9;
}

int main(int argc, char **argv)
{
    function volatile through = THROUGH, direct = DIRECT;
    double with = 1e9, without = 1e9;
    int round, i, rank, provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    srand(1);
    for (i = 0; i < SIZES; i++) sizes[i] = (int)exp((double)rand() / RAND_MAX * log(1 << 22));
    for (round = 0; round < ROUNDS; round++) {
        double ns = timed(through);

        with = ns < with ? ns : with;
        ns = timed(direct);
        without = ns < without ? ns : without;
    }
    if (rank == 0) printf("%.1f %.1f %.1f\n", with - without, with, without);
    MPI_Finalize();
    return 0;
}
