/*
 * Own methods: the programs of dashboard/schedules/units.py, run over point-to-point messages. Offsets and lengths count
 * units. Where data are only moved, elements are bytes, so that it does not matter how a process describes them; what
 * lies in memory with gaps is packed. All processes come to the same verdict on a call, since it goes by bytes,
 * and of reductions by their type, which MPI wants to be the same everywhere.
 */
enum { COLLTUNE_SEND, COLLTUNE_RECEIVE, COLLTUNE_WAIT, COLLTUNE_COPY, COLLTUNE_COMBINE, COLLTUNE_CALL };
enum {
    COLLTUNE_OPERATION,
    COLLTUNE_PEER,
    COLLTUNE_TAG,
    COLLTUNE_BUFFER,
    COLLTUNE_OFFSET,
    COLLTUNE_LENGTH,
    COLLTUNE_TO_BUFFER,
    COLLTUNE_TO_OFFSET
};

/* One call. */
struct colltune_job {
    const struct colltune_units *units;
    MPI_Comm comm;
    const MPI_Comm *groups;  /* of this process in a grid, one for each dimension */
    int rank, size, root;
    MPI_Datatype type;  /* of an element: that of a reduction, else a byte */
    MPI_Op op;
    int bytes;          /* of an element, and from one to the next */
    MPI_Aint extent;
    long long count;    /* elements of the vector, or of a block */
};

/* Memory of this thread that grows with what is asked for and stays, so that no call waits for pages. */
static COLLTUNE_OF_THREAD struct colltune_memory {
    char *start;
    size_t bytes;
} colltune_space, colltune_requests;

static char *colltune_room(struct colltune_memory *memory, size_t bytes)
{
    if (bytes > memory->bytes) {
        free(memory->start);
        memory->start = malloc(bytes);
        memory->bytes = bytes;
        if (memory->start == NULL) {
            fputs("colltune: no memory left\n", stderr);
            abort();
        }
    }
    return memory->start;
}

static const struct colltune_units *colltune_units_of(int method, int size)
{
    int number;

    for (number = 0; number < COLLTUNE_UNITS; number++) {
        if (colltune_units[number].method == method && colltune_units[number].size == size) {
            return &colltune_units[number];
        }
    }
    return NULL;
}

static int colltune_is_named(MPI_Datatype type)
{
    int integers, addresses, types, combiner;

    return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS
        && combiner == MPI_COMBINER_NAMED;
}

/* Why an own method does not run this call, or 0; the type is that of a reduction, else MPI_BYTE. */
static int colltune_unfit(const struct colltune_state *state, int method, long long bytes, int root, MPI_Datatype type)
{
    const struct colltune_units *units = colltune_units_of(method, state->size);
    int size;

    if (!colltune_methods[method].own) {
        return COLLTUNE_TAKEN;
    }
    if (units == NULL) {
        return COLLTUNE_NO_SCHEDULE;
    }
    if (units->units == 0) {
        return COLLTUNE_TAKEN;
    }
    if (root < 0 || root >= state->size || !colltune_is_named(type) || PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 1
        || bytes / size < units->units
        || (bytes / size / units->units + 1) > INT_MAX / units->longest) {
        return COLLTUNE_UNFIT;
    }
    return COLLTUNE_TAKEN;
}

/* Frees the groups of a grid with the communicator that they were made of. */
static int colltune_ungroup(MPI_Comm comm, int key, void *attribute, void *extra)
{
    MPI_Comm *groups = attribute;
    int dimension;

    (void)comm;
    (void)key;
    (void)extra;
    for (dimension = 0; dimension < COLLTUNE_DIMENSIONS; dimension++) {
        if (groups[dimension] != MPI_COMM_NULL) {
            PMPI_Comm_free(&groups[dimension]);
        }
    }
    free(groups);
    return MPI_SUCCESS;
}

static pthread_once_t colltune_grouped = PTHREAD_ONCE_INIT;
static int colltune_groups_key;

static void colltune_group_key(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, colltune_ungroup, &colltune_groups_key, NULL);
}

