#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FUNCTIONS COUNT

DECLARATIONS

static double timed(int (*decide)(int, long long), const int *p, const long long *m, int sizes, long *sum)
{
    struct timespec start, end;
    int i;

    timespec_get(&start, TIME_UTC);
    for (i = 0; i < sizes; i++) *sum += decide(p[i], m[i]);
    timespec_get(&end, TIME_UTC);
    return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / sizes;
}

int main(int argc, char **argv)
{
    int (*const functions[FUNCTIONS])(int, long long) = {NAMES};
    double best[FUNCTIONS];
    long sums[FUNCTIONS];
    int rounds = argc > 1 ? atoi(argv[1]) : 9, sizes, round, i;
    int *p;
    long long *m;

    if (scanf("%d", &sizes) != 1) return 1;
    p = malloc(sizeof *p * (size_t)sizes);
    m = malloc(sizeof *m * (size_t)sizes);
    if (p == NULL || m == NULL) return 1;
    for (i = 0; i < sizes; i++) if (scanf("%d %lld", &p[i], &m[i]) != 2) return 1;
    for (round = 0; round < rounds; round++) {
        for (i = 0; i < FUNCTIONS; i++) {
            double ns;

            sums[i] = 0;
            ns = timed(functions[i], p, m, sizes, &sums[i]);
            if (round == 0 || ns < best[i]) best[i] = ns;
        }
    }
    for (i = 0; i < FUNCTIONS; i++) printf("%.4f %ld\n", best[i], sums[i]);
    return 0;
}
