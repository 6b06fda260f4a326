#ifndef SALLYPORT_LAUNCH_H
#define SALLYPORT_LAUNCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cgroup/limit_monitor.h"
#include "ipc/request.h"
#include "launch_failure.h"
#include "sandbox/namespaces.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_cache.h"

/* Starts the command with STDIO as stdin, stdout and stderr. Returns its pid; or -1 with FAILURE filled in, and then no
 * process is left. PID_NS: its pid namespace, or NULL if it has none of its own. */
pid_t launch(const struct request *request, const struct sandbox *sandbox, const struct limit_monitor *limits,
	     const int stdio[3], struct pid_namespace **pid_ns, struct launch_failure *failure);

/* From fork to exec. The child shares memory with the keeper, so it only makes system calls: no locks, no
 * allocation. */

struct launch_context {
	const struct request *request;
	const struct sandbox *sandbox;
	const struct limit_monitor *limits;
	const int *stdio;
	pid_t keeper;
	bool born_in_cgroup; /* the kernel started it in its cgroup */
};

/* Written by the child and read by the keeper, in shared memory: after vfork they share everything, but a child started
 * in a cgroup has its own copy. */
struct child_report {
	_Atomic(const char *) step; /* the step that failed; NULL: none */
	atomic_int error;
	struct pid_namespace pid_ns;
};

/* The only report; NULL: out of memory. */
struct child_report *child_report_get(void);
void child_report_clear(struct child_report *report);

/* Reports errno and exits the child. */
__attribute__((noreturn)) void child_fail(const char *step);

/* The two halves of the child's work, for one that is forked before its request exists: in the first half CONTEXT has
 * no request, limits and stdio, and the child uses the keeper's descriptors. */
void child_prepare(const struct launch_context *context);
__attribute__((noreturn)) void child_exec(const struct launch_context *context);

/* ---- prefork.c ---- */

/* A child that is forked and sandboxed while the gateway is busy with the result of the last command. It waits for the
 * next command. There is at most one, and only between two commands, so that no running command can reach it. */

/* Forks one after a command that ran in SANDBOX. It is useful only if the next command has the same sandbox, so it
 * takes two in a row that used the same cache entry. */
void prefork_prepare(const struct sandbox *sandbox);

/* Runs the command of CONTEXT in the waiting child. Returns its pid once it has called exec or reported a failure; 0:
 * no child fits, and none is left. */
pid_t prefork_launch(const struct launch_context *context);

/* Kills the child that was prepared with CACHED, which is about to be evicted. */
void prefork_discard(const struct cached_sandbox *cached);

#endif
