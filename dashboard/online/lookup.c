/* What was learnt of one collective, as it lies in the model file. */
struct colltune_learnt {
    int methods;
    int axes[3];               /* bins of message size, nodes, processes per node */
    const double *borders[3];  /* their lower borders */
    const int *best;           /* by bin: the method from 1, 0 = as the library decides */
    const float *sums;         /* by bin and method: prefix sums of the probabilities */
    const int *needs;          /* by method: what a call must be like */
};

enum { COLLTUNE_NOTHING, COLLTUNE_TWO_ONLY, COLLTUNE_POWER_OF_TWO, COLLTUNE_EVEN, COLLTUNE_BYTE_EACH, COLLTUNE_NEVER };
/* A number of processes is added to it. */
#define COLLTUNE_EXACTLY 16

/* SplitMix64 */
static uint64_t colltune_mixed(uint64_t z)
{
    z += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* What all draws on a communicator start from. */
static uint64_t colltune_stream(uint64_t seed, uint64_t comm)
{
    return colltune_mixed(colltune_mixed(seed) + comm);
}

/* A number in [0, 1) for a call; for another purpose another one. */
static double colltune_draw(uint64_t stream, int collective, uint64_t call, int purpose)
{
    uint64_t what = ((uint64_t)collective << 48) | call | ((uint64_t)purpose << 62);

    return (double)(colltune_mixed(stream + what) >> 11) * 0x1p-53;
}

/* The last border that is not above a value. */
static int colltune_bin(const double *borders, int count, double value)
{
    int low = 0, high = count;

    while (high - low > 1) {
        int middle = (low + high) / 2;

        if (borders[middle] <= value) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Bins of a communicator; that of the message size is added by calls. */
static int colltune_row(const struct colltune_learnt *learnt, int nodes, int ppn)
{
    return colltune_bin(learnt->borders[1], learnt->axes[1], nodes) * learnt->axes[2]
        + colltune_bin(learnt->borders[2], learnt->axes[2], ppn);
}

static int colltune_place(const struct colltune_learnt *learnt, int row, long long bytes)
{
    return colltune_bin(learnt->borders[0], learnt->axes[0], (double)bytes) * learnt->axes[1] * learnt->axes[2] + row;
}

static int colltune_fit(int need, int size, long long bytes)
{
    switch (need) {
    case COLLTUNE_TWO_ONLY:
        return size == 2;
    case COLLTUNE_POWER_OF_TWO:
        return (size & (size - 1)) == 0;
    case COLLTUNE_EVEN:
        return size % 2 == 0;
    case COLLTUNE_BYTE_EACH:
        return bytes >= size;
    case COLLTUNE_NEVER:
        return 0;
    default:
        return need <= COLLTUNE_EXACTLY || (size == need - COLLTUNE_EXACTLY && bytes >= size);
    }
}

/* The share of a method, 0 where the call is not as it needs it. */
static double colltune_share(const struct colltune_learnt *learnt, const float *sums, int method, int size,
                             long long bytes)
{
    if (!colltune_fit(learnt->needs[method], size, bytes)) {
        return 0;
    }
    return (double)sums[method] - (method > 0 ? (double)sums[method - 1] : 0.0);
}

/* The method, from 1, that is tried in a call; 0 where none can be. */
static int colltune_tried(const struct colltune_learnt *learnt, int place, int size, long long bytes, double draw)
{
    const float *sums = learnt->sums + (size_t)place * (size_t)learnt->methods;
    int low = -1, high = learnt->methods, method;
    double total = 0, sum = 0, below;

    while (high - low > 1) {
        int middle = (low + high) / 2;

        if ((double)sums[middle] > draw) {
            high = middle;
        } else {
            low = middle;
        }
    }
    if (high == learnt->methods) {
        return 0;
    }
    if (colltune_fit(learnt->needs[high], size, bytes)) {
        return high + 1;
    }
    below = high > 0 ? (double)sums[high - 1] : 0.0;
    draw = (draw - below) / ((double)sums[high] - below);
    for (method = 0; method < learnt->methods; method++) {
        total += colltune_share(learnt, sums, method, size, bytes);
    }
    if (!(total > 0)) {
        return 0;
    }
    for (method = 0; method < learnt->methods; method++) {
        sum += colltune_share(learnt, sums, method, size, bytes);
        if (sum > draw * total) {
            return method + 1;
        }
    }
    return 1;
}

/* The best known method, from 1; 0: as the library decides. */
static int colltune_tuned(const struct colltune_learnt *learnt, int place, int size, long long bytes)
{
    const float *sums = learnt->sums + (size_t)place * (size_t)learnt->methods;
    int best = learnt->best[place], method;
    double most = 0;

    if (best == 0 || colltune_fit(learnt->needs[best - 1], size, bytes)) {
        return best;
    }
    best = 0;
    for (method = 0; method < learnt->methods; method++) {
        double share = colltune_share(learnt, sums, method, size, bytes);

        if (share > most) {
            most = share;
            best = method + 1;
        }
    }
    return best;
}

/* Finds a collective in a model file of so many bytes; 0 when it is not there, -1 when the file is damaged. */
static int colltune_find_learnt(const unsigned char *file, uint64_t bytes, const char *name,
                                struct colltune_learnt *learnt)
{
    uint32_t count, number;
    uint64_t size;

    memcpy(&count, file + 8, sizeof count);
    memcpy(&size, file + 16, sizeof size);
    if (size != bytes || 64 + (uint64_t)count * 64 > bytes) {
        return -1;
    }
    for (number = 0; number < count; number++) {
        const unsigned char *entry = file + 64 + (size_t)number * 64;
        int32_t told[4];
        uint64_t offset[3], bins, borders, place;

        if (strncmp((const char *)entry, name, 24) != 0) {
            continue;
        }
        memcpy(told, entry + 24, sizeof told);
        memcpy(offset, entry + 40, sizeof offset);
        if (told[0] < 1 || told[1] < 1 || told[2] < 1 || told[3] < 1 || told[0] > 255 || told[1] > 4096
            || told[2] > 4096 || told[3] > 4096) {
            return -1;
        }
        bins = (uint64_t)told[1] * (uint64_t)told[2] * (uint64_t)told[3];
        borders = (uint64_t)told[1] + (uint64_t)told[2] + (uint64_t)told[3];
        if (offset[0] % 8 || offset[1] % 8 || offset[2] % 8 || offset[0] > bytes || offset[1] > bytes
            || offset[2] > bytes || bytes - offset[0] < borders * 8 || bytes - offset[1] < bins * 4
            || bytes - offset[2] < (bins + 1) * (uint64_t)told[0] * 4) {
            return -1;
        }
        learnt->methods = told[0];
        memcpy(learnt->axes, told + 1, sizeof learnt->axes);
        learnt->borders[0] = (const double *)(const void *)(file + offset[0]);
        learnt->borders[1] = learnt->borders[0] + told[1];
        learnt->borders[2] = learnt->borders[1] + told[2];
        learnt->best = (const int *)(const void *)(file + offset[1]);
        learnt->sums = (const float *)(const void *)(file + offset[2]);
        learnt->needs = (const int *)(const void *)(learnt->sums + bins * (uint64_t)told[0]);
        for (place = 0; place < bins; place++) {
            if (learnt->best[place] < 0 || learnt->best[place] > told[0]) {
                return -1;
            }
        }
        return 1;
    }
    return 0;
}
