/* The network between emulated machines: a store-and-forward Ethernet switch in user space.
 *
 *     switch RATE_MBIT DELAY_US NETNS...
 *
 * makes a tap device eth0 with the address 02:00:00:00:00:<port> in each network namespace (a path such as
 * /proc/PID/ns/net), prints "ready" and forwards until it is ended. Port 0 is the head: it is not shaped. A frame
 * takes its time on the sender's wire, half the delay, its place in the queue of the receiver's wire, its time there,
 * and half the delay again. Queues are endless; a sender is read only when its wire is nearly free, so that what is
 * not sent yet waits in its kernel. Frames to all machines are not forwarded: neighbours are told to the machines. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { PORTS = 250, LARGEST = 1600, SMALLEST = 60, GAP = 24, BURST = 8 };
typedef struct { int64_t when; uint64_t order; int port, arrived, bytes; unsigned char *data; } event;

static event *heap;
static int events, room;
static uint64_t order;

static int before(const event *a, const event *b) {
    return a->when != b->when ? a->when < b->when : a->order < b->order;
}

static void push(event frame) {
    if (events == room) {
        room = room ? 2 * room : 1024;
        if (!(heap = realloc(heap, room * sizeof *heap))) abort();
    }
    frame.order = order++;
    int at = events++;
    for (; at && before(&frame, &heap[(at - 1) / 2]); at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = frame;
}

static event pop(void) {
    event first = heap[0], last = heap[--events];
    int at = 0;
    for (int child; (child = 2 * at + 1) < events; at = child) {
        if (child + 1 < events && before(&heap[child + 1], &heap[child])) child++;
        if (!before(&heap[child], &last)) break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return first;
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int plug(const char *netns, int port) {
    int space = open(netns, O_RDONLY | O_CLOEXEC), tap, control;
    if (space < 0 || setns(space, CLONE_NEWNET)) fail(netns);
    close(space);
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    strcpy(request.ifr_name, "eth0");
    if ((tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0) fail("/dev/net/tun");
    if (ioctl(tap, TUNSETIFF, &request)) fail("TUNSETIFF");
    unsigned char mac[6] = {2, 0, 0, 0, 0, port};
    memset(&request.ifr_hwaddr, 0, sizeof request.ifr_hwaddr);
    request.ifr_hwaddr.sa_family = 1;
    memcpy(request.ifr_hwaddr.sa_data, mac, sizeof mac);
    if ((control = socket(AF_INET, SOCK_DGRAM, 0)) < 0 || ioctl(control, SIOCSIFHWADDR, &request)) fail("SIOCSIFHWADDR");
    close(control);
    return tap;
}

int main(int argc, char **argv) {
    int ports = argc - 3;
    if (ports < 1 || ports > PORTS) return fprintf(stderr, "usage: switch RATE_MBIT DELAY_US NETNS...\n"), 2;
    double per_byte = 8000.0 / atof(argv[1]);
    int64_t half_delay = (int64_t)(atof(argv[2]) * 500);
    int64_t sending[PORTS] = {0}, receiving[PORTS] = {0}; /* when each wire is free again */
    int64_t ahead = (int64_t)(2 * 1538 * per_byte);       /* of the wire's time that is read in advance */
    struct pollfd taps[PORTS];
    int fd[PORTS];
    for (int i = 0; i < ports; i++) {
        fd[i] = plug(argv[3 + i], i);
        taps[i].events = POLLIN;
    }
    struct sched_param urgent = {.sched_priority = 50};
    sched_setscheduler(0, SCHED_FIFO, &urgent); /* better times where that is allowed */
    prctl(PR_SET_TIMERSLACK, 1);
    puts("ready");
    fflush(stdout);
    for (;;) {
        int64_t t = now(), wake = INT64_MAX;
        while (events && heap[0].when <= t) {
            event frame = pop();
            if (!frame.arrived) { /* whole in the switch: wait for the receiver's wire */
                double cost = frame.port ? (frame.bytes < SMALLEST ? SMALLEST : frame.bytes) * per_byte + GAP * per_byte : 0;
                int64_t start = frame.when > receiving[frame.port] ? frame.when : receiving[frame.port];
                receiving[frame.port] = start + (int64_t)cost;
                frame.when = receiving[frame.port] + half_delay;
                frame.arrived = 1;
                push(frame);
            } else { /* a machine that is off or whose link is down loses it */
                (void)!write(fd[frame.port], frame.data, frame.bytes);
                free(frame.data);
            }
        }
        if (events) wake = heap[0].when;
        for (int i = 0; i < ports; i++) {
            int busy = i && sending[i] - t > ahead;
            taps[i].fd = busy ? -1 : fd[i];
            taps[i].revents = 0;
            if (busy && sending[i] - ahead < wake) wake = sending[i] - ahead;
        }
        int64_t left = wake == INT64_MAX ? 0 : wake - now();
        struct timespec wait = {left > 0 ? left / 1000000000 : 0, left > 0 ? left % 1000000000 : 0};
        if (ppoll(taps, ports, wake == INT64_MAX ? NULL : &wait, NULL) <= 0) continue;
        for (int i = 0; i < ports; i++) {
            if (taps[i].revents & (POLLERR | POLLNVAL)) fd[i] = -1; /* the machine is off */
            if (!(taps[i].revents & POLLIN)) continue;
            for (int n = 0; n < BURST && (!i || sending[i] - now() <= ahead); n++) {
                unsigned char *data = malloc(LARGEST);
                ssize_t bytes = data ? read(fd[i], data, LARGEST) : -1;
                if (bytes < 14 || data[0] != 2 || data[5] >= ports || data[5] == i) {
                    free(data);
                    if (bytes < 0) break;
                    continue;
                }
                int64_t start = (t = now()) > sending[i] ? t : sending[i];
                double cost = i ? (bytes < SMALLEST ? SMALLEST : bytes) * per_byte + GAP * per_byte : 0;
                sending[i] = start + (int64_t)cost;
                push((event){.when = sending[i] + half_delay, .port = data[5], .bytes = bytes, .data = data});
            }
        }
    }
}
