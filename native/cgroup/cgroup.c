#include "cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cgroup_write(int folder, const char *file, const char *text)
{
	/* Files in cgroupfs ignore O_TRUNC, but the regular files that tests use instead require it. */
	int fd = openat(folder, file, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n = write(fd, text, strlen(text));
	int error = errno;
	close(fd);
	errno = error;
	return n < 0 ? -1 : 0;
}

static int cgroup_write_number(int folder, const char *file, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%" PRIu64, value);
	return cgroup_write(folder, file, text);
}

char *cgroup_read(int folder, const char *file, char *text, size_t room)
{
	int fd = openat(folder, file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	ssize_t n = read(fd, text, room - 1);
	close(fd);
	if (n < 0)
		return NULL;
	text[n] = '\0';
	return text;
}

/* Returns the number after NAME at the start of a line of TEXT, or 0. */
static uint64_t find_number(const char *text, const char *name)
{
	size_t length = strlen(name);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0 && (length == 0 || line[length] == ' '))
			return strtoull(line + length, NULL, 10);
	}
	return 0;
}

uint64_t cgroup_read_number(int folder, const char *file, const char *name)
{
	char text[1024];
	return cgroup_read(folder, file, text, sizeof text) ? find_number(text, name) : 0;
}

bool cgroup_list_contains(const char *words, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = words; (at = strstr(at, word)); at += length) {
		bool starts = at == words || at[-1] == ' ' || at[-1] == ',';
		bool ends = at[length] == '\0' || at[length] == ' ' || at[length] == ',' || at[length] == '\n';
		if (starts && ends)
			return true;
	}
	return false;
}

#define PERIOD_US 100000 /* the default of the kernel */
#define LEAST_QUOTA_US 1000
#define ATTEMPTS 10
#define LIMIT_ROOM (1u << 20) /* the kernel charges memory in batches */

static struct cgroup_group *make_group(struct cgroup *cgroup, int version, const char *base, const char *name)
{
	char path[CGROUP_PATH];
	if (snprintf(path, sizeof path, "%s/%s", base, name) >= (int)sizeof path)
		return NULL;
	/* Controllers of the same hierarchy share a group. */
	for (unsigned i = 0; i < cgroup->count; i++)
		if (strcmp(cgroup->groups[i].path, path) == 0)
			return &cgroup->groups[i];
	if (mkdir(path, 0755) < 0)
		return NULL;
	struct cgroup_group *group = &cgroup->groups[cgroup->count];
	memcpy(group->path, path, sizeof path);
	group->version = version;
	group->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	group->tasks = group->folder < 0
			       ? -1
			       : openat(group->folder, version == 1 ? "tasks" : "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (group->tasks < 0) {
		if (group->folder >= 0)
			close(group->folder);
		rmdir(path);
		return NULL;
	}
	cgroup->count++;
	return group;
}

static bool limit_memory(const struct cgroup_group *group, uint64_t bytes)
{
	if (group->version == 1) {
		if (cgroup_write_number(group->folder, "memory.limit_in_bytes", bytes) < 0)
			return false;
		/* Limit swap as well, otherwise the command would only become slower. */
		(void)cgroup_write_number(group->folder, "memory.memsw.limit_in_bytes", bytes);
		return true;
	}
	if (cgroup_write_number(group->folder, "memory.max", bytes) < 0)
		return false;
	(void)cgroup_write(group->folder, "memory.swap.max", "0");
	(void)cgroup_write(group->folder, "memory.oom.group", "1"); /* the OOM killer kills the whole tree */
	return true;
}

static bool limit_cpu(const struct cgroup_group *group, uint64_t milli)
{
	uint64_t quota = milli * (PERIOD_US / 1000);
	if (quota < LEAST_QUOTA_US)
		quota = LEAST_QUOTA_US;
	if (group->version == 1) {
		if (cgroup_write_number(group->folder, "cpu.cfs_period_us", PERIOD_US) < 0)
			return false;
		/* EINVAL means that a parent has a lower limit, which applies. */
		return cgroup_write_number(group->folder, "cpu.cfs_quota_us", quota) == 0 || errno == EINVAL;
	}
	char text[48];
	snprintf(text, sizeof text, "%llu %d", (unsigned long long)quota, PERIOD_US);
	return cgroup_write(group->folder, "cpu.max", text) == 0;
}

static bool limit_tasks(const struct cgroup_group *group, uint64_t most)
{
	return cgroup_write_number(group->folder, "pids.max", most) == 0;
}

