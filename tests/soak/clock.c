/* The wall clock of one process, wrong by what a file says: loaded with LD_PRELOAD.
 *
 * CLOCK_FILE names a file of eight bytes, how many nanoseconds the clock is ahead. It is mapped, so a change takes
 * effect at once. The monotonic clock stays as it is. libfaketime does the same and more; it breaks redis-server
 * (jemalloc asks for the time while it is set up) and Python's sleep, and notices a change only every second.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static volatile int64_t nothing = 0;
static volatile int64_t *ahead = &nothing;

__attribute__((constructor)) static void map_file(void) {
    const char *name = getenv("CLOCK_FILE");
    int file = name ? open(name, O_RDONLY) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        ahead = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t wrong = now->tv_sec * SECOND + now->tv_nsec + *ahead;
        now->tv_sec = wrong / SECOND;
        now->tv_nsec = wrong % SECOND;
    }
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec precise;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (now)
        *now = precise.tv_sec;
    return precise.tv_sec;
}
