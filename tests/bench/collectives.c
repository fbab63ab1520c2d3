/*
 * An MPI program that knows nothing of colltune: every blocking collective, checked, on communicators that come and go.
 *
 *     collectives calls TURNS BYTES WHAT one collective on MPI_COMM_WORLD (bcast, allgather, ...), nothing else
 *     collectives graphs WHAT:P:BYTES ... messages of ten calls of each (bcast, ...) on P processes: from, to, number
 *     collectives check                  all collectives on the world, duplicates, parts, an intercommunicator
 *     collectives lives TURNS            communicators duplicated, split and freed, each with attributes of the program
 *     collectives threads TURNS          two threads, each with a communicator of its own
 *     collectives errors                 what the program's error handlers are told
 *
 * Prints "ok" from the first process when everything was right, and what was wrong from any.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 5000
#define MOST_RANKS 64

static int wrong;
static int copied, deleted, handled;
/* Messages sent to each process. */
static int messages[MOST_RANKS];

static void expect(int right, const char *what, int size, int count)
{
    if (!right) {
        fprintf(stderr, "wrong: %s of %d on %d processes\n", what, count, size);
        wrong = 1;
    }
}

/* Expect something of each number i from 0 on. */
#define EACH(numbers, holds, what) \
    do { \
        int right = 1; \
        for (i = 0; i < (numbers); i++) right &= (holds); \
        expect(right, what, size, count); \
    } while (0)

static void first_of_two(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    memcpy(inout, in, (size_t)*count * sizeof(int));
}

static void moving(MPI_Comm comm, int rank, int size, int count)
{
    int *data = calloc((size_t)count * (size_t)size, sizeof(int)), *result = calloc((size_t)count * (size_t)size, sizeof(int));
    int *wide = calloc(3 * (size_t)count, sizeof(int)), root = size - 1, i;
    MPI_Datatype gaps, pair;

    for (i = 0; i < count; i++) data[i] = rank == root ? i + 7 : -1;
    MPI_Bcast(data, count, MPI_INT, root, comm);
    EACH(count, data[i] == i + 7, "bcast");

    /* The same bytes with gaps on the root; Open MPI takes as many elements on all processes for granted. */
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&gaps);
    MPI_Type_commit(&pair);
    for (i = 0; i < 3 * count; i++) wide[i] = rank == root ? i : -1;
    MPI_Bcast(wide, count, rank == root ? gaps : pair, root, comm);
    EACH(count, rank == root || (wide[2 * i] == 3 * i && wide[2 * i + 1] == 3 * i + 2), "bcast with gaps");
    MPI_Type_free(&gaps);
    MPI_Type_free(&pair);

    for (i = 0; i < count; i++) data[i] = 100 * rank + i;
    MPI_Allgather(data, count, MPI_INT, result, count, MPI_INT, comm);
    EACH(count * size, result[i] == 100 * (i / count) + i % count, "allgather");
    for (i = 0; i < count; i++) result[rank * count + i] = 10 * rank + i;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, count, MPI_INT, comm);
    EACH(count * size, result[i] == 10 * (i / count) + i % count, "allgather in place");

    for (i = 0; i < count * size; i++) data[i] = 1000 * rank + i / count;
    MPI_Alltoall(data, count, MPI_INT, result, count, MPI_INT, comm);
    EACH(count * size, result[i] == 1000 * (i / count) + rank, "alltoall");
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, count, MPI_INT, comm);
    expect(memcmp(data, result, (size_t)count * (size_t)size * sizeof(int)) == 0, "alltoall in place", size, count);

    for (i = 0; i < count; i++) data[i] = rank + i;
    MPI_Gather(data, count, MPI_INT, rank == root ? result : NULL, count, MPI_INT, root, comm);
    EACH(count * size, rank != root || result[i] == i / count + i % count, "gather");
    if (rank == root) {
        for (i = 0; i < count; i++) result[rank * count + i] = -i;
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, count, MPI_INT, root, comm);
        EACH(count, result[rank * count + i] == -i, "gather in place");
        MPI_Scatter(result, count, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, comm);
    } else {
        MPI_Gather(data, count, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, comm);
        MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, data, count, MPI_INT, root, comm);
        EACH(count, data[i] == rank + i, "scatter in place");
    }
    free(data);
    free(result);
    free(wide);
}

