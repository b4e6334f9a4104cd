// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Preloaded into the programs of a host: its clock is CLOCK_SHIM_S seconds off. That of elapsed
 * time is not, nor are timers. (faketime also moves timers, but those of timerfd wrongly.)
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t off_s;

__attribute__((constructor)) static void init(void)
{
	const char *text = getenv("CLOCK_SHIM_S");

	off_s = text ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int ret = syscall(SYS_clock_gettime, clock, now);

	if (!ret && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += off_s;
	return ret;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec real;
	int ret = clock_gettime(CLOCK_REALTIME, &real);

	if (!ret)
		*now = (struct timeval){ real.tv_sec, real.tv_nsec / 1000 };
	return ret;
}

time_t time(time_t *to)
{
	struct timespec real = { 0 };

	clock_gettime(CLOCK_REALTIME, &real);
	if (to)
		*to = real.tv_sec;
	return real.tv_sec;
}
