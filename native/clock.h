#ifndef SALLYPORT_CLOCK_H
#define SALLYPORT_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NEVER INT64_MAX

/* Returns the time of the monotonic clock in microseconds. Deadlines use this clock, because it does not jump when the
 * system time is set. */
static inline int64_t monotonic_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static inline int64_t unix_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

#endif
