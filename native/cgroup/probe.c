#include <stdio.h>

#include "cgroup/cgroup.h"

/* Limits that any machine can set, and that do not affect the group, because it stays empty. */
static const struct cgroup_limits trial = {.memory = 1ull << 30, .cpu_milli = 1000, .tasks = 1000};

static const char *boolean(bool value)
{
	return value ? "true" : "false";
}

/* Returns the version of the hierarchies that are mounted, or 0 if there are none with controllers. */
static int mounted_version(const struct cgroup_host *host)
{
	int version = host->user_slice[0] ? 2 : 0;
	for (int controller = 0; controller < CGROUP_CONTROLLERS; controller++)
		if (host->locations[controller].version > version)
			version = host->locations[controller].version;
	return version;
}

int cgroup_probe(const char *self)
{
	struct cgroup_host host = {0};
	struct cgroup cgroup;
	cgroup_discover(&host, self);
	int version = mounted_version(&host);
	cgroup_create(&cgroup, &host, "probe", &trial);
	printf("{\"version\":%d,\"memory\":%s,\"cpu\":%s,\"processes\":%s,\"scope\":%s}\n", version,
	       boolean(cgroup.of[CGROUP_MEMORY]), boolean(cgroup.of[CGROUP_CPU]), boolean(cgroup.of[CGROUP_PIDS]),
	       boolean(host.in_scope));
	cgroup_remove(&cgroup);
	return 0;
}
