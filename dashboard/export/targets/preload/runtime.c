/* What is known of a communicator; cached on it as an attribute, gone with it. */
struct colltune_state {
    int size;
    int rank;
    int ppn;                                  /* processes per node, 1 where nothing asks for them */
    int skip;                                 /* nothing is decided here: why, or 0 */
    int made;                                 /* communicators made for this one */
    unsigned char refused[COLLTUNE_METHODS];  /* why a method is not to be had here, or 0 */
    unsigned char tries[COLLTUNE_METHODS];
    MPI_Comm prepared[COLLTUNE_METHODS];      /* the communicator that has the method, or MPI_COMM_NULL */
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
    COLLTUNE_TOO_MANY,
    COLLTUNE_BUSY,
    COLLTUNE_TWO,
    COLLTUNE_REASONS
};

static const char *const colltune_reasons[COLLTUNE_REASONS] = {
    "",
    "one process only",
    "an intercommunicator",
    "an operation that does not commute",
    "no way to set the method in this library",
    "as many communicators made as allowed",
    "another thread was preparing a communicator",
    "an algorithm for two processes only"
};

static pthread_once_t colltune_once = PTHREAD_ONCE_INIT;
static int colltune_key = MPI_KEYVAL_INVALID;
static int colltune_has_tools;
static int colltune_over;
static int colltune_made;
static char colltune_lock;
static unsigned long long colltune_called[COLLTUNE_METHODS];
static unsigned long long colltune_passed[COLLTUNE_COLLECTIVES][COLLTUNE_REASONS];

static void colltune_count(unsigned long long *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static int colltune_off(void)
{
    const char *said = getenv("COLLTUNE_OFF");

    return said != NULL && *said != '\0' && strcmp(said, "0") != 0;
}

/* Frees what was prepared for a communicator; the library calls it when that one is freed. */
static int colltune_forget(MPI_Comm comm, int key, void *attribute, void *extra)
{
    struct colltune_state *state = attribute;
    int method;

    (void)comm;
    (void)key;
    (void)extra;
    for (method = 0; method < COLLTUNE_METHODS && !colltune_over; method++) {
        if (state->prepared[method] != MPI_COMM_NULL) {
            PMPI_Comm_free(&state->prepared[method]);
            __atomic_fetch_sub(&colltune_made, 1, __ATOMIC_RELAXED);
        }
    }
    free(state);
    return MPI_SUCCESS;
}

/* Finds a control variable; 0 when this library has none of that name that is a number of one or of int's bytes. */
static int colltune_open(struct colltune_variable *variable)
{
    char name[256];
    char text[1];
    int index, length = (int)sizeof name, described = (int)sizeof text, verbosity, binding, scope, count;
    MPI_Datatype datatype;
    MPI_T_enum values;

    if (MPI_T_cvar_get_index(variable->name, &index) != MPI_SUCCESS
        || MPI_T_cvar_get_info(index, name, &length, &verbosity, &datatype, &values, text, &described, &binding, &scope)
               != MPI_SUCCESS
        || MPI_T_cvar_handle_alloc(index, NULL, &variable->handle, &count) != MPI_SUCCESS) {
        return 0;
    }
    variable->bytes = datatype == MPI_C_BOOL ? 1 : (int)sizeof(int);
    return count == 1
        && (datatype == MPI_C_BOOL || datatype == MPI_INT || datatype == MPI_UNSIGNED || datatype == MPI_INT32_T);
}

static void colltune_start(void)
{
    int level, provided, number;

    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, colltune_forget, &colltune_key, NULL);
    /* Open MPI takes the level that is asked for here for all of MPI: it must be the program's own. */
    PMPI_Query_thread(&level);
    if (colltune_off() || MPI_T_init_thread(level, &provided) != MPI_SUCCESS) {
        return;
    }
    colltune_has_tools = 1;
    for (number = 0; number < COLLTUNE_VARIABLES; number++) {
        colltune_variables[number].there = colltune_open(&colltune_variables[number]);
    }
}

static int colltune_write(struct colltune_variable *variable, int value)
{
    unsigned char flag = (unsigned char)(value != 0);
    int held = 0;

    if (MPI_T_cvar_write(variable->handle, variable->bytes == 1 ? (void *)&flag : (void *)&value) == MPI_SUCCESS) {
        return 1;
    }
    /* Some can be read only, such as those that Open MPI 4.1 is told in the environment: they may say it already. */
    return MPI_T_cvar_read(variable->handle, &held) == MPI_SUCCESS && held == value;
}

/* Writes the variables of a method; what they held before is kept once. 0 when the library does not let them be. */
static int colltune_set(int method)
{
    const struct colltune_method *chosen = &colltune_methods[method];
    int number;

    for (number = chosen->first; number < chosen->first + chosen->settings; number++) {
        struct colltune_variable *variable = &colltune_variables[colltune_settings[number].variable];

        if (!variable->there
            || (!variable->kept && MPI_T_cvar_read(variable->handle, &variable->before) != MPI_SUCCESS)) {
            return 0;
        }
        variable->kept = 1;
        if (!colltune_write(variable, colltune_settings[number].value)) {
            return 0;
        }
    }
    return 1;
}

