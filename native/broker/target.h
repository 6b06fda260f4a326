#ifndef SALLYPORT_TARGET_H
#define SALLYPORT_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The thread that waits for the answer to a call. */
struct target {
	int listener;
	uint64_t id;
	pid_t tid;
};

/* Returns a duplicate of the target's descriptor FD, or -1 with errno. */
int target_take_descriptor(const struct target *target, int fd);

/* Copies LENGTH bytes at ADDRESS in the target's memory. Returns 0 or an errno. */
int target_read(const struct target *target, uint64_t address, void *bytes, size_t length);

enum target_signal {
	SIGNAL_NONE,
	SIGNAL_OWN,    /* a signal that this thread will handle */
	SIGNAL_SHARED, /* a signal that another thread of the process may handle */
};

/* Returns the kind of signal that is pending for TID and not blocked. */
enum target_signal target_pending_signal(pid_t tid);

#endif
