#ifndef SALLYPORT_SPIN_H
#define SALLYPORT_SPIN_H

#include <stdbool.h>
#include <stdint.h>

/* Looking again and again, and letting others go first in between, instead of going to sleep. What comes from a terminal
 * comes within some microseconds or much later, and on an idle machine, a virtual one above all, to be woken takes longer
 * than all else together. Whether to look is learned: where it is in vain because the program is slow, or takes long
 * because others want the processor, it is left off for a while. */
struct spin {
	int64_t most_us;
	int64_t budget_us;
	unsigned rest; /* so many times not at all */
};

void spin_init(struct spin *spin, int64_t most_us);

/* Looks for something to read from the terminal's master FD. */
void spin_for(struct spin *spin, int fd);

#endif