/* Puts back what the variables of a method held, so that other new communicators are as they would have been. */
static void colltune_restore(int method)
{
    const struct colltune_method *chosen = &colltune_methods[method];
    int number;

    for (number = chosen->first; number < chosen->first + chosen->settings; number++) {
        struct colltune_variable *variable = &colltune_variables[colltune_settings[number].variable];

        if (variable->there && variable->kept) {
            MPI_T_cvar_write(variable->handle, &variable->before);
            variable->kept = 0;
        }
    }
}

/*
 * Makes the communicator that has a method: a new one takes what the control variables say. All processes vote first,
 * so that they all make it or all do not. Nobody waits for the lock: two threads that make communicators of different
 * groups at once could wait for each other's processes for ever. Who does not get it tries again at a later call.
 * The new one is made of the group, not duplicated: that would call the program's own attribute functions.
 */
static MPI_Comm colltune_prepare(struct colltune_state *state, MPI_Comm comm, int method)
{
    static const unsigned char reasons[4] = {COLLTUNE_NO_TOOLS, COLLTUNE_TOO_MANY, COLLTUNE_BUSY, COLLTUNE_TAKEN};
    int locked = !__atomic_test_and_set(&colltune_lock, __ATOMIC_ACQUIRE);
    int vote = 3, agreed = 0;
    MPI_Group group;

    if (!state->made) {
        /* HAN makes communicators of nodes and between them at the first call: before anything is set for another. */
        PMPI_Allreduce(&vote, &agreed, 1, MPI_INT, MPI_MIN, comm);
    }
    if (!colltune_has_tools) {
        vote = 0;
    } else if (__atomic_load_n(&colltune_made, __ATOMIC_RELAXED) >= COLLTUNE_MOST_IN_ALL) {
        vote = 1;
    } else if (!locked) {
        vote = 2;
    } else if (!colltune_set(method)) {
        vote = 0;
    }
    if (PMPI_Allreduce(&vote, &agreed, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && agreed == 3) {
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
    } else if (agreed != 2 || ++state->tries[method] == COLLTUNE_TRIES) {
        state->refused[method] = reasons[agreed];
    }
    if (locked) {
        colltune_restore(method);
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
        state->prepared[method] = MPI_COMM_NULL;
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
    return state;
}

/* What is known of a communicator; NULL where the call is to go on as it is, and why is counted. */
static struct colltune_state *colltune_find(int collective, MPI_Comm comm)
{
    struct colltune_state *state = NULL;
    int found = 0;

    if (comm == MPI_COMM_NULL) {
        return NULL;
    }
    pthread_once(&colltune_once, colltune_start);
    if (PMPI_Comm_get_attr(comm, colltune_key, &state, &found) != MPI_SUCCESS) {
        return NULL;
    }
    if (!found) {
        state = colltune_adopt(comm);
    }
    if (state->skip) {
        colltune_count(&colltune_passed[collective][state->skip]);
        return NULL;
    }
    return state;
}

#if COLLTUNE_SIZED
/* Bytes of a buffer by its signature, the same on all processes whatever types they describe it with; -1: none. */
static long long colltune_bytes(long long count, MPI_Datatype datatype)
{
    MPI_Count size;

    if (count < 0 || datatype == MPI_DATATYPE_NULL || PMPI_Type_size_x(datatype, &size) != MPI_SUCCESS || size < 0) {
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

    if (operation == MPI_OP_NULL || PMPI_Op_commutative(operation, &commutes) != MPI_SUCCESS || !commutes) {
        colltune_count(&colltune_passed[collective][COLLTUNE_ORDERED]);
        return 0;
    }
    return 1;
}
#endif

#if COLLTUNE_LIVE
/* Of each collective the method whose variables that act on calls are in place, or -1. */
static int colltune_live[COLLTUNE_COLLECTIVES] = COLLTUNE_LIVE_NONE;

/* Some variables act when a communicator is used, not when it is made. */
static void colltune_enliven(int collective, int method)
{
    int before = colltune_live[collective];
    int number;

    if (before == method || !colltune_has_tools) {
        return;
    }
    for (number = 0; number < COLLTUNE_LIVE; number++) {
        struct colltune_variable *variable = &colltune_variables[colltune_live_settings[number].setting.variable];

        if (colltune_live_settings[number].method == before && variable->kept) {
            MPI_T_cvar_write(variable->handle, &variable->before);
        }
    }
    for (number = 0; number < COLLTUNE_LIVE; number++) {
        struct colltune_variable *variable = &colltune_variables[colltune_live_settings[number].setting.variable];

        if (colltune_live_settings[number].method == method && variable->there
            && (variable->kept || MPI_T_cvar_read(variable->handle, &variable->before) == MPI_SUCCESS)) {
            variable->kept = 1;
            colltune_write(variable, colltune_live_settings[number].setting.value);
        }
    }
    colltune_live[collective] = method;
}
#else
#define colltune_enliven(collective, method) ((void)0)
#endif

/* The communicator to call the library with, so that it takes the method. */
static MPI_Comm colltune_choose(int collective, struct colltune_state *state, MPI_Comm comm, int method)
{
    MPI_Comm prepared = state->prepared[method];
    int refused = state->refused[method];

    if (prepared == MPI_COMM_NULL && colltune_methods[method].settings > 0 && !refused) {
        if (colltune_methods[method].two && state->size != 2) {
            refused = state->refused[method] = COLLTUNE_TWO;
        } else if (state->made >= COLLTUNE_MOST) {
            refused = state->refused[method] = COLLTUNE_TOO_MANY;
        } else {
            prepared = colltune_prepare(state, comm, method);
            refused = state->refused[method];
            if (prepared == MPI_COMM_NULL && !refused) {
                refused = COLLTUNE_BUSY;
            }
        }
    }
    if (refused) {
        colltune_count(&colltune_passed[collective][refused]);
    } else {
        colltune_count(&colltune_called[method]);
    }
    colltune_enliven(collective, prepared != MPI_COMM_NULL && colltune_methods[method].live ? method : -1);
    return prepared == MPI_COMM_NULL ? comm : prepared;
}

/* An error on a prepared communicator is one of the communicator that the program called with. */
static int colltune_done(int code, MPI_Comm comm, MPI_Comm used)
{
    if (code != MPI_SUCCESS && used != comm) {
        PMPI_Comm_call_errhandler(comm, code);
    }
    return code;
}

static void colltune_print(FILE *stream, int processes, const unsigned long long *called,
                           unsigned long long (*passed)[COLLTUNE_REASONS])
{
    int number, reason;

    fprintf(stream, "colltune: calls of all %d processes together\n", processes);
    for (number = 0; number < COLLTUNE_METHODS; number++) {
        if (called[number] > 0) {
            fprintf(stream, "colltune: %s: %llu by %s%s\n", colltune_collectives[colltune_methods[number].collective],
                    called[number], colltune_methods[number].label,
                    colltune_methods[number].settings > 0 ? "" : " (as the library decides)");
        }
    }
    for (number = 0; number < COLLTUNE_COLLECTIVES; number++) {
        for (reason = 1; reason < COLLTUNE_REASONS; reason++) {
            if (passed[number][reason] > 0) {
                fprintf(stream, "colltune: %s: %llu passed on: %s\n", colltune_collectives[number],
                        passed[number][reason], colltune_reasons[reason]);
            }
        }
    }
}

/* Adds up what all processes counted, and writes it where the first process's COLLTUNE_REPORT says. */
static void colltune_report(void)
{
    const char *said = getenv("COLLTUNE_REPORT");
    int wanted = said != NULL && *said != '\0' && strcmp(said, "0") != 0;
    int anybody = 0, rank = 0, size = 1;
    unsigned long long called[COLLTUNE_METHODS];
    unsigned long long passed[COLLTUNE_COLLECTIVES][COLLTUNE_REASONS];
    FILE *stream = stderr;

    PMPI_Allreduce(&wanted, &anybody, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!anybody) {
        return;
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Reduce(colltune_called, called, COLLTUNE_METHODS, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(colltune_passed, passed, COLLTUNE_COLLECTIVES * COLLTUNE_REASONS, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0,
                MPI_COMM_WORLD);
    if (rank != 0) {
        return;
    }
    if (wanted && strcmp(said, "1") != 0) {
        stream = fopen(said, "w");
        if (stream == NULL) {
            fprintf(stderr, "colltune: COLLTUNE_REPORT=%s cannot be written\n", said);
            stream = stderr;
        }
    }
    colltune_print(stream, size, called, passed);
    if (stream != stderr) {
        fclose(stream);
    }
}

int MPI_Finalize(void)
{
    struct colltune_state *state = NULL;
    int found = 0, number;

    pthread_once(&colltune_once, colltune_start);
#ifdef COLLTUNE_ONLINE
    colltune_finish();
#endif
    colltune_report();
    PMPI_Comm_get_attr(MPI_COMM_WORLD, colltune_key, &state, &found);
    if (found) {
        PMPI_Comm_delete_attr(MPI_COMM_WORLD, colltune_key);
    }
    colltune_over = 1;
    if (colltune_has_tools) {
        for (number = 0; number < COLLTUNE_VARIABLES; number++) {
            if (colltune_variables[number].there) {
                MPI_T_cvar_handle_free(&colltune_variables[number].handle);
            }
        }
        MPI_T_finalize();
    }
    return PMPI_Finalize();
}
