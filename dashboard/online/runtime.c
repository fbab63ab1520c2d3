/* Online tuning: every process draws the same method for a call, without a word to the others, and notes its time. */
#define COLLTUNE_RECORD_BYTES 48
#define COLLTUNE_BUFFERED 21845 /* about 1 MiB: a crash loses no more */
#define COLLTUNE_TEXT 1024

#ifndef COLLTUNE_UNITS
#define colltune_unfit(state, method, bytes, root, type) ((void)(root), (void)(type), COLLTUNE_TAKEN)
#endif

enum { COLLTUNE_MODE_OFF, COLLTUNE_MODE_TRACE, COLLTUNE_MODE_TUNING, COLLTUNE_MODE_TUNED };

struct colltune_record {
    double start, end;
    int64_t message_size;
    uint64_t comm;
    uint32_t call;
    int32_t comm_size, nodes;
    uint16_t ppn;
    uint8_t collective, alg;
};

typedef char colltune_record_is_48_bytes[sizeof(struct colltune_record) == COLLTUNE_RECORD_BYTES ? 1 : -1];

/* What the first process was told in its environment, the same for all. */
struct colltune_order {
    int mode;
    int ranks; /* so many processes note their calls */
    uint32_t most;
    int collectives[COLLTUNE_COLLECTIVES];
    double fraction;
    uint64_t seed;
    char run[COLLTUNE_TEXT];
    char out[COLLTUNE_TEXT];
    char model[COLLTUNE_TEXT];
};

static struct colltune_order colltune_order;
static struct colltune_learnt colltune_model[COLLTUNE_COLLECTIVES];
static int colltune_has_model[COLLTUNE_COLLECTIVES];
static struct colltune_record *colltune_records;
static int colltune_recorded;
static FILE *colltune_trace;
static pthread_mutex_t colltune_recording = PTHREAD_MUTEX_INITIALIZER;
static double colltune_begun;
/* Open MPI 4.1 counts from its first MPI_Wtime, which gives 0. */
static int colltune_ready;
static uint32_t colltune_comms;
static unsigned long long colltune_calls[COLLTUNE_COLLECTIVES], colltune_noted[COLLTUNE_COLLECTIVES];

static void colltune_say(const char *what, const char *value)
{
    int rank = 0;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        fprintf(stderr, "colltune: %s%s\n", what, value);
    }
}

static void colltune_copy(char *to, const char *name)
{
    const char *said = getenv(name);

    to[0] = '\0';
    if (said != NULL) {
        strncat(to, said, COLLTUNE_TEXT - 1);
    }
}

/* Whether a list of names, with commas between them, has this one; an empty list has all. */
static int colltune_named(const char *list, const char *name)
{
    size_t length = strlen(name);

    if (list == NULL || *list == '\0') {
        return 1;
    }
    for (; list != NULL; list = strchr(list, ','), list = list == NULL ? NULL : list + 1) {
        if (strncmp(list, name, length) == 0 && (list[length] == ',' || list[length] == '\0')) {
            return 1;
        }
    }
    return 0;
}

/* A number from 0 to `most`; the usual one where the environment says nothing, or another thing, which is said. */
static double colltune_number(const char *name, double usual, double most)
{
    const char *said = getenv(name);
    char *end, what[COLLTUNE_TEXT];
    double value;

    if (said == NULL || *said == '\0') {
        return usual;
    }
    value = strtod(said, &end);
    if (*end == '\0' && value >= 0 && value <= most) {
        return value;
    }
    snprintf(what, sizeof what, "%s must be a number from 0 to %.0f, so %.0f is taken; it is ", name, most, usual);
    colltune_say(what, said);
    return usual;
}

