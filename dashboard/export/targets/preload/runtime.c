/* What is known of a communicator; cached on it as an attribute, gone with it. */
struct colltune_state {
    int size;
    int rank;
    int ppn;                                  /* processes per node, 1 where nothing asks for them */
    int skip;                                 /* nothing is decided here: why, or 0 */
    int made;                                 /* communicators made for this one */
    unsigned char refused[COLLTUNE_METHODS];  /* why a method is not to be had here, or 0 */
    unsigned char tries[COLLTUNE_METHODS];
    MPI_Comm prepared[COLLTUNE_METHODS];      /* what to call to have the method, or MPI_COMM_NULL */
    unsigned long long called[COLLTUNE_METHODS];  /* by one thread at a time, as MPI asks of a communicator */
    struct colltune_state *before, *after;        /* in the list of all of them */
#ifdef COLLTUNE_ONLINE
    int nodes, each;                          /* nodes, and processes on each of them */
    int row[COLLTUNE_COLLECTIVES];            /* bins of these two */
    uint32_t calls, chosen;                   /* so far, and those of them that were chosen and noted */
    uint64_t id, stream;                      /* the same on all processes */
#endif
};

enum {
    COLLTUNE_TAKEN,
    COLLTUNE_ALONE,
    COLLTUNE_INTER,
    COLLTUNE_ORDERED,
    COLLTUNE_NO_TOOLS,
    COLLTUNE_THREADS,
    COLLTUNE_TOO_MANY,
    COLLTUNE_BUSY,
    COLLTUNE_TWO,
    COLLTUNE_NO_SCHEDULE,
    COLLTUNE_UNFIT,
    COLLTUNE_REASONS
};

static const char *const colltune_reasons[COLLTUNE_REASONS] = {
    "",
    "one process only",
    "an intercommunicator",
    "an operation that does not commute",
    "no way to set the method in this library",
    "set for a single call while other threads may call (COLLTUNE_ONE_THREAD=1 says that none does)",
    "as many communicators made as allowed",
    "another thread was preparing a communicator",
    "an algorithm for two processes only",
    "an own method that is not prepared for so many processes",
    "a message or a type that an own method does not cut"
};

static pthread_once_t colltune_once = PTHREAD_ONCE_INIT;
static int colltune_key = MPI_KEYVAL_INVALID;
static int colltune_over;
static int colltune_made;
static char colltune_lock, colltune_listing;
static struct colltune_state *colltune_states;
static unsigned long long colltune_called[COLLTUNE_METHODS];
static unsigned long long colltune_passed[COLLTUNE_COLLECTIVES][COLLTUNE_REASONS];
/* The communicator that a thread called with last, until one is freed: handles are used again. */
static unsigned colltune_epoch = 1;
static COLLTUNE_OF_THREAD struct {
    MPI_Comm comm;
    unsigned epoch;
    struct colltune_state *state;
} colltune_last;

static void colltune_count(unsigned long long *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* Adds what was called on a communicator to the sum. */
static void colltune_add_up(struct colltune_state *state)
{
    int method;

    for (method = 0; method < COLLTUNE_METHODS; method++) {
        __atomic_fetch_add(&colltune_called[method], state->called[method], __ATOMIC_RELAXED);
        state->called[method] = 0;
    }
}

static void colltune_list(struct colltune_state *state, int there)
{
    while (__atomic_test_and_set(&colltune_listing, __ATOMIC_ACQUIRE)) {
    }
    if (there) {
        state->after = colltune_states;
        if (colltune_states != NULL) {
            colltune_states->before = state;
        }
        colltune_states = state;
    } else {
        *(state->before != NULL ? &state->before->after : &colltune_states) = state->after;
        if (state->after != NULL) {
            state->after->before = state->before;
        }
    }
    __atomic_clear(&colltune_listing, __ATOMIC_RELEASE);
}

/* Frees what was prepared for a communicator; the library calls it when that one is freed. */
static int colltune_forget(MPI_Comm comm, int key, void *attribute, void *extra)
{
    struct colltune_state *state = attribute;
    int method;

    (void)key;
    (void)extra;
    __atomic_fetch_add(&colltune_epoch, 1, __ATOMIC_RELEASE);
    for (method = 0; method < COLLTUNE_METHODS && !colltune_over; method++) {
        if (state->prepared[method] != MPI_COMM_NULL && state->prepared[method] != comm) {
            PMPI_Comm_free(&state->prepared[method]);
            __atomic_fetch_sub(&colltune_made, 1, __ATOMIC_RELAXED);
        }
    }
    colltune_add_up(state);
    colltune_list(state, 0);
    free(state);
    return MPI_SUCCESS;
}

/* Whether a method has a communicator of its own: one that keeps what the variables say, or that own messages go over. */
static int colltune_makes(int method)
{
    return colltune_methods[method].settings > 0 || colltune_methods[method].own;
}

static void colltune_start(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, colltune_forget, &colltune_key, NULL);
    colltune_open_tools();
}

