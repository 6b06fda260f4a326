#ifndef SALLYPORT_LIMIT_MONITOR_H
#define SALLYPORT_LIMIT_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "cgroup/cgroup.h"
#include "ipc/request.h"
#include "session/exit_record.h"

/* Monitors the limits of a command's process tree. It reads the counters of the kernel for limits that a cgroup
 * enforces, and measures the others itself. */
struct limit_monitor {
	struct cgroup cgroup;
	struct cgroup_limits limits; /* as requested */
	uint64_t disk;
	uint64_t watched_tasks, watched_memory; /* limits that the keeper measures itself, or 0 */
	uint64_t system_tasks;                  /* tasks on the machine when the tree was last counted */
	uint64_t counted;                       /* tasks of the tree at that time */
	uint64_t memory_peak;
	uint64_t last_tasks; /* tasks on the machine at the last check */
	int64_t check_at, interval, count_again_at;
	int64_t sample_at, sample_interval; /* of the memory peak, where no cgroup counts it */
	bool priority_raised;
	const struct cgroup_host *host;
	uint64_t oom_kills;  /* around the keeper, when they were last counted */
	int64_t oom_seen_at; /* when the number had grown, or NEVER */
};

/* Sets up the limits before the launch. Limits that the kernel cannot enforce are recorded in RECORD. */
void limit_monitor_open(struct limit_monitor *monitor, struct cgroup_host *host, const struct request *request,
			struct exit_record *record);

/* Schedules the first check of a command that was started at NOW. */
void limit_monitor_start(struct limit_monitor *monitor, int64_t now);

/* Compares the tree with its limits and schedules the next check. Returns true if a limit was exceeded, and stores it
 * in RECORD. */
bool limit_monitor_check(struct limit_monitor *monitor, struct exit_record *record, int64_t now);

/* Returns true if the kernel has counted that a limit was exceeded, and stores the limit in RECORD. The counters remain
 * correct after processes have exited. */
bool limit_monitor_check_cgroup(struct limit_monitor *monitor, struct exit_record *record);

/* Reports whether the kernel has killed a process around the keeper for lack of memory shortly before NOW, other than for
 * the command's own limit. Returns false if that is not known. */
bool limit_monitor_out_of_memory(struct limit_monitor *monitor, int64_t now);

/* Gives the keeper a real-time priority until limit_monitor_close, because a tree that is being killed may use all
 * CPUs. */
void limit_monitor_raise_priority(struct limit_monitor *monitor);

/* Stores the peak memory and CPU time of the tree in RECORD. */
void limit_monitor_report_usage(struct limit_monitor *monitor, struct exit_record *record);

void limit_monitor_close(struct limit_monitor *monitor);

#endif