static int colltune_mode(void)
{
    const char *said = getenv("COLLTUNE_ONLINE");

    if (said == NULL || colltune_said("COLLTUNE_OFF") || strcmp(said, "off") == 0) {
        return COLLTUNE_MODE_OFF;
    }
    if (strcmp(said, "trace") == 0) {
        return COLLTUNE_MODE_TRACE;
    }
    if (strcmp(said, "tuning") == 0) {
        return COLLTUNE_MODE_TUNING;
    }
    if (strcmp(said, "tuned") == 0) {
        return COLLTUNE_MODE_TUNED;
    }
    colltune_say("COLLTUNE_ONLINE must be off, trace, tuning or tuned, so nothing is tuned; it is ", said);
    return COLLTUNE_MODE_OFF;
}

static void colltune_read_order(void)
{
    struct colltune_order *order = &colltune_order;
    const char *said = getenv("COLLTUNE_ONLINE_SEED"), *named = getenv("COLLTUNE_ONLINE_COLLECTIVES");
    int number, size = 1, known = 0;

    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    order->mode = colltune_mode();
    order->ranks = (int)colltune_number("COLLTUNE_ONLINE_RANKS", size, 2147483647);
    order->most = (uint32_t)colltune_number("COLLTUNE_ONLINE_CALLS", 1000, 4294967295);
    order->fraction = colltune_number("COLLTUNE_ONLINE_FRACTION", 1, 1);
    colltune_copy(order->run, "COLLTUNE_ONLINE_RUN");
    colltune_copy(order->out, "COLLTUNE_ONLINE_OUT");
    colltune_copy(order->model, "COLLTUNE_ONLINE_MODEL");
    if (order->run[0] == '\0') {
        snprintf(order->run, sizeof order->run, "%.9f-%ld", PMPI_Wtime(), (long)getpid());
    }
    order->seed = said != NULL ? strtoull(said, NULL, 10) : 1;
    for (number = 0; number < COLLTUNE_COLLECTIVES; number++) {
        order->collectives[number] = colltune_named(named, colltune_collectives[number]);
        known |= order->collectives[number];
    }
    if (!known && order->mode != COLLTUNE_MODE_OFF) {
        colltune_say("COLLTUNE_ONLINE_COLLECTIVES names none that this library tunes; it is ", named);
    }
}

/* Whether the MPI library is of the series that this file was generated for. */
static int colltune_right_library(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    PMPI_Get_library_version(text, &length);
    if (strstr(text, "Open MPI v" COLLTUNE_SERIES) != NULL) {
        return 1;
    }
    text[strcspn(text, ",\n")] = '\0';
    fprintf(stderr, "colltune: this library is for Open MPI " COLLTUNE_SERIES ", the program runs %s: nothing is tuned\n",
            text);
    return 0;
}

/* Maps the model file; 0 when it is not to be used, and says why. */
static int colltune_map(void)
{
    struct stat about;
    const unsigned char *file;
    int descriptor = open(colltune_order.model, O_RDONLY), number;
    char digest[17] = "";

    if (descriptor < 0 || fstat(descriptor, &about) != 0 || about.st_size < 64) {
        fprintf(stderr, "colltune: the model %s cannot be read: nothing is tuned\n", colltune_order.model);
        return 0;
    }
    file = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    close(descriptor);
    if (file == MAP_FAILED || memcmp(file, "CTONLIN1", 8) != 0) {
        fprintf(stderr, "colltune: %s is no model: nothing is tuned\n", colltune_order.model);
        return 0;
    }
    memcpy(digest, file + 24, 16);
    if (strcmp(digest, COLLTUNE_TABLE) != 0) {
        fprintf(stderr, "colltune: the model %s is of the table %s, this library of " COLLTUNE_TABLE
                ": nothing is tuned\n", colltune_order.model, digest);
        return 0;
    }
    if (strncmp((const char *)file + 40, COLLTUNE_VERSION, 24) != 0) {
        fprintf(stderr, "colltune: the model %s is of Open MPI %.24s, this library of " COLLTUNE_VERSION
                ": nothing is tuned\n", colltune_order.model, (const char *)file + 40);
        return 0;
    }
    for (number = 0; number < COLLTUNE_COLLECTIVES; number++) {
        int there = colltune_find_learnt(file, (uint64_t)about.st_size, colltune_collectives[number],
                                         &colltune_model[number]);

        if (there < 0 || (there > 0 && colltune_model[number].methods != colltune_counts[number])) {
            fprintf(stderr, "colltune: the model %s is damaged: nothing is tuned\n", colltune_order.model);
            return 0;
        }
        colltune_has_model[number] = there;
    }
    return 1;
}