/*
 * Makes the communicator that has a method: a new one takes what the control variables say. All processes vote first,
 * so that they all make it or all do not. Nobody waits for the lock: two threads that make communicators of different
 * groups at once could wait for each other's processes for ever. Who does not get it tries again at a later call.
 * The new one is made of the group, not duplicated: that would call the program's own attribute functions. A method
 * whose variables act on calls alone needs none: the vote is what it is for.
 */
static MPI_Comm colltune_prepare(struct colltune_state *state, MPI_Comm comm, int method)
{
    static const unsigned char reasons[5] = {
        COLLTUNE_NO_TOOLS, COLLTUNE_THREADS, COLLTUNE_TOO_MANY, COLLTUNE_BUSY, COLLTUNE_TAKEN
    };
    const struct colltune_method *chosen = &colltune_methods[method];
    int locked = !__atomic_test_and_set(&colltune_lock, __ATOMIC_ACQUIRE);
    int vote = 4, agreed = 0;
    MPI_Group group;

    if (!state->made && colltune_makes(method)) {
        /* HAN makes communicators of nodes and between them at the first call: before anything is set for another. */
        PMPI_Allreduce(&vote, &agreed, 1, MPI_INT, MPI_MIN, comm);
    }
    if (colltune_is_off || (!colltune_has_tools && !chosen->own)) {
        vote = 0;
    } else if (chosen->acting > 0 && !colltune_one_thread) {
        vote = 1;
    } else if (colltune_makes(method) && __atomic_load_n(&colltune_made, __ATOMIC_RELAXED) >= COLLTUNE_MOST_IN_ALL) {
        vote = 2;
    } else if (!locked) {
        vote = 3;
    } else if (!colltune_keep(chosen->first, chosen->settings + chosen->acting)
               || !colltune_set(chosen->first, chosen->settings)) {
        vote = 0;
    }
    if (PMPI_Allreduce(&vote, &agreed, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS || agreed != 4) {
        if (agreed != 3 || ++state->tries[method] == COLLTUNE_TRIES) {
            state->refused[method] = reasons[agreed];
        }
    } else if (!colltune_makes(method)) {
        state->prepared[method] = comm;
    } else {
        PMPI_Comm_group(comm, &group);
        if (PMPI_Comm_create(comm, group, &state->prepared[method]) == MPI_SUCCESS) {
            /* The caller's own error handler is called instead, see colltune_done. */
            PMPI_Comm_set_errhandler(state->prepared[method], MPI_ERRORS_RETURN);
            state->made++;
            __atomic_fetch_add(&colltune_made, 1, __ATOMIC_RELAXED);
        } else {
            state->prepared[method] = MPI_COMM_NULL;
            state->refused[method] = COLLTUNE_TOO_MANY;
        }
        PMPI_Group_free(&group);
    }
    if (locked) {
        colltune_restore(chosen->first, chosen->settings, 1);
        __atomic_clear(&colltune_lock, __ATOMIC_RELEASE);
    }
    return state->prepared[method];
}

#if COLLTUNE_NEEDS_PPN
/* The most processes of the communicator on one node; collective. */
static int colltune_ppn(MPI_Comm comm)
{
    MPI_Comm node;
    int here = 1, most = 1;

    PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    PMPI_Comm_size(node, &here);
    PMPI_Comm_free(&node);
    PMPI_Allreduce(&here, &most, 1, MPI_INT, MPI_MAX, comm);
    return most;
}
#endif

#ifdef COLLTUNE_ONLINE
static void colltune_settle(struct colltune_state *state, MPI_Comm comm);
static void colltune_finish(void);
#endif

static struct colltune_state *colltune_adopt(MPI_Comm comm)
{
    struct colltune_state *state = malloc(sizeof *state);
    int inter = 0, method;

    if (state == NULL) {
        fputs("colltune: no memory left\n", stderr);
        abort();
    }
    memset(state, 0, sizeof *state);
    for (method = 0; method < COLLTUNE_METHODS; method++) {
        state->prepared[method] =
            colltune_makes(method) || colltune_methods[method].acting > 0 ? MPI_COMM_NULL : comm;
    }
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_size(comm, &state->size);
    PMPI_Comm_rank(comm, &state->rank);
    state->skip = inter ? COLLTUNE_INTER : state->size < 2 ? COLLTUNE_ALONE : COLLTUNE_TAKEN;
    state->ppn = 1;
#if COLLTUNE_NEEDS_PPN
    if (!state->skip) {
        state->ppn = colltune_ppn(comm);
    }
#endif
#ifdef COLLTUNE_ONLINE
    if (!state->skip) {
        colltune_settle(state, comm);
    }
#endif
    PMPI_Comm_set_attr(comm, colltune_key, state);
    colltune_list(state, 1);
    return state;
}

/* Looks a communicator up; NULL where there is none. */
static struct colltune_state *colltune_look_up(MPI_Comm comm)
{
    struct colltune_state *state = NULL;
    unsigned epoch = __atomic_load_n(&colltune_epoch, __ATOMIC_ACQUIRE);
    int there = 0;

    if (comm == MPI_COMM_NULL) {
        return NULL;
    }
    pthread_once(&colltune_once, colltune_start);
    if (PMPI_Comm_get_attr(comm, colltune_key, &state, &there) != MPI_SUCCESS) {
        return NULL;
    }
    if (!there) {
        state = colltune_adopt(comm);
    }
    colltune_last.comm = comm;
    colltune_last.epoch = epoch;
    colltune_last.state = state;
    return state;
}

/* What is known of a communicator; NULL where the call is to go on as it is, and why is counted. */
static struct colltune_state *colltune_find(int collective, MPI_Comm comm)
{
    const int last = colltune_last.comm == comm && colltune_last.epoch == __atomic_load_n(&colltune_epoch, __ATOMIC_ACQUIRE);
    struct colltune_state *state = last ? colltune_last.state : colltune_look_up(comm);

    if (state == NULL) {
        return NULL;
    }
    if (state->skip) {
        colltune_count(&colltune_passed[collective][state->skip]);
        return NULL;
    }
    return state;
}

#if COLLTUNE_SIZED
/* MPI 4.1 deprecates the one, older ones lack the other. */
#if MPI_VERSION >= 4
#define COLLTUNE_TYPE_SIZE PMPI_Type_size_c
#else
#define COLLTUNE_TYPE_SIZE PMPI_Type_size_x
#endif
/* Of the types that MPI brings, which stay what they are, the one that a thread used last, and its bytes. */
static COLLTUNE_OF_THREAD struct {
    MPI_Datatype type;
    MPI_Count bytes;
} colltune_typed = {MPI_DATATYPE_NULL, -1};

static MPI_Count colltune_size(MPI_Datatype datatype)
{
    int integers, addresses, types, combiner;
    MPI_Count size;

    if (datatype == MPI_DATATYPE_NULL || COLLTUNE_TYPE_SIZE(datatype, &size) != MPI_SUCCESS) {
        return -1;
    }
    if (PMPI_Type_get_envelope(datatype, &integers, &addresses, &types, &combiner) == MPI_SUCCESS
        && combiner == MPI_COMBINER_NAMED) {
        colltune_typed.type = datatype;
        colltune_typed.bytes = size;
    }
    return size;
}

/* Bytes of a buffer by its signature, the same on all processes whatever types they describe it with; -1: none. */
static long long colltune_bytes(long long count, MPI_Datatype datatype)
{
    MPI_Count size = datatype == colltune_typed.type ? colltune_typed.bytes : colltune_size(datatype);

    if (count < 0 || size < 0) {
        return -1;
    }
    if (((count | size) >> 31) != 0 && size > 0 && count > LLONG_MAX / size) {
        return LLONG_MAX;
    }
    return count * size;
}
#endif

#if COLLTUNE_REDUCES
/* Whether a reduction may be done in any order: the library's forced algorithms do not ask. */
static int colltune_commutes(int collective, MPI_Op operation)
{
    int commutes = 0;

    if (operation == MPI_SUM || operation == MPI_MAX || operation == MPI_MIN) {
        return 1;
    }
    if (operation == MPI_OP_NULL || PMPI_Op_commutative(operation, &commutes) != MPI_SUCCESS || !commutes) {
        colltune_count(&colltune_passed[collective][COLLTUNE_ORDERED]);
        return 0;
    }
    return 1;
}
#endif

/* What to call to have a method that was not had here before; MPI_COMM_NULL where it cannot be, and why is counted. */
static MPI_Comm colltune_get(int collective, struct colltune_state *state, MPI_Comm comm, int method)
{
    int refused = state->refused[method];

    if (!refused && colltune_methods[method].two && state->size != 2) {
        refused = state->refused[method] = COLLTUNE_TWO;
    } else if (!refused && colltune_makes(method) && state->made >= COLLTUNE_MOST) {
        refused = state->refused[method] = COLLTUNE_TOO_MANY;
    } else if (!refused) {
        if (colltune_prepare(state, comm, method) != MPI_COMM_NULL) {
            return state->prepared[method];
        }
        refused = state->refused[method] ? state->refused[method] : COLLTUNE_BUSY;
    }
    colltune_count(&colltune_passed[collective][refused]);
    return MPI_COMM_NULL;
}

/* The communicator to call the library with, so that it takes the method. */
static MPI_Comm colltune_choose(int collective, struct colltune_state *state, MPI_Comm comm, int method)
{
    MPI_Comm prepared = state->prepared[method];

    if (prepared == MPI_COMM_NULL) {
        prepared = colltune_get(collective, state, comm, method);
        if (prepared == MPI_COMM_NULL) {
            return comm;
        }
    }
    state->called[method]++;
#if COLLTUNE_ACTING
    if (colltune_methods[method].acting > 0) {
        colltune_act(method);
    }
#endif
    return prepared;
}

/* An error on a prepared communicator is one of the communicator that the program called with. */
static int colltune_done(int code, MPI_Comm comm, MPI_Comm used)
{
#if COLLTUNE_ACTING
    if (colltune_acts >= 0) {
        colltune_acted();
    }
#endif
    if (code != MPI_SUCCESS && used != comm) {
        PMPI_Comm_call_errhandler(comm, code);
    }
    return code;
}