static void reducing(MPI_Comm comm, int rank, int size, int count)
{
    int *data = calloc((size_t)count * (size_t)size, sizeof(int)), *result = calloc((size_t)count * (size_t)size, sizeof(int));
    int *counts = calloc((size_t)size, sizeof(int)), sum = size * (size - 1) / 2, i;
    MPI_Op ordered;

    for (i = 0; i < count * size; i++) data[i] = rank + i % 5;
    MPI_Reduce(data, result, count, MPI_INT, MPI_SUM, 0, comm);
    EACH(count, rank != 0 || result[i] == sum + size * (i % 5), "reduce");
    memcpy(result, data, (size_t)count * sizeof(int));
    MPI_Reduce(rank == size - 1 ? MPI_IN_PLACE : data, rank == size - 1 ? result : NULL, count, MPI_INT, MPI_SUM, size - 1, comm);
    EACH(count, rank != size - 1 || result[i] == sum + size * (i % 5), "reduce in place");
    MPI_Allreduce(data, result, count, MPI_INT, MPI_SUM, comm);
    EACH(count, result[i] == sum + size * (i % 5), "allreduce");
    memcpy(result, data, (size_t)count * sizeof(int));
    MPI_Allreduce(MPI_IN_PLACE, result, count, MPI_INT, MPI_SUM, comm);
    EACH(count, result[i] == sum + size * (i % 5), "allreduce in place");
    MPI_Scan(data, result, count, MPI_INT, MPI_SUM, comm);
    EACH(count, result[i] == rank * (rank + 1) / 2 + (rank + 1) * (i % 5), "scan");
    MPI_Exscan(data, result, count, MPI_INT, MPI_SUM, comm);
    EACH(count, rank == 0 || result[i] == rank * (rank - 1) / 2 + rank * (i % 5), "exscan");
    MPI_Reduce_scatter_block(data, result, count, MPI_INT, MPI_SUM, comm);
    EACH(count, result[i] == sum + size * ((rank * count + i) % 5), "reduce_scatter_block");
    for (i = 0; i < size; i++) counts[i] = count;
    memcpy(result, data, (size_t)count * (size_t)size * sizeof(int));
    MPI_Reduce_scatter(MPI_IN_PLACE, result, counts, MPI_INT, MPI_SUM, comm);
    EACH(count, result[i] == sum + size * ((rank * count + i) % 5), "reduce_scatter in place");
    for (i = 0; i < size; i++) counts[i] = i == 0 ? 2 * count : i == 1 ? 0 : count;
    MPI_Reduce_scatter(data, result, counts, MPI_INT, MPI_SUM, comm);
    EACH(counts[rank], result[i] == sum + size * (((rank == 0 ? 0 : rank * count) + i) % 5), "reduce_scatter");

    /* The first operand wins: only processes in order give that of the first one. */
    MPI_Op_create(first_of_two, 0, &ordered);
    MPI_Allreduce(data, result, count, MPI_INT, ordered, comm);
    EACH(count, result[i] == i % 5, "allreduce in order");
    MPI_Op_free(&ordered);
    free(data);
    free(result);
    free(counts);
}

static void everything(MPI_Comm comm)
{
    static const int counts[] = {1, 7, 300, MOST};
    int rank, size, i;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (i = 0; i < 4; i++) {
        MPI_Barrier(comm);
        moving(comm, rank, size, counts[i]);
        if (size > 1) reducing(comm, rank, size, counts[i]);
    }
}

static void across(MPI_Comm half, int rank, int size)
{
    MPI_Comm inter;
    int value = rank == 0 ? 42 : -1, left = rank < size / 2;

    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, left ? size / 2 : 0, 5, &inter);
    MPI_Bcast(&value, 1, MPI_INT, left ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
    expect(left || value == 42, "bcast to the other half", size, 1);
    MPI_Comm_free(&inter);
}