/* A run may start several programs, one after the other or at once: each takes the first name that is free. */
static void colltune_claim(void)
{
    struct colltune_order *order = &colltune_order;
    char path[3 * COLLTUNE_TEXT], name[COLLTUNE_TEXT];
    const char *letter;
    int number = 1, file;

    memcpy(name, order->run, sizeof name);
    while (order->out[0] != '\0' && order->ranks > 0) {
        snprintf(path, sizeof path, "%s/%s.0.trace", order->out, name);
        file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (file >= 0) {
            close(file);
        }
        if (file >= 0 || errno != EEXIST) {
            break;
        }
        snprintf(name, sizeof name, "%.*s.%d", COLLTUNE_TEXT - 16, order->run, ++number);
    }
    memcpy(order->run, name, sizeof name);
    /* Programs have one seed: their names tell them apart. */
    for (letter = order->run; *letter != '\0'; letter++) {
        order->seed = colltune_mixed(order->seed ^ (uint64_t)(unsigned char)*letter);
    }
}

static void colltune_open_trace(int rank, int size)
{
    static const char blanks[65] = "                                                                ";
    char path[3 * COLLTUNE_TEXT], text[512];
    const char *const modes[] = {"off", "trace", "tuning", "tuned"};
    long written;
    size_t piece;

    if (colltune_order.out[0] == '\0' || rank >= colltune_order.ranks) {
        return;
    }
    colltune_records = malloc(COLLTUNE_BUFFERED * sizeof *colltune_records);
    snprintf(path, sizeof path, "%s/%s.%d.trace", colltune_order.out, colltune_order.run, rank);
    colltune_trace = fopen(path, "wb");
    if (colltune_trace == NULL || colltune_records == NULL) {
        fprintf(stderr, "colltune: %s cannot be written: no times are noted\n", path);
        colltune_trace = NULL;
        return;
    }
    snprintf(text, sizeof text, "{\"colltune_trace\": 1, \"rank\": %d, \"ranks\": %d, \"mode\": \"%s\", "
             "\"seed\": \"%llu\", \"library\": \"Open MPI\", \"library_version\": \"" COLLTUNE_VERSION "\", "
             "\"clock\": \"MPI_Wtime\", \"run\": \"", rank, size, modes[colltune_order.mode],
             (unsigned long long)colltune_order.seed);
    fprintf(colltune_trace, "%s%s\", ", text, colltune_order.run);
    for (piece = 0; piece < sizeof colltune_methods_json / sizeof *colltune_methods_json; piece++) {
        fputs(colltune_methods_json[piece], colltune_trace);
    }
    written = ftell(colltune_trace) + 1;
    fwrite(blanks, 1, (size_t)((64 - written % 64) % 64), colltune_trace);
    fputc('\n', colltune_trace);
    fflush(colltune_trace);
}

static void colltune_flush(void)
{
    if (colltune_trace != NULL && colltune_recorded > 0) {
        fwrite(colltune_records, sizeof *colltune_records, (size_t)colltune_recorded, colltune_trace);
        fflush(colltune_trace);
    }
    colltune_recorded = 0;
}

/* After MPI_Init: all processes agree on what is to be done. */
static void colltune_begin(void)
{
    int rank, size, right = 1, all = 0;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        colltune_read_order();
        if (colltune_order.mode != COLLTUNE_MODE_OFF && !colltune_right_library()) {
            colltune_order.mode = COLLTUNE_MODE_OFF;
        }
    }
    PMPI_Bcast(&colltune_order, (int)sizeof colltune_order, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (colltune_order.mode >= COLLTUNE_MODE_TUNING && colltune_order.model[0] != '\0') {
        right = colltune_map();
    } else if (colltune_order.mode == COLLTUNE_MODE_TUNED) {
        colltune_say("COLLTUNE_ONLINE=tuned needs COLLTUNE_ONLINE_MODEL: nothing is tuned", "");
        right = 0;
    }
    /* Before any process goes on to its first call: no call takes longer than the run. */
    colltune_begun = PMPI_Wtime();
    PMPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) {
        colltune_order.mode = COLLTUNE_MODE_OFF;
    }
    if (colltune_order.mode != COLLTUNE_MODE_OFF) {
        if (rank == 0) {
            colltune_claim();
        }
        PMPI_Bcast(&colltune_order, (int)sizeof colltune_order, MPI_BYTE, 0, MPI_COMM_WORLD);
        colltune_open_trace(rank, size);
    }
    colltune_ready = 1;
}

