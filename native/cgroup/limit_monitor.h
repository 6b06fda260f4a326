#ifndef SALLYPORT_LIMIT_MONITOR_H
#define SALLYPORT_LIMIT_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "cgroup/cgroup.h"
#include "ipc/request.h"
#include "session/exit_record.h"

/* Keeps one command's tree within its limits: what the kernel counts is asked of it, the rest is looked at. */
struct limit_monitor {
	struct cgroup cgroup;
	struct cgroup_limits limits; /* as asked for */
	uint64_t disk;
	uint64_t watched_tasks, watched_memory; /* what the keeper itself has to look at; 0: nothing */
	uint64_t system_tasks;                  /* of the whole machine, when the tree was last counted */
	uint64_t counted;                       /* tasks of the tree then */
	uint64_t memory_peak;
	int64_t check_at, interval, count_again_at;
	bool priority_raised;
};

/* Takes the limits up before the launch. What cannot be had is noted in RECORD. */
void limit_monitor_open(struct limit_monitor *monitor, const struct cgroup_host *host, const struct request *request,
			struct exit_record *record);

/* The command runs since NOW. */
void limit_monitor_start(struct limit_monitor *monitor, int64_t now);

/* Compares the tree with its limits. True: RECORD has a limit that was exceeded. Sets when to look again. */
bool limit_monitor_check(struct limit_monitor *monitor, struct exit_record *record, int64_t now);

/* The same, but only of what the kernel knows: also right when processes have ended. */
bool limit_monitor_check_cgroup(struct limit_monitor *monitor, struct exit_record *record);

/* Goes before everything else on the machine until limit_monitor_close: a tree to be ended may be all over it. */
void limit_monitor_raise_priority(struct limit_monitor *monitor);

/* What the tree used, as far as the kernel counted it. */
void limit_monitor_report_usage(struct limit_monitor *monitor, struct exit_record *record);

void limit_monitor_close(struct limit_monitor *monitor);

#endif
