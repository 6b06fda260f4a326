#include "cgroup/limit_monitor.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "process/process_tree.h"

#define MS 1000
/* Most commands exit before the first check, so monitoring costs them nothing. */
#define FIRST_CHECK (25 * MS)
#define MIN_INTERVAL (10 * MS)
#define MAX_INTERVAL (200 * MS)
/* Exiting processes of other programs can hide the growth of the tree, so the tree is counted at least this often. */
#define COUNT_INTERVAL (2000 * MS)
#define MAX_CGROUP_INTERVAL (100 * MS)
/* The memory of a tree is only reported, so it is measured less often than a limit is checked, and not in a large tree
 * or while many tasks start: a fork bomb leaves this process little CPU time, and measuring would delay the check of the
 * process limit. */
#define MAX_SAMPLE_INTERVAL (1000 * MS)
#define MAX_SAMPLED_TASKS 256
#define MAX_NEW_TASKS 32
#define FIRST_SAMPLE (500 * MS)
/* A process that is killed for lack of memory may take this long to exit. */
#define OOM_DEATH (5000 * MS)

static uint64_t system_tasks(void)
{
	struct sysinfo info;
	return sysinfo(&info) < 0 ? 0 : info.procs;
}

static void log_unenforced(const struct exit_record *record)
{
	if (record->unenforced_memory && log_first(LOG_UNENFORCED_MEMORY))
		log_warn("limit_monitor", "the memory limit is checked only at intervals: no cgroup is available");
	if (record->unenforced_tasks && log_first(LOG_UNENFORCED_PROCESSES))
		log_warn("limit_monitor", "the process limit is checked only at intervals: no cgroup is available");
	if (record->unenforced_cpu && log_first(LOG_UNENFORCED_CPU))
		log_warn("limit_monitor", "the CPU limit is not enforced: no cgroup is available");
}

void limit_monitor_open(struct limit_monitor *monitor, struct cgroup_host *host, const struct request *request,
			struct exit_record *record)
{
	memset(monitor, 0, sizeof *monitor);
	monitor->check_at = monitor->count_again_at = NEVER;
	monitor->system_tasks = monitor->last_tasks = system_tasks();
	monitor->disk = request->disk;
	monitor->limits = (struct cgroup_limits){.memory = request->memory, .cpu_milli = request->cpu_milli};
	/* The kernel enforces a process limit that a user has set. The default limit is only monitored, because that
	 * costs less than creating a cgroup for every command. */
	if (request->exact_processes)
		monitor->limits.tasks = request->processes;
	if (monitor->limits.memory || monitor->limits.cpu_milli || monitor->limits.tasks)
		cgroup_create(&monitor->cgroup, host, request->id, &monitor->limits);
	monitor->host = host;
	monitor->oom_kills = cgroup_oom_kills(host);
	monitor->oom_seen_at = NEVER;
	struct cgroup_group *const *of = monitor->cgroup.of;
	monitor->watched_memory = of[CGROUP_MEMORY] ? 0 : request->memory;
	monitor->watched_tasks = of[CGROUP_PIDS] ? 0 : request->processes;
	record->unenforced_memory = monitor->watched_memory != 0;
	record->unenforced_cpu = request->cpu_milli && !of[CGROUP_CPU];
	record->unenforced_tasks = monitor->limits.tasks && !of[CGROUP_PIDS];
	log_unenforced(record);
}

void limit_monitor_start(struct limit_monitor *monitor, int64_t now)
{
	monitor->interval = monitor->sample_interval = MIN_INTERVAL;
	monitor->check_at = now + FIRST_CHECK;
	monitor->sample_at = now + FIRST_SAMPLE;
	monitor->count_again_at = now + COUNT_INTERVAL;
}

static bool exceeded(struct exit_record *record, enum limit_kind kind, uint64_t value, uint64_t peak)
{
	if (record->limit != LIMIT_NONE)
		return true;
	record->limit = kind;
	record->limit_value = value;
	record->limit_peak = peak;
	return true;
}

