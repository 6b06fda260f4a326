#ifndef SALLYPORT_LAUNCH_H
#define SALLYPORT_LAUNCH_H

#include <sys/types.h>

#include "cgroup/limit_monitor.h"
#include "ipc/request.h"

struct pid_namespace;
struct sandbox;

/* The step of a start that failed, by name, and its errno: "not found", "not allowed" and "no more processes" are
 * different answers (promise 8). */
struct launch_failure {
	const char *step;
	int error;
};

/* Starts the command with the given descriptors as stdin, stdout and stderr. Returns its pid; or -1 with FAILURE
 * filled in, and then nothing is left of it. ISOLATION: its pid namespace, where it has one of its own; else NULL. */
pid_t launch(const struct request *request, const struct sandbox *sandbox, const struct limit_monitor *limits,
	     const int stdio[3], struct pid_namespace **pid_ns, struct launch_failure *failure);

#endif