/* The groups of a grid, made at the first call: processes that differ in one coordinate only. NULL: not to be had. */
static const MPI_Comm *colltune_groups(const struct colltune_job *job)
{
    MPI_Comm *groups;
    int made = 0, stride = job->size, dimension, code = MPI_SUCCESS;

    pthread_once(&colltune_grouped, colltune_group_key);
    PMPI_Comm_get_attr(job->comm, colltune_groups_key, &groups, &made);
    if (made) {
        return groups;
    }
    groups = malloc(COLLTUNE_DIMENSIONS * sizeof *groups);
    if (groups == NULL) {
        fputs("colltune: no memory left\n", stderr);
        abort();
    }
    for (dimension = 0; dimension < COLLTUNE_DIMENSIONS; dimension++) {
        const int factor = job->units->factors[dimension], here = job->rank / (stride / factor) % factor;

        stride /= factor;
        groups[dimension] = MPI_COMM_NULL;
        if (factor > 1 && code == MPI_SUCCESS) {
            code = PMPI_Comm_split(job->comm, job->rank - here * stride, here, &groups[dimension]);
        }
    }
    PMPI_Comm_set_attr(job->comm, colltune_groups_key, groups);
    return groups;
}

/* Calls the library on the group of a dimension. */
static int colltune_phase(const struct colltune_job *job, const int *row, const void *from, void *to, int length)
{
    const MPI_Comm group = job->groups[row[COLLTUNE_PEER]];
    const int root = row[COLLTUNE_TAG];

    switch (job->units->calls) {
    case COLLTUNE_CALL_BCAST:
        return PMPI_Bcast(to, length, job->type, root, group);
    case COLLTUNE_CALL_SCATTER:
        return PMPI_Scatter(from, length, job->type, to, length, job->type, root, group);
    case COLLTUNE_CALL_GATHER:
        return PMPI_Gather(from, length, job->type, to, length, job->type, root, group);
    case COLLTUNE_CALL_REDUCE:
        return PMPI_Reduce(from, to, length, job->type, job->op, root, group);
    case COLLTUNE_CALL_ALLREDUCE:
        return PMPI_Allreduce(from, to, length, job->type, job->op, group);
    default:
        return PMPI_Allgather(from, length, job->type, to, length, job->type, group);
    }
}

/* The program of this process: of a grid by the root, else by how many segments it runs, counted from the root on. */
static const struct colltune_program *colltune_program_of(const struct colltune_job *job, int parts)
{
    const struct colltune_program *first = &colltune_programs[job->units->first];

    return job->units->calls ? first + job->root * job->size + job->rank
                             : first + (parts - 1) * job->size + (job->rank - job->root + job->size) % job->size;
}

static char *colltune_view(const struct colltune_job *job, char *buffer, int offset, int unit)
{
    return buffer == NULL ? NULL : buffer + (MPI_Aint)offset * unit * job->extent;
}

/* Runs the program of this process on units of so many elements. */
static int colltune_walk(const struct colltune_job *job, const struct colltune_program *mine, char *const buffers[3],
                         int unit)
{
    const int *row = &colltune_rows[mine->first * COLLTUNE_COLUMNS];
    MPI_Request *requests =
        (MPI_Request *)(void *)colltune_room(&colltune_requests, (size_t)mine->count * sizeof(MPI_Request));
    int line, code = MPI_SUCCESS;

    for (line = 0; line < mine->count && code == MPI_SUCCESS; line++, row += COLLTUNE_COLUMNS) {
        const int peer = (row[COLLTUNE_PEER] + job->root) % job->size, length = row[COLLTUNE_LENGTH] * unit;
        const int in_place = row[COLLTUNE_BUFFER] < 0;
        char *view = in_place ? NULL : colltune_view(job, buffers[row[COLLTUNE_BUFFER]], row[COLLTUNE_OFFSET], unit);
        char *target = colltune_view(job, buffers[row[COLLTUNE_TO_BUFFER]], row[COLLTUNE_TO_OFFSET], unit);

        switch (row[COLLTUNE_OPERATION]) {
        case COLLTUNE_SEND:
            code = PMPI_Isend(view, length, job->type, peer, row[COLLTUNE_TAG], job->comm, &requests[line]);
            break;
        case COLLTUNE_RECEIVE:
            code = PMPI_Irecv(view, length, job->type, peer, row[COLLTUNE_TAG], job->comm, &requests[line]);
            break;
        case COLLTUNE_WAIT:
            code = PMPI_Wait(&requests[row[COLLTUNE_PEER]], MPI_STATUS_IGNORE);
            break;
        case COLLTUNE_COPY:
            memcpy(target, view, (size_t)length * (size_t)job->extent);
            break;
        case COLLTUNE_COMBINE:
            code = PMPI_Reduce_local(view, target, length, job->type, job->op);
            break;
        default:
            code = colltune_phase(job, row, in_place ? MPI_IN_PLACE : view, target, length);
        }
    }
    return code;
}

