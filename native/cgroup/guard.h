#ifndef SALLYPORT_GUARD_H
#define SALLYPORT_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "cgroup/cgroup.h"
#include "ipc/request.h"
#include "session/record.h"

/* Keeps one command's tree within its limits: what the kernel counts is asked of it, the rest is looked at. */
struct guard {
	struct cgroup cgroup;
	struct cgroup_limits limits; /* as asked for */
	uint64_t disk;
	uint64_t watched_tasks, watched_memory; /* what the keeper itself has to look at; 0: nothing */
	uint64_t machine_tasks; /* of the whole machine, when the tree was last counted */
	uint64_t counted;       /* tasks of the tree then */
	uint64_t memory_peak;
	int64_t look_at, pause, count_again_at;
	bool hurried;
};

/* Takes the limits up before the launch. What cannot be had is noted in RECORD. */
void guard_open(struct guard *guard, const struct cgroup_host *host, const struct request *request,
		struct record *record);

/* The command runs since NOW. */
void guard_start(struct guard *guard, int64_t now);

/* Compares the tree with its limits. True: RECORD has a limit that was exceeded. Sets when to look again. */
bool guard_look(struct guard *guard, struct record *record, int64_t now);

/* The same, but only of what the kernel knows: also right when processes have ended. */
bool guard_ask(struct guard *guard, struct record *record);

/* Goes before everything else on the machine until guard_close: a tree to be ended may be all over it. */
void guard_hurry(struct guard *guard);

/* What the tree used, as far as the kernel counted it. */
void guard_tell(struct guard *guard, struct record *record);

void guard_close(struct guard *guard);

#endif
