#ifndef SALLYPORT_LIMIT_MONITOR_H
#define SALLYPORT_LIMIT_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "cgroup/cgroup.h"
#include "ipc/request.h"
#include "session/exit_record.h"

/* Keeps one command's tree within its limits: reads the kernel's counters where a cgroup enforces a limit, and measures
 * the rest itself. */
struct limit_monitor {
	struct cgroup cgroup;
	struct cgroup_limits limits; /* as requested */
	uint64_t disk;
	uint64_t watched_tasks, watched_memory; /* limits the keeper has to measure; 0: none */
	uint64_t system_tasks;                  /* of the machine, when the tree was last counted */
	uint64_t counted;                       /* tasks of the tree at that time */
	uint64_t memory_peak;
	int64_t check_at, interval, count_again_at;
	bool priority_raised;
};

/* Sets up the limits before the launch. Limits that the kernel cannot enforce are noted in RECORD. */
void limit_monitor_open(struct limit_monitor *monitor, const struct cgroup_host *host, const struct request *request,
			struct exit_record *record);

/* The command has been running since NOW. */
void limit_monitor_start(struct limit_monitor *monitor, int64_t now);

/* Compares the tree with its limits and schedules the next check. True: a limit was exceeded, see RECORD. */
bool limit_monitor_check(struct limit_monitor *monitor, struct exit_record *record, int64_t now);

/* The same for the kernel's counters only. Also correct after processes have exited. */
bool limit_monitor_check_cgroup(struct limit_monitor *monitor, struct exit_record *record);

/* Runs the keeper before all other processes until limit_monitor_close: a tree that is being killed may use the whole
 * machine. */
void limit_monitor_raise_priority(struct limit_monitor *monitor);

/* Adds the usage that the kernel has counted. */
void limit_monitor_report_usage(struct limit_monitor *monitor, struct exit_record *record);

void limit_monitor_close(struct limit_monitor *monitor);

#endif