/* Elements of a segment; 0 where the program cuts none. */
static long long colltune_segment(const struct colltune_job *job)
{
    const int segment = job->units->segment / job->bytes;

    return job->units->segment == 0 ? 0 : segment < 1 ? 1 : segment;
}

/* How many segments are run at a time where each unit of the whole is so long. */
static int colltune_parts(const struct colltune_job *job, long long length)
{
    const long long segment = colltune_segment(job), parts = segment > 0 ? length / segment : 1;

    return parts < 1 ? 1 : parts > job->units->programs ? job->units->programs : (int)parts;
}

/* Runs the programs on units of the whole that are so long: one, or several segments at a time and then the rest. */
static int colltune_cut(const struct colltune_job *job, char *input, char *output, char *scratch, long long length)
{
    const long long segment = colltune_segment(job);
    int code;

    do {
        const int parts = colltune_parts(job, length);
        const long long unit = segment > 0 && length >= segment ? segment : length;
        const MPI_Aint step = (MPI_Aint)(parts * unit * job->units->units) * job->extent;
        char *const buffers[3] = {input, output, scratch};

        code = colltune_walk(job, colltune_program_of(job, parts), buffers, (int)unit);
        length -= parts * unit;
        input = input == NULL ? NULL : input + step;
        output = output == NULL ? NULL : output + step;
    } while (length > 0 && code == MPI_SUCCESS);
    return code;
}

/* Whether elements of a type lie in memory as they are sent: without gaps, and in their order. */
static int colltune_is_dense(const struct colltune_job *job, MPI_Datatype type)
{
    MPI_Aint low, extent;
    int size;

    return type == job->type
        || (colltune_is_named(type) && PMPI_Type_get_extent(type, &low, &extent) == MPI_SUCCESS
            && PMPI_Type_size(type, &size) == MPI_SUCCESS && low == 0 && extent == size);
}

/* Takes so many elements, from one on, out of the program's memory, or puts them there. */
static void colltune_transfer(const struct colltune_job *job, char *used, MPI_Datatype type, long long first, char *dense,
                          long long count, int out)
{
    const long long most = 1 << 30;
    MPI_Aint low, extent;
    int size;

    if (count == 0) {
        return;
    }
    if (colltune_is_dense(job, type)) {
        used += (MPI_Aint)first * job->extent;
        memcpy(out ? used : dense, out ? dense : used, (size_t)count * (size_t)job->extent);
        return;
    }
    /* Elements are bytes here; what the program calls elements are as many of them. */
    PMPI_Type_get_extent(type, &low, &extent);
    PMPI_Type_size(type, &size);
    used += (MPI_Aint)(first / size) * extent;
    for (; count > 0; count -= most / size * size) {
        const int bytes = (int)(count < most / size * size ? count : most / size * size);
        int at = 0;

        if (out) {
            PMPI_Unpack(dense, bytes, &at, used, bytes / size, type, MPI_COMM_SELF);
        } else {
            PMPI_Pack(used, bytes / size, type, dense, bytes, &at, MPI_COMM_SELF);
        }
        used += (MPI_Aint)(bytes / size) * extent;
        dense += bytes;
    }
}

/* Blocks in the order of ranks counted from another one on. */
static void colltune_turn(const struct colltune_job *job, const char *from, char *to, int by)
{
    const size_t block = (size_t)job->count * (size_t)job->extent;
    const size_t first = (size_t)by * block, rest = (size_t)(job->size - by) * block;

    memcpy(to, from + first, rest);
    memcpy(to + rest, from, first);
}

