/* LD_PRELOAD for ranks that share few cores: a rank that waits for a message sleeps until one comes.
 *
 * Open MPI with mpi_yield_when_idle calls sched_yield() between two looks at its sockets. Here that waits, half a
 * millisecond at most, for the epoll descriptor which the thread looked at last; once something came, the next
 * few calls return at once. Needs opal_event_include=epoll and mpi_event_tick_rate=1. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>

enum { LOOKS = 4, LONGEST_NS = 500000 };
static __thread int looked_at = -1, idle;

int epoll_wait(int descriptor, struct epoll_event *events, int most, int timeout) {
    static int (*real)(int, struct epoll_event *, int, int);
    if (!real) real = dlsym(RTLD_NEXT, "epoll_wait");
    if (looked_at < 0) prctl(PR_SET_TIMERSLACK, 1000);
    looked_at = descriptor;
    int count = real(descriptor, events, most, timeout);
    if (count > 0) idle = 0;
    return count;
}

int sched_yield(void) {
    if (looked_at < 0 || ++idle < LOOKS) return 0;
    int saved = errno;
    struct pollfd wait = {looked_at, POLLIN, 0};
    ppoll(&wait, 1, &(struct timespec){0, LONGEST_NS}, NULL);
    errno = saved;
    return 0;
}