int MPI_Init(int *argc, char ***argv)
{
    int code = PMPI_Init(argc, argv);

    if (code == MPI_SUCCESS) {
        colltune_begin();
    }
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int code = PMPI_Init_thread(argc, argv, required, provided);

    if (code == MPI_SUCCESS) {
        colltune_begin();
    }
    return code;
}

/* What is known of a communicator beside its size; collective, at its first call. */
static void colltune_settle(struct colltune_state *state, MPI_Comm comm)
{
    MPI_Comm node;
    int here = 0, first, number;
    struct { uint64_t id; int nodes; int unused; } shared = {0, 0, 0};

    if (!colltune_ready || colltune_order.mode == COLLTUNE_MODE_OFF) {
        state->skip = COLLTUNE_NO_TOOLS;
        return;
    }
    PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    PMPI_Comm_rank(node, &here);
    PMPI_Comm_free(&node);
    first = here == 0;
    PMPI_Allreduce(&first, &shared.nodes, 1, MPI_INT, MPI_SUM, comm);
    if (state->rank == 0) {
        int world;

        PMPI_Comm_rank(MPI_COMM_WORLD, &world);
        shared.id = ((uint64_t)(world + 1) << 32) | __atomic_add_fetch(&colltune_comms, 1, __ATOMIC_RELAXED);
    }
    PMPI_Bcast(&shared, (int)sizeof shared, MPI_BYTE, 0, comm);
    state->nodes = shared.nodes;
    state->each = (state->size + shared.nodes - 1) / shared.nodes;
    state->id = shared.id;
    state->stream = colltune_stream(colltune_order.seed, shared.id);
    for (number = 0; number < COLLTUNE_COLLECTIVES; number++) {
        if (colltune_has_model[number]) {
            state->row[number] = colltune_row(&colltune_model[number], state->nodes, state->each);
        }
    }
}

/* The method that a call takes, from 1, without a model: any that it is fit for. */
static int colltune_any(int collective, int size, long long bytes, double draw)
{
    const int *needs = colltune_needs + colltune_first_need[collective];
    int method, able = 0, place;

    for (method = 0; method < colltune_counts[collective]; method++) {
        able += colltune_fit(needs[method], size, bytes);
    }
    place = (int)(draw * able);
    for (method = 0; method < colltune_counts[collective]; method++) {
        if (colltune_fit(needs[method], size, bytes) && place-- == 0) {
            return method + 1;
        }
    }
    return 0;
}

/*
 * Chooses; what is to be noted of the call stands in `record` afterwards, `record->comm_size` 0: nothing. `own` is the
 * method that is to run on the communicator, or stays as it is where the library is to be called. Root and type are
 * what an own method goes by.
 */