static void create_groups(struct cgroup *cgroup, const struct cgroup_host *host, const char *name,
			  const uint64_t values[CGROUP_CONTROLLERS])
{
	bool (*const set[CGROUP_CONTROLLERS])(const struct cgroup_group *, uint64_t) = {limit_memory, limit_cpu,
											limit_tasks};
	char base[CGROUP_PATH];
	for (enum cgroup_controller controller = 0; controller < CGROUP_CONTROLLERS; controller++) {
		struct cgroup_group *group = NULL;
		/* Retry if a sweep removes the empty base directory in the meantime. */
		for (int attempt = 0; values[controller] && !group && attempt < ATTEMPTS; attempt++)
			if (cgroup_base(host, controller, base))
				group = make_group(cgroup, host->locations[controller].version, base, name);
		if (group && set[controller](group, values[controller]))
			cgroup->of[controller] = group;
	}
}

void cgroup_create(struct cgroup *cgroup, struct cgroup_host *host, const char *id, const struct cgroup_limits *limits)
{
	const uint64_t values[CGROUP_CONTROLLERS] = {limits->memory, limits->cpu_milli, limits->tasks};
	char name[96];
	memset(cgroup, 0, sizeof *cgroup);
	/* The name contains the pid of the keeper, by which a sweep checks whether the group is still in use. */
	snprintf(name, sizeof name, "%s.%d", id, (int)getpid());
	create_groups(cgroup, host, name, values);
	if (cgroup->count == 0 && cgroup_request_delegation(host))
		create_groups(cgroup, host, name, values);
}

int cgroup_clone_target(const struct cgroup *cgroup)
{
	for (unsigned i = 0; i < cgroup->count; i++)
		if (cgroup->groups[i].version == 2)
			return cgroup->groups[i].folder;
	return -1;
}

int cgroup_join(const struct cgroup *cgroup, bool born)
{
	for (unsigned i = 0; i < cgroup->count; i++)
		if (!(born && cgroup->groups[i].version == 2) && write(cgroup->groups[i].tasks, "0", 1) < 0)
			return -1;
	return 0;
}

/* Returns how many processes of the group the kernel has killed because the group, a parent or the machine had no memory
 * left. */
static uint64_t oom_kills_in(const struct cgroup_group *group)
{
	const char *file = group->version == 1 ? "memory.oom_control" : "memory.events";
	return cgroup_read_number(group->folder, file, "oom_kill");
}

/* Reports whether the group has needed more memory than its own limit. */
static bool reached_memory_limit(const struct cgroup_group *group)
{
	if (group->version == 2)
		return cgroup_read_number(group->folder, "memory.events", "oom") > 0;
	/* Version 1 counts no failures at the limit that includes swap. */
	uint64_t limit = cgroup_read_number(group->folder, "memory.limit_in_bytes", "");
	return cgroup_read_number(group->folder, "memory.failcnt", "") > 0 ||
	       cgroup_read_number(group->folder, "memory.memsw.max_usage_in_bytes", "") + LIMIT_ROOM >= limit;
}

uint64_t cgroup_limit_hits(const struct cgroup *cgroup, enum cgroup_controller controller)
{
	const struct cgroup_group *group = cgroup->of[controller];
	if (!group || controller == CGROUP_CPU)
		return 0; /* a command that reaches its CPU limit is only throttled */
	if (controller == CGROUP_PIDS)
		return cgroup_read_number(group->folder, "pids.events", "max");
	return reached_memory_limit(group) ? oom_kills_in(group) : 0;
}

bool cgroup_killed(const struct cgroup *cgroup)
{
	const struct cgroup_group *group = cgroup->of[CGROUP_MEMORY];
	return group && oom_kills_in(group) > 0;
}

uint64_t cgroup_oom_kills(const struct cgroup_host *host)
{
	char text[512];
	ssize_t n = host->oom_events < 0 ? -1 : pread(host->oom_events, text, sizeof text - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return find_number(text, "oom_kill");
}

uint64_t cgroup_peak(const struct cgroup *cgroup, enum cgroup_controller controller)
{
	const struct cgroup_group *group = cgroup->of[controller];
	if (!group || controller == CGROUP_CPU)
		return 0;
	if (controller == CGROUP_PIDS)
		return cgroup_read_number(group->folder, "pids.peak", "");
	return cgroup_read_number(group->folder, group->version == 1 ? "memory.max_usage_in_bytes" : "memory.peak", "");
}

uint64_t cgroup_cpu_us(const struct cgroup *cgroup)
{
	for (unsigned i = 0; i < cgroup->count; i++) {
		const struct cgroup_group *group = &cgroup->groups[i];
		uint64_t us = group->version == 2 ? cgroup_read_number(group->folder, "cpu.stat", "usage_usec")
						  : cgroup_read_number(group->folder, "cpuacct.usage", "") / 1000;
		if (us)
			return us;
	}
	return 0;
}

void cgroup_remove(struct cgroup *cgroup)
{
	for (unsigned i = 0; i < cgroup->count; i++) {
		struct cgroup_group *group = &cgroup->groups[i];
		close(group->tasks);
		close(group->folder);
		rmdir(group->path);
	}
	memset(cgroup, 0, sizeof *cgroup);
}
