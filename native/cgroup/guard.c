#include "cgroup/guard.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "clock.h"
#include "process/tree.h"

#define MS 1000
/* Most commands have ended before the first look, and so do not pay for it. */
#define FIRST_LOOK (25 * MS)
#define SHORTEST_PAUSE (10 * MS)
#define LONGEST_PAUSE (200 * MS)
/* Others' processes that end can hide that ours grow: the tree itself is counted this often at least. */
#define COUNT_EVERY (2000 * MS)
#define KERNEL_PAUSE (100 * MS)

static uint64_t machine_tasks(void)
{
	struct sysinfo info;
	return sysinfo(&info) < 0 ? 0 : info.procs;
}

void guard_open(struct guard *guard, const struct cgroup_host *host, const struct request *request,
		struct record *record)
{
	memset(guard, 0, sizeof *guard);
	guard->look_at = guard->count_again_at = NEVER;
	guard->machine_tasks = request->processes ? machine_tasks() : 0;
	guard->disk = request->disk;
	guard->limits = (struct cgroup_limits){.memory = request->memory, .cpu_milli = request->cpu_milli};
	/* A limit somebody named is kept by the kernel. The default one is looked after: a group would cost every
	 * command more than this guard does. */
	if (request->exact_processes)
		guard->limits.tasks = request->processes;
	if (guard->limits.memory || guard->limits.cpu_milli || guard->limits.tasks)
		cgroup_make(&guard->cgroup, host, request->id, &guard->limits);
	struct cgroup_group *const *of = guard->cgroup.of;
	guard->watched_memory = of[CGROUP_MEMORY] ? 0 : request->memory;
	guard->watched_tasks = of[CGROUP_PIDS] ? 0 : request->processes;
	record->loose_memory = guard->watched_memory != 0;
	record->loose_cpu = request->cpu_milli && !of[CGROUP_CPU];
	record->loose_tasks = guard->limits.tasks && !of[CGROUP_PIDS];
}

void guard_start(struct guard *guard, int64_t now)
{
	if (!guard->watched_tasks && !guard->watched_memory && !guard->disk && guard->cgroup.count == 0)
		return;
	guard->pause = SHORTEST_PAUSE;
	guard->look_at = now + FIRST_LOOK;
	guard->count_again_at = now + COUNT_EVERY;
}

static bool exceeded(struct record *record, enum limit_kind kind, uint64_t value, uint64_t peak)
{
	if (record->limit != LIMIT_NONE)
		return true;
	record->limit = kind;
	record->limit_value = value;
	record->limit_peak = peak;
	return true;
}

bool guard_ask(struct guard *guard, struct record *record)
{
	const struct cgroup *cgroup = &guard->cgroup;
	if (cgroup_hits(cgroup, CGROUP_MEMORY) > 0)
		return exceeded(record, LIMIT_MEMORY, guard->limits.memory, cgroup_peak(cgroup, CGROUP_MEMORY));
	if (cgroup_hits(cgroup, CGROUP_PIDS) > 0)
		return exceeded(record, LIMIT_PROCESSES, guard->limits.tasks, cgroup_peak(cgroup, CGROUP_PIDS));
	return false;
}

static void calm_down(struct guard *guard)
{
	struct sched_param usual = {0};
	if (guard->hurried)
		sched_setscheduler(0, SCHED_OTHER, &usual);
	guard->hurried = false;
}

/* The machine's count costs next to nothing. Only where it has grown by what the tree has left, the tree is counted. */
static bool too_many(struct guard *guard, struct record *record, int64_t now)
{
	uint64_t there = machine_tasks();
	uint64_t grown = there > guard->machine_tasks ? there - guard->machine_tasks : 0;
	if (guard->counted + grown > guard->watched_tasks)
		guard_hurry(guard);
	else if (now < guard->count_again_at)
		return false;
	guard->count_again_at = now + COUNT_EVERY;
	guard->machine_tasks = there;
	guard->counted = tree_tasks(guard->watched_tasks);
	if (guard->counted <= guard->watched_tasks) {
		calm_down(guard);
		guard->pause = SHORTEST_PAUSE;
		return false;
	}
	return exceeded(record, LIMIT_PROCESSES, guard->watched_tasks, guard->counted);
}

/* ---- memory and disk, process by process ---- */

struct sum {
	bool exactly; /* with what is shared shared out, which costs the kernel a walk through all pages */
	bool disk;
	uint64_t memory, written;
};

static uint64_t memory_of(pid_t pid, bool exactly)
{
	char path[64];
	if (exactly) {
		snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
		uint64_t kib = cgroup_number(-1, path, "Pss:");
		if (kib)
			return kib << 10;
	}
	char text[128];
	unsigned long long pages = 0;
	snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
	if (!cgroup_get(-1, path, text, sizeof text) || sscanf(text, "%*u %llu", &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void add_up(pid_t pid, int pidfd, void *context)
{
	struct sum *sum = context;
	(void)pidfd;
	sum->memory += memory_of(pid, sum->exactly);
	if (sum->disk)
		sum->written += record_disk_bytes(pid);
}

static bool too_much(struct guard *guard, struct record *record)
{
	struct sum sum = {.disk = guard->disk != 0};
	tree_walk(add_up, &sum);
	if (guard->watched_memory && sum.memory > guard->watched_memory) {
		sum = (struct sum){.exactly = true, .disk = sum.disk};
		tree_walk(add_up, &sum);
	}
	if (guard->watched_memory && sum.memory > guard->memory_peak)
		guard->memory_peak = sum.memory;
	if (guard->watched_memory && sum.memory > guard->watched_memory)
		return exceeded(record, LIMIT_MEMORY, guard->watched_memory, sum.memory);
	uint64_t written = sum.written + record->disk_bytes;
	if (guard->disk && written > guard->disk)
		return exceeded(record, LIMIT_DISK, guard->disk, written);
	bool near = (guard->watched_memory && sum.memory > guard->watched_memory / 2) ||
		    (guard->disk && written > guard->disk / 2);
	if (near)
		guard->pause = SHORTEST_PAUSE;
	return false;
}

bool guard_look(struct guard *guard, struct record *record, int64_t now)
{
	int64_t most = guard->cgroup.count || guard->watched_memory || guard->disk ? KERNEL_PAUSE : LONGEST_PAUSE;
	guard->pause = guard->pause * 2 < most ? guard->pause * 2 : most;
	bool over = guard_ask(guard, record) || (guard->watched_tasks && too_many(guard, record, now)) ||
		    ((guard->watched_memory || guard->disk) && too_much(guard, record));
	guard->look_at = over ? NEVER : monotonic_us() + guard->pause;
	return over;
}

void guard_hurry(struct guard *guard)
{
	struct sched_param first = {.sched_priority = 1};
	/* Not everybody may; then it takes longer. */
	guard->hurried = guard->hurried || sched_setscheduler(0, SCHED_RR, &first) == 0;
}

void guard_tell(struct guard *guard, struct record *record)
{
	uint64_t peak = cgroup_peak(&guard->cgroup, CGROUP_MEMORY);
	record->tree_peak = peak ? peak : guard->memory_peak;
	record->tree_cpu_us = cgroup_cpu_us(&guard->cgroup);
}

void guard_close(struct guard *guard)
{
	calm_down(guard);
	cgroup_remove(&guard->cgroup);
}
