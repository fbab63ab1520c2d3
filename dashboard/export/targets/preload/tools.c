/* Control variables of the MPI tool interface: found once, written for a method, put back afterwards. */

static int colltune_is_off;
static int colltune_has_tools;
static int colltune_one_thread;  /* only one makes calls: the program asked for no more, or says so */

static int colltune_said(const char *name)
{
    const char *said = getenv(name);

    return said != NULL && *said != '\0' && strcmp(said, "0") != 0;
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

#if COLLTUNE_NAMED
/* Place of a name in the list with which MPICH describes a variable, "name - what it is" on each line; INT_MIN: not there. */
static int colltune_place_of(const char *variable, const char *wanted)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    char name[256], text[16384];
    int index, length = (int)sizeof name, described = (int)sizeof text, verbosity, binding, scope, place = 0;
    const char *line, *next;
    MPI_Datatype datatype;
    MPI_T_enum values;

    if (MPI_T_cvar_get_index(variable, &index) != MPI_SUCCESS
        || MPI_T_cvar_get_info(index, name, &length, &verbosity, &datatype, &values, text, &described, &binding, &scope)
               != MPI_SUCCESS) {
        return INT_MIN;
    }
    for (line = text; line != NULL; line = next) {
        size_t word = strspn(line, letters), blanks = strspn(line + word, " ");

        if (word > 0 && blanks > 0 && strncmp(line + word + blanks, "- ", 2) == 0) {
            if (strlen(wanted) == word && memcmp(line, wanted, word) == 0) {
                return place;
            }
            place++;
        }
        next = strchr(line, '\n');
        next = next == NULL ? NULL : next + 1;
    }
    return INT_MIN;
}
#endif

static void colltune_open_tools(void)
{
    int level, provided, number;

    /* Open MPI takes the level that is asked for here for all of MPI: it must be the program's own. */
    PMPI_Query_thread(&level);
    colltune_one_thread = level < MPI_THREAD_MULTIPLE || colltune_said("COLLTUNE_ONE_THREAD");
    colltune_is_off = colltune_said("COLLTUNE_OFF");
    if (colltune_is_off || MPI_T_init_thread(level, &provided) != MPI_SUCCESS) {
        return;
    }
    colltune_has_tools = 1;
    for (number = 0; number < COLLTUNE_VARIABLES; number++) {
        colltune_variables[number].there = colltune_open(&colltune_variables[number]);
    }
#if COLLTUNE_NAMED
    for (number = 0; number < (int)(sizeof colltune_settings / sizeof *colltune_settings); number++) {
        struct colltune_setting *setting = &colltune_settings[number];

        if (setting->name != NULL) {
            setting->value = colltune_place_of(colltune_variables[setting->variable].name, setting->name);
        }
    }
#endif
}

static void colltune_close_tools(void)
{
    int number;

    for (number = 0; number < COLLTUNE_VARIABLES && colltune_has_tools; number++) {
        if (colltune_variables[number].there) {
            MPI_T_cvar_handle_free(&colltune_variables[number].handle);
        }
    }
    if (colltune_has_tools) {
        MPI_T_finalize();
    }
}

/* Reads what the variables of some settings hold before they are written; 0 when the library lacks one. */
static int colltune_keep(int first, int settings)
{
    int number;

    for (number = first; number < first + settings; number++) {
        struct colltune_variable *variable = &colltune_variables[colltune_settings[number].variable];

        if (!variable->there || colltune_settings[number].value == INT_MIN
            || (!variable->kept && MPI_T_cvar_read(variable->handle, &variable->before) != MPI_SUCCESS)) {
            return 0;
        }
        variable->kept = 1;
    }
    return 1;
}

/*
 * Writes settings whose variables are kept; 0 when the library does not let them be. What is said already is not
 * written: some can be read only, such as those that Open MPI 4.1 is told in the environment.
 */
static int colltune_set(int first, int settings)
{
    int number;

    for (number = first; number < first + settings; number++) {
        struct colltune_variable *variable = &colltune_variables[colltune_settings[number].variable];
        int value = colltune_settings[number].value;
        unsigned char flag = (unsigned char)(value != 0);

        if (variable->before != value
            && MPI_T_cvar_write(variable->handle, variable->bytes == 1 ? (void *)&flag : (void *)&value) != MPI_SUCCESS) {
            return 0;
        }
    }
    return 1;
}

/* Puts back what the variables held; those that are read anew before they are written again are kept no more. */
static void colltune_restore(int first, int settings, int anew)
{
    int number;

    for (number = first; number < first + settings; number++) {
        struct colltune_variable *variable = &colltune_variables[colltune_settings[number].variable];

        if (variable->there && variable->kept) {
            if (variable->before != colltune_settings[number].value) {
                MPI_T_cvar_write(variable->handle, &variable->before);
            }
            variable->kept = !anew;
        }
    }
}
