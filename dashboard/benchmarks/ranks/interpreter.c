/* Runs the program of one rank, so that Python's share does not decide what is quick at small sizes.
 *
 * A row is eight numbers: operation, peer or request, tag, buffer, first element, length, and buffer and first element
 * of what is copied to or combined into. The columns are those of dashboard/schedules/rank.py. Handles come by address,
 * since their type is the library's own. Elements that are not dense are copied as messages, which leave their gaps. */
#include <mpi.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum { SEND, RECEIVE, WAIT, COPY, COMBINE };
enum { OPERATION, PEER, TAG, BUFFER, OFFSET, LENGTH, TO_BUFFER, TO_OFFSET, COLUMNS };

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

/* `times`: begin and end of each row in seconds, or NULL. */
int colltune_run(const int64_t *rows, int64_t count, char *const buffers[3], int64_t extent, int dense,
                 const MPI_Comm *comm, const MPI_Datatype *type, const MPI_Op *op, MPI_Request *requests, double *times)
{
    int code = MPI_SUCCESS;
    for (int64_t line = 0; line < count && code == MPI_SUCCESS; line++) {
        const int64_t *row = rows + line * COLUMNS;
        char *view = buffers[row[BUFFER]] + row[OFFSET] * extent;
        char *target = buffers[row[TO_BUFFER]] + row[TO_OFFSET] * extent;
        int length = (int)row[LENGTH], peer = (int)row[PEER], tag = (int)row[TAG];
        if (times)
            times[2 * line] = now();
        switch (row[OPERATION]) {
        case SEND:
            code = MPI_Isend(view, length, *type, peer, tag, *comm, &requests[line]);
            break;
        case RECEIVE:
            code = MPI_Irecv(view, length, *type, peer, tag, *comm, &requests[line]);
            break;
        case WAIT:
            code = MPI_Wait(&requests[row[PEER]], MPI_STATUS_IGNORE);
            break;
        case COPY:
            if (dense)
                memcpy(target, view, (size_t)length * (size_t)extent);
            else
                code = MPI_Sendrecv(view, length, *type, 0, 0, target, length, *type, 0, 0, MPI_COMM_SELF,
                                    MPI_STATUS_IGNORE);
            break;
        case COMBINE:
            /* Elements without bytes all stand in one place, which MPICH refuses to combine with itself. */
            if (extent)
                code = MPI_Reduce_local(view, target, length, *type, *op);
            break;
        default:
            code = MPI_ERR_OTHER;
        }
        if (times)
            times[2 * line + 1] = now();
    }
    return code;
}

int colltune_request_size(void)
{
    return (int)sizeof(MPI_Request);
}