static MPI_Comm colltune_online(int collective, struct colltune_state *state, MPI_Comm comm, long long bytes, int root,
                                MPI_Datatype type, int *own, struct colltune_record *record)
{
    uint32_t call = __atomic_fetch_add(&state->calls, 1, __ATOMIC_RELAXED);
    int alg = 0, noted, place = 0;
    MPI_Comm used = comm;

    colltune_count(&colltune_calls[collective]);
    if (!colltune_order.collectives[collective]) {
        return comm;
    }
    noted = colltune_order.fraction >= 1.0
        || colltune_draw(state->stream, collective, call, 1) < colltune_order.fraction;
    noted = noted && __atomic_load_n(&state->chosen, __ATOMIC_RELAXED) < colltune_order.most;
    if (colltune_has_model[collective]) {
        place = colltune_place(&colltune_model[collective], state->row[collective], bytes);
    }
    if (colltune_order.mode == COLLTUNE_MODE_TUNED) {
        if (colltune_has_model[collective]) {
            alg = colltune_tuned(&colltune_model[collective], place, state->size, bytes);
        }
    } else if (noted && colltune_order.mode == COLLTUNE_MODE_TUNING) {
        double draw = colltune_draw(state->stream, collective, call, 0);

        alg = colltune_has_model[collective]
            ? colltune_tried(&colltune_model[collective], place, state->size, bytes, draw)
            : colltune_any(collective, state->size, bytes, draw);
    }
    if (alg > 0) {
        const int method = colltune_firsts[collective] + alg;

        if (colltune_unfit(state, method, bytes, root, type) == COLLTUNE_TAKEN) {
            used = colltune_choose(collective, state, comm, method);
            *own = used != comm && colltune_methods[method].own ? method : -1;
        }
    }
    if (noted) {
        __atomic_fetch_add(&state->chosen, 1, __ATOMIC_RELAXED);
        if (colltune_trace != NULL) {
            record->message_size = bytes;
            record->comm = state->id;
            record->call = call;
            record->comm_size = state->size;
            record->nodes = state->nodes;
            record->ppn = (uint16_t)state->each;
            record->collective = (uint8_t)collective;
            /* What could not be had was the library's own decision. */
            record->alg = (uint8_t)(used == comm ? 0 : alg);
            record->start = PMPI_Wtime();
        }
    }
    return used;
}

static int colltune_note(int code, struct colltune_record *record)
{
    if (record->comm_size == 0) {
        return code;
    }
    record->end = PMPI_Wtime();
    colltune_count(&colltune_noted[record->collective]);
    pthread_mutex_lock(&colltune_recording);
    if (colltune_trace != NULL) {
        colltune_records[colltune_recorded++] = *record;
        if (colltune_recorded == COLLTUNE_BUFFERED) {
            colltune_flush();
        }
    }
    pthread_mutex_unlock(&colltune_recording);
    return code;
}

/* Before MPI_Finalize: the rest of the records, and how often what was called, by which programs know the run is whole. */
static void colltune_finish(void)
{
    unsigned long long calls[COLLTUNE_COLLECTIVES], noted[COLLTUNE_COLLECTIVES];
    char path[3 * COLLTUNE_TEXT];
    FILE *stream;
    int number, rank = 0, size = 1;
    double seconds;

    if (!colltune_ready || colltune_order.mode == COLLTUNE_MODE_OFF || colltune_order.out[0] == '\0') {
        return;
    }
    pthread_mutex_lock(&colltune_recording);
    colltune_flush();
    if (colltune_trace != NULL) {
        fclose(colltune_trace);
        colltune_trace = NULL;
    }
    pthread_mutex_unlock(&colltune_recording);
    PMPI_Reduce(colltune_calls, calls, COLLTUNE_COLLECTIVES, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(colltune_noted, noted, COLLTUNE_COLLECTIVES, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    seconds = PMPI_Wtime() - colltune_begun;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank != 0) {
        return;
    }
    snprintf(path, sizeof path, "%s/.%s.totals.json", colltune_order.out, colltune_order.run);
    stream = fopen(path, "w");
    if (stream == NULL) {
        fprintf(stderr, "colltune: %s cannot be written\n", path);
        return;
    }
    fprintf(stream, "{\"run\": \"%s\", \"ranks\": %d, \"seconds\": %.9f, \"collectives\": {", colltune_order.run, size,
            seconds);
    for (number = 0; number < COLLTUNE_COLLECTIVES; number++) {
        fprintf(stream, "%s\"%s\": {\"calls\": %llu, \"noted\": %llu}", number ? ", " : "",
                colltune_collectives[number], calls[number], noted[number]);
    }
    fputs("}}\n", stream);
    fclose(stream);
}