/*
 * Runs a collective: what is brought and what becomes of it is the program's own memory, or dense memory beside it
 * where that is MPI_IN_PLACE, has gaps, has its blocks in another order, or is no multiple of the units.
 */
static int colltune_own(const struct colltune_job *job, const void *sent, MPI_Datatype sent_type, void *received,
                        MPI_Datatype received_type)
{
    const struct colltune_units *units = job->units;
    const struct colltune_program *mine = colltune_program_of(job, 1);
    const long long length = units->by_block ? job->count : (job->count + units->units - 1) / units->units;
    const int filled = length * units->units != job->count, in_place = sent == MPI_IN_PLACE;
    const int turned = units->by_block && job->root > 0 && !units->calls;
    const long long brings = mine->input * length, takes = mine->output * length;
    const long long brought = filled && brings > 0 ? job->count : brings, taken = filled && takes > 0 ? job->count : takes;
    const int turn_in = turned && mine->input > 1, turn_out = turned && mine->output > 1;
    const int kept = received == MPI_IN_PLACE;
    const int beside_in = brings > 0 && (in_place || filled || turn_in || !colltune_is_dense(job, sent_type));
    const int beside_out = takes > 0 && (kept || filled || turn_out || !colltune_is_dense(job, received_type));
    const int parts = colltune_parts(job, length);
    const long long unit = parts > 1 ? colltune_segment(job) : length;
    const long long scratch = colltune_program_of(job, parts)->scratch * unit;
    const long long in = beside_in ? brings << turn_in : 0, out = beside_out ? takes << turn_out : 0;
    char *room = colltune_room(&colltune_space, (size_t)(in + out + scratch + 1) * (size_t)job->extent);
    char *input = beside_in ? room : (char *)(size_t)sent;
    char *output = beside_out ? room + (MPI_Aint)in * job->extent : received;
    char *last = room + (MPI_Aint)(in + out) * job->extent;
    int code;

    if (beside_in) {
        char *load = turn_in ? input + (MPI_Aint)brings * job->extent : input;
        /* In place this process brings its block of all, where it brings one. */
        const long long first = in_place && brings < takes ? job->rank * job->count : 0;

        memset(load + (MPI_Aint)brought * job->extent, 0, (size_t)(brings - brought) * (size_t)job->extent);
        colltune_transfer(job, in_place ? received : (char *)(size_t)sent, in_place ? received_type : sent_type, first, load,
                      brought, 0);
        if (turn_in) {
            colltune_turn(job, load, input, job->root);
        }
    }
    if (beside_out && !kept) {
        /* What is broadcast, and what an exclusive scan leaves as it is. */
        memset(output + (MPI_Aint)taken * job->extent, 0, (size_t)(takes - taken) * (size_t)job->extent);
        colltune_transfer(job, received, received_type, 0, output, units->by_block ? 0 : taken, 0);
    }
    code = colltune_cut(job, input, output, last, length);
    if (beside_out && !kept) {
        char *result = turn_out ? output + (MPI_Aint)takes * job->extent : output;

        if (turn_out) {
            colltune_turn(job, output, result, job->size - job->root);
        }
        colltune_transfer(job, received, received_type, 0, result, taken, 1);
    }
    return code;
}

static int colltune_run(const struct colltune_state *state, int method, MPI_Comm comm, long long bytes, int root,
                        MPI_Datatype type, MPI_Op op, const void *sent, MPI_Datatype sent_type, void *received,
                        MPI_Datatype received_type)
{
    struct colltune_job job;
    MPI_Aint low;

    job.units = colltune_units_of(method, state->size);
    job.comm = comm;
    job.rank = state->rank;
    job.size = state->size;
    job.root = root;
    job.type = type;
    job.op = op;
    PMPI_Type_size(type, &job.bytes);
    PMPI_Type_get_extent(type, &low, &job.extent);
    job.count = bytes / job.bytes;
    job.groups = job.units->calls ? colltune_groups(&job) : NULL;
    return colltune_own(&job, sent, sent_type, received, received_type);
}