static void check(int rank, int size)
{
    MPI_Comm copy, half, alone;

    everything(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    everything(copy);
    MPI_Comm_split(copy, rank < size / 2, -rank, &half);
    MPI_Comm_free(&copy);
    everything(half);
    MPI_Comm_dup(half, &copy);
    MPI_Comm_free(&half);
    everything(copy);
    MPI_Comm_free(&copy);
    MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &half);
    across(half, rank, size);
    MPI_Comm_disconnect(&half);
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    everything(alone);
    MPI_Comm_free(&alone);
}

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    copied++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void lives(int turns, int rank)
{
    char buffer[3000] = {0};
    int key, turn;

    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    for (turn = 0; turn < turns; turn++) {
        MPI_Comm first, second, part;

        MPI_Comm_dup(MPI_COMM_WORLD, &first);
        MPI_Comm_set_attr(first, key, buffer);
        MPI_Bcast(buffer, turn % 3000, MPI_BYTE, 0, first);
        MPI_Comm_dup(first, &second);
        MPI_Bcast(buffer, 2000, MPI_BYTE, 0, second);
        MPI_Comm_split(second, rank % 2, rank, &part);
        MPI_Bcast(buffer, 50, MPI_BYTE, 0, part);
        MPI_Comm_free(&first);
        MPI_Bcast(buffer, 50, MPI_BYTE, 0, second);
        MPI_Comm_free(&part);
        MPI_Comm_free(&second);
    }
    /* The program's own duplicates copy its attributes, nothing else does. */
    expect(copied == turns && deleted == 2 * turns, "attributes", copied, deleted);
    MPI_Comm_free_keyval(&key);
}

struct work {
    MPI_Comm comm;
    int turns, number, sum;
};

static void *work(void *given)
{
    struct work *mine = given;
    int turn;

    for (turn = 0; turn < mine->turns; turn++) {
        static const int sizes[3] = {1, 200, 2000};
        int values[2000] = {0}, count = sizes[(turn + mine->number) % 3];

        values[0] = turn + mine->number;
        MPI_Bcast(values, count, MPI_INT, 0, mine->comm);
        mine->sum += values[0] == turn + mine->number;
    }
    return NULL;
}

static void threads(int turns)
{
    struct work works[2];
    pthread_t thread;
    int i;

    for (i = 0; i < 2; i++) {
        works[i].turns = turns, works[i].number = i, works[i].sum = 0;
        MPI_Comm_dup(MPI_COMM_WORLD, &works[i].comm);
    }
    pthread_create(&thread, NULL, work, &works[1]);
    work(&works[0]);
    pthread_join(thread, NULL);
    for (i = 0; i < 2; i++) {
        expect(works[i].sum == turns, "bcast in two threads", works[i].sum, turns);
        MPI_Comm_free(&works[i].comm);
    }
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    int same;

    (void)code;
    MPI_Comm_compare(*comm, MPI_COMM_WORLD, &same);
    handled += same == MPI_IDENT;
}

static void errors(void)
{
    MPI_Errhandler mine;
    int value = 0;

    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    expect(MPI_Bcast(&value, 1, MPI_INT, 1000, MPI_COMM_WORLD) != MPI_SUCCESS, "error code", 0, 1000);
    expect(handled == 1, "calls of the error handler", 0, handled);
    expect(MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS, "error code", 0, -1);
    expect(handled == 2, "calls of the error handler", 0, handled);
    MPI_Errhandler_free(&mine);
}