bool limit_monitor_check_cgroup(struct limit_monitor *monitor, struct exit_record *record)
{
	const struct cgroup *cgroup = &monitor->cgroup;
	if (cgroup_limit_hits(cgroup, CGROUP_MEMORY) > 0)
		return exceeded(record, LIMIT_MEMORY, monitor->limits.memory, cgroup_peak(cgroup, CGROUP_MEMORY));
	if (cgroup_limit_hits(cgroup, CGROUP_PIDS) > 0)
		return exceeded(record, LIMIT_PROCESSES, monitor->limits.tasks, cgroup_peak(cgroup, CGROUP_PIDS));
	return false;
}

static void restore_priority(struct limit_monitor *monitor)
{
	struct sched_param usual = {0};
	if (monitor->priority_raised)
		sched_setscheduler(0, SCHED_OTHER, &usual);
	monitor->priority_raised = false;
}

/* Reports whether the tree exceeds its task limit. Reading the number of tasks on the machine is cheap, so the tree is
 * counted only if that number has grown by more than the tree may still use. */
static bool over_task_limit(struct limit_monitor *monitor, struct exit_record *record, int64_t now)
{
	uint64_t now_running = system_tasks();
	uint64_t grown = now_running > monitor->system_tasks ? now_running - monitor->system_tasks : 0;
	if (monitor->counted + grown > monitor->watched_tasks)
		limit_monitor_raise_priority(monitor);
	else if (now < monitor->count_again_at)
		return false;
	monitor->count_again_at = now + COUNT_INTERVAL;
	monitor->system_tasks = now_running;
	monitor->counted = process_tree_tasks(monitor->watched_tasks);
	if (monitor->counted <= monitor->watched_tasks) {
		restore_priority(monitor);
		monitor->interval = MIN_INTERVAL;
		return false;
	}
	return exceeded(record, LIMIT_PROCESSES, monitor->watched_tasks, monitor->counted);
}

/* ---- memory and disk, per process ---- */

struct sum {
	bool exactly; /* count shared pages proportionally, for which the kernel must walk all pages */
	bool disk;
	uint64_t memory, written;
	uint64_t unshared, most_shared; /* pages that may be shared count once, for the process that has most of them */
};

static uint64_t memory_of(pid_t pid, struct sum *sum)
{
	char path[64];
	if (sum->exactly) {
		snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
		uint64_t kib = cgroup_read_number(-1, path, "Pss:");
		if (kib)
			return kib << 10;
	}
	char text[128];
	unsigned long long pages = 0, shared = 0;
	snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
	if (!cgroup_read(-1, path, text, sizeof text) || sscanf(text, "%*u %llu %llu", &pages, &shared) != 2)
		return 0;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	sum->unshared += pages > shared ? (pages - shared) * page : 0;
	if (shared * page > sum->most_shared)
		sum->most_shared = shared * page;
	return pages * page;
}

static void add_process(pid_t pid, int pidfd, void *context)
{
	struct sum *sum = context;
	(void)pidfd;
	sum->memory += memory_of(pid, sum);
	if (sum->disk)
		sum->written += exit_record_disk_bytes(pid);
}

static bool over_memory_or_disk_limit(struct limit_monitor *monitor, struct exit_record *record)
{
	struct sum sum = {.disk = monitor->disk != 0};
	process_tree_walk(add_process, &sum);
	if (monitor->watched_memory && sum.memory > monitor->watched_memory) {
		sum = (struct sum){.exactly = true, .disk = sum.disk};
		process_tree_walk(add_process, &sum);
	}
	if (monitor->watched_memory && sum.memory > monitor->memory_peak)
		monitor->memory_peak = sum.memory;
	if (monitor->watched_memory && sum.memory > monitor->watched_memory)
		return exceeded(record, LIMIT_MEMORY, monitor->watched_memory, sum.memory);
	uint64_t written = sum.written + record->disk_bytes;
	if (monitor->disk && written > monitor->disk)
		return exceeded(record, LIMIT_DISK, monitor->disk, written);
	bool near = (monitor->watched_memory && sum.memory > monitor->watched_memory / 2) ||
		    (monitor->disk && written > monitor->disk / 2);
	if (near)
		monitor->interval = MIN_INTERVAL;
	return false;
}

