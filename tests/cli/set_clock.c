/* For LD_PRELOAD: what a machine's clocks say that was set, or slept. The file CLOCKS_FILE holds two numbers of
   nanoseconds, to be added to the wall clock and to the one that goes on while the machine sleeps. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *ahead;

__attribute__((constructor)) static void open_file(void) {
    const char *path = getenv("CLOCKS_FILE");
    int file = path ? open(path, O_RDONLY) : -1;
    if (file < 0)
        return;
    void *map = mmap(NULL, 2 * sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    if (map != MAP_FAILED)
        ahead = map;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int failed = syscall(SYS_clock_gettime, clock, time);
    if (!failed && ahead && (clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME)) {
        int64_t nanoseconds = time->tv_nsec + ahead[clock == CLOCK_BOOTTIME] % 1000000000;
        time->tv_sec += ahead[clock == CLOCK_BOOTTIME] / 1000000000 + (nanoseconds >= 1000000000) - (nanoseconds < 0);
        time->tv_nsec = (nanoseconds + 1000000000) % 1000000000;
    }
    return failed;
}
