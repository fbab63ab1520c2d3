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

#if COLLTUNE_ACTING
/* Whether it is known of all variables where the library keeps them. */
static int colltune_is_direct;
#endif

#if COLLTUNE_NAMED
/* Whether an int there belongs to this process and can be written. */
static int colltune_writable(unsigned long place)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long begin, end;
    char line[512], rights[8];
    int there = 0;

    while (maps != NULL && !there && fgets(line, (int)sizeof line, maps) != NULL) {
        there = sscanf(line, "%lx-%lx %7s", &begin, &end, rights) == 3 && strncmp(rights, "rw", 2) == 0
             && place >= begin && place + sizeof(int) <= end;
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return there;
}

/* Whether what is written there is read through the tool interface, and the other way round. */
static int colltune_follows(MPI_T_cvar_handle handle, volatile int *memory, int before)
{
    int other = before ^ 1, read = before, follows;

    follows = MPI_T_cvar_write(handle, &other) == MPI_SUCCESS && *memory == other
           && MPI_T_cvar_write(handle, &before) == MPI_SUCCESS && *memory == before;
    if (follows) {
        *memory = other;
        follows = MPI_T_cvar_read(handle, &read) == MPI_SUCCESS && read == other;
        *memory = before;
    }
    MPI_T_cvar_write(handle, &before);
    return follows;
}

/*
 * Where MPICH keeps a variable: a handle begins with its kind and this address. Four writes through the tool interface
 * take longer than all else that is done for a call. Taken only where it is seen that it is the variable; that needs
 * one thread alone that calls, or a call of another could see what is tried.
 */
static volatile int *colltune_memory(const struct colltune_variable *variable)
{
    unsigned long words[2];
    volatile int *memory;
    int before;

    if (variable->bytes != (int)sizeof(int) || sizeof variable->handle != sizeof *words || !colltune_one_thread) {
        return NULL;
    }
    memcpy(words, *(void *const *)&variable->handle, sizeof words);
    memory = (volatile int *)words[1];
    if (words[1] % sizeof(int) != 0 || !colltune_writable(words[1])
        || MPI_T_cvar_read(variable->handle, &before) != MPI_SUCCESS || *memory != before) {
        return NULL;
    }
    return colltune_follows(variable->handle, memory, before) ? memory : NULL;
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
    colltune_is_direct = 1;
    for (number = 0; number < COLLTUNE_VARIABLES; number++) {
        struct colltune_variable *variable = &colltune_variables[number];

        variable->memory = variable->there ? colltune_memory(variable) : NULL;
        colltune_is_direct &= variable->memory != NULL;
    }
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

#if COLLTUNE_ACTING
/* The method whose variables act on the call that is made, or -1. */
static int colltune_acts = -1;

/* Writes settings, or puts back what was there, straight to where the library keeps the variables. */
static void colltune_write(int first, int settings, int back)
{
    const struct colltune_setting *setting = &colltune_settings[first], *end = setting + settings;

    for (; setting < end; setting++) {
        const struct colltune_variable *variable = &colltune_variables[setting->variable];

        *variable->memory = back ? variable->before : setting->value;
    }
}

/*
 * Some variables act on calls, not on communicators that are made. They are put back after each: the library calls
 * collectives of its own, for processes that may have called others, and all of them must see the same.
 */
static void colltune_act(int method)
{
    const struct colltune_method *chosen = &colltune_methods[method];

    if (colltune_is_direct) {
        colltune_write(chosen->first + chosen->settings, chosen->acting, 0);
    } else {
        colltune_set(chosen->first + chosen->settings, chosen->acting);
    }
    colltune_acts = method;
}

static void colltune_acted(void)
{
    const struct colltune_method *chosen = &colltune_methods[colltune_acts];

    if (colltune_is_direct) {
        colltune_write(chosen->first + chosen->settings, chosen->acting, 1);
    } else {
        colltune_restore(chosen->first + chosen->settings, chosen->acting, 0);
    }
    colltune_acts = -1;
}
#endif
