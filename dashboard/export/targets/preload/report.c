/* What was called and what was passed on, told at the end. */

static void colltune_print(FILE *stream, int processes, const unsigned long long *called,
                           unsigned long long (*passed)[COLLTUNE_REASONS])
{
    int number, reason;

    fprintf(stream, "colltune: calls of all %d processes together\n", processes);
    for (number = 0; number < COLLTUNE_METHODS; number++) {
        if (called[number] > 0) {
            fprintf(stream, "colltune: %s: %llu by %s%s\n", colltune_collectives[colltune_methods[number].collective],
                    called[number], colltune_methods[number].label,
                    colltune_makes(number) || colltune_methods[number].acting > 0 ? "" : " (as the library decides)");
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
    int wanted = colltune_said("COLLTUNE_REPORT");
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
    int there = 0;

    pthread_once(&colltune_once, colltune_start);
#ifdef COLLTUNE_ONLINE
    colltune_finish();
#endif
    for (state = colltune_states; state != NULL; state = state->after) {
        colltune_add_up(state);
    }
    colltune_report();
    PMPI_Comm_get_attr(MPI_COMM_WORLD, colltune_key, &state, &there);
    if (there) {
        PMPI_Comm_delete_attr(MPI_COMM_WORLD, colltune_key);
    }
    colltune_over = 1;
    colltune_close_tools();
    return PMPI_Finalize();
}