/* Measures the memory of a tree without a memory limit. That of its largest process is in the exit record anyway. */
static void sample_memory(struct limit_monitor *monitor, int64_t now)
{
	uint64_t before = monitor->last_tasks;
	monitor->last_tasks = system_tasks();
	if (monitor->cgroup.of[CGROUP_MEMORY] || monitor->watched_memory || now < monitor->sample_at ||
	    monitor->last_tasks > before + MAX_NEW_TASKS)
		return;
	/* The tree has at most the tasks that were counted, and all that were started on the machine since then. */
	if (monitor->watched_tasks &&
	    monitor->counted + monitor->last_tasks > monitor->system_tasks + MAX_SAMPLED_TASKS)
		return;
	int64_t longer = monitor->sample_interval * 2;
	monitor->sample_interval = longer < MAX_SAMPLE_INTERVAL ? longer : MAX_SAMPLE_INTERVAL;
	monitor->sample_at = now + monitor->sample_interval;
	struct sum sum = {0};
	process_tree_walk_small(add_process, &sum, MAX_SAMPLED_TASKS);
	uint64_t memory = sum.unshared + sum.most_shared;
	if (memory > monitor->memory_peak)
		monitor->memory_peak = memory;
}

bool limit_monitor_out_of_memory(struct limit_monitor *monitor, int64_t now)
{
	uint64_t kills = cgroup_oom_kills(monitor->host);
	if (kills > monitor->oom_kills)
		monitor->oom_seen_at = now;
	monitor->oom_kills = kills;
	return cgroup_killed(&monitor->cgroup) ||
	       (monitor->oom_seen_at != NEVER && now - monitor->oom_seen_at < OOM_DEATH);
}

bool limit_monitor_check(struct limit_monitor *monitor, struct exit_record *record, int64_t now)
{
	int64_t most =
		monitor->cgroup.count || monitor->watched_memory || monitor->disk ? MAX_CGROUP_INTERVAL : MAX_INTERVAL;
	monitor->interval = monitor->interval * 2 < most ? monitor->interval * 2 : most;
	bool over = limit_monitor_check_cgroup(monitor, record) ||
		    (monitor->watched_tasks && over_task_limit(monitor, record, now)) ||
		    ((monitor->watched_memory || monitor->disk) && over_memory_or_disk_limit(monitor, record));
	if (!over) {
		sample_memory(monitor, now);
		(void)limit_monitor_out_of_memory(monitor, now); /* notes when */
	}
	monitor->check_at = over ? NEVER : monotonic_us() + monitor->interval;
	return over;
}

void limit_monitor_raise_priority(struct limit_monitor *monitor)
{
	struct sched_param first = {.sched_priority = 1};
	/* Requires CAP_SYS_NICE. Without it the check takes longer. */
	monitor->priority_raised = monitor->priority_raised || sched_setscheduler(0, SCHED_RR, &first) == 0;
}

void limit_monitor_report_usage(struct limit_monitor *monitor, struct exit_record *record)
{
	uint64_t peak = cgroup_peak(&monitor->cgroup, CGROUP_MEMORY);
	record->tree_peak = peak ? peak : monitor->memory_peak;
	record->tree_cpu_us = cgroup_cpu_us(&monitor->cgroup);
}

void limit_monitor_close(struct limit_monitor *monitor)
{
	restore_priority(monitor);
	cgroup_remove(&monitor->cgroup);
}
