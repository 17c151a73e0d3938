/* Shifts the wall clock of one process by the seconds in the file CLOCK_SHIFT. Loaded with LD_PRELOAD. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *at) {
    int status = (int)syscall(SYS_clock_gettime, clock, at);
    const char *path = getenv("CLOCK_SHIFT");
    if (status == 0 && clock == CLOCK_REALTIME && path != NULL) {
        FILE *file = fopen(path, "r");
        long shift = 0;
        if (file != NULL) {
            if (fscanf(file, "%ld", &shift) == 1) at->tv_sec += shift;
            fclose(file);
        }
    }
    return status;
}