static void call(const char *what, int turns, int bytes, MPI_Comm comm)
{
    int counts[MOST_RANKS], places[MOST_RANKS], size, i;
    char *data, *result;

    MPI_Comm_size(comm, &size);
    for (i = 0; i < size && i < MOST_RANKS; i++) counts[i] = bytes, places[i] = i * bytes;
    data = calloc((size_t)size, (size_t)bytes), result = calloc((size_t)size, (size_t)bytes);
    while (turns-- > 0) {
        if (strcmp(what, "bcast") == 0) MPI_Bcast(data, bytes, MPI_BYTE, 0, comm);
        if (strcmp(what, "reduce") == 0) MPI_Reduce(data, result, bytes, MPI_BYTE, MPI_BOR, 0, comm);
        if (strcmp(what, "allreduce") == 0) MPI_Allreduce(data, result, bytes, MPI_BYTE, MPI_BOR, comm);
        if (strcmp(what, "allgather") == 0) MPI_Allgather(data, bytes, MPI_BYTE, result, bytes, MPI_BYTE, comm);
        if (strcmp(what, "allgatherv") == 0) MPI_Allgatherv(data, bytes, MPI_BYTE, result, counts, places, MPI_BYTE, comm);
        if (strcmp(what, "gather") == 0) MPI_Gather(data, bytes, MPI_BYTE, result, bytes, MPI_BYTE, 0, comm);
        if (strcmp(what, "scatter") == 0) MPI_Scatter(data, bytes, MPI_BYTE, result, bytes, MPI_BYTE, 0, comm);
    }
    free(data);
    free(result);
}

/* What Open MPI calls for each message where its monitoring is switched on; this one is taken in place of its own. */
void mca_common_monitoring_record_pml(int to, size_t bytes, int tag);
void mca_common_monitoring_record_pml(int to, size_t bytes, int tag)
{
    (void)bytes, (void)tag;
    if (to < MOST_RANKS) messages[to]++;
}

static void graphs(int number, char **calls, int rank, int size)
{
    int *sent = calloc((size_t)size, sizeof messages), mine[MOST_RANKS], from, to;

    for (; number-- > 0; calls++) {
        char what[32];
        int processes, bytes;
        MPI_Comm comm = MPI_COMM_WORLD;

        if (sscanf(*calls, "%31[a-z]:%d:%d", what, &processes, &bytes) != 3) MPI_Abort(MPI_COMM_WORLD, 2);
        if (processes < size) PMPI_Comm_split(MPI_COMM_WORLD, rank < processes ? 0 : MPI_UNDEFINED, rank, &comm);
        /* What is only done before the first call of all is not counted. */
        if (comm != MPI_COMM_NULL) call(what, 1, bytes, comm);
        memset(messages, 0, sizeof messages);
        if (comm != MPI_COMM_NULL) call(what, 10, bytes, comm);
        memcpy(mine, messages, sizeof mine);
        PMPI_Gather(mine, MOST_RANKS, MPI_INT, sent, MOST_RANKS, MPI_INT, 0, MPI_COMM_WORLD);
        for (from = 0; rank == 0 && from < size; from++) {
            for (to = 0; to < size; to++) {
                if (sent[MOST_RANKS * from + to]) printf("%s %d %d %d\n", *calls, from, to, sent[MOST_RANKS * from + to]);
            }
        }
        if (processes < size && comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    }
    free(sent);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "check";
    int turns = argc > 2 ? atoi(argv[2]) : 1, bytes = argc > 3 ? atoi(argv[3]) : 1;
    int rank, size, provided, bad = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "calls") == 0) call(argc > 4 ? argv[4] : "bcast", turns, bytes, MPI_COMM_WORLD);
    if (strcmp(what, "graphs") == 0) graphs(argc - 2, argv + 2, rank, size);
    if (strcmp(what, "calls") == 0 || strcmp(what, "graphs") == 0) return MPI_Finalize();
    if (strcmp(what, "check") == 0) check(rank, size);
    if (strcmp(what, "lives") == 0) lives(turns, rank);
    if (strcmp(what, "threads") == 0 && provided == MPI_THREAD_MULTIPLE) threads(turns);
    if (strcmp(what, "errors") == 0) errors();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Allreduce(&wrong, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0 && !bad) puts("ok");
    MPI_Finalize();
    return bad;
}
