#include "spin.h"

#include <sched.h>
#include <sys/ioctl.h>

#include "clock.h"

/* After so many times it may be different. */
#define REST_IN_VAIN 32u
#define REST_CROWDED 256u
#define CROWDED_US 150 /* no program that answers a key, nor the kernel's worker, takes the processor for so long */

/* With a single processor whoever is waited for runs sooner when we sleep. */
static bool have_processors(void)
{
	static int count;
	cpu_set_t set;
	if (count == 0)
		count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	return count > 1;
}

void spin_init(struct spin *spin, int64_t most_us)
{
	*spin = (struct spin){.most_us = most_us, .budget_us = most_us};
}

static void came(struct spin *spin)
{
	spin->budget_us = spin->budget_us * 2 < spin->most_us ? spin->budget_us * 2 : spin->most_us;
}

static void in_vain(struct spin *spin)
{
	spin->budget_us /= 2;
	if (spin->budget_us >= spin->most_us / 8)
		return;
	spin->budget_us = spin->most_us / 4;
	spin->rest = REST_IN_VAIN;
}

void spin_for(struct spin *spin, int fd)
{
	int there = 0;
	if (!have_processors())
		return;
	if (spin->rest > 0) {
		spin->rest--;
		return;
	}
	int64_t now = monotonic_us(), last = now, until = now + spin->budget_us;
	/* Asked this way the kernel only looks; a read or a poll that finds nothing would sleep for its own worker. */
	while (ioctl(fd, FIONREAD, &there) == 0 && there == 0 && now < until) {
		sched_yield();
		last = now;
		now = monotonic_us();
		if (now - last > CROWDED_US) {
			spin->rest = REST_CROWDED;
			return;
		}
	}
	if (there > 0)
		came(spin);
	else
		in_vain(spin);
}
