#include "process/rlimits.h"

#include <stdbool.h>
#include <sys/resource.h>

/* What a login shell has. Node raises its own to the hard limit, which would slow programs that close them all and
 * break those that use select(). */
#define USUAL_OPEN_FILES 1024
/* RLIMIT_NPROC counts all tasks of the user, whoever started them. It is only to stop what would bring the machine
 * down before the keeper looks, so it is far above what a tree within its own limit could be part of. */
#define USER_TIMES 4
/* One process's data where the kernel cannot count a tree's memory: threads' stacks and what runtimes only reserve
 * must have room besides. */
#define DATA_ROOM (1ull << 30)

/* FIXED: the command cannot raise it again. */
static const char *set(int resource, const char *step, rlim_t soft, bool fixed)
{
	struct rlimit limit;
	if (getrlimit(resource, &limit) < 0)
		return step;
	limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
	if (fixed)
		limit.rlim_max = limit.rlim_cur;
	return setrlimit(resource, &limit) < 0 ? step : NULL;
}

static const char *lower(int resource, const char *step, rlim_t most)
{
	struct rlimit limit;
	if (getrlimit(resource, &limit) < 0)
		return step;
	return limit.rlim_cur <= most ? NULL : set(resource, step, most, true);
}

const char *rlimits_set(const struct request *request, uint64_t tasks)
{
	const char *failed = set(RLIMIT_CORE, "limit-core", 0, false);
	if (!failed)
		failed = set(RLIMIT_NOFILE, "limit-files", request->open_files ? request->open_files : USUAL_OPEN_FILES,
			     request->open_files != 0);
	if (!failed && request->file_size)
		failed = set(RLIMIT_FSIZE, "limit-file-size", request->file_size, true);
	if (!failed && request->processes)
		failed = lower(RLIMIT_NPROC, "limit-processes", USER_TIMES * (request->processes + tasks));
	if (!failed && request->memory)
		failed = lower(RLIMIT_DATA, "limit-data", request->memory + DATA_ROOM);
	return failed;
}
