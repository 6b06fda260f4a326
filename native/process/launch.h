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

/* What a keeper needs to supervise a command that it has launched. */
struct launched {
	struct pid_namespace *pid_ns; /* NULL if the command has no pid namespace of its own */
	int listener;                 /* for the broker; -1 if the command has none */
};

/* Starts the command with STDIO as stdin, stdout and stderr. Returns its pid. On failure it returns -1, fills in
 * FAILURE and leaves no process behind. */
pid_t launch(const struct request *request, const struct sandbox *sandbox, const struct limit_monitor *limits,
	     const int stdio[3], struct launched *launched, struct launch_failure *failure);

/* The state of a launch from fork to exec. The child shares memory with the keeper, so it only makes system calls. It
 * takes no locks and allocates no memory. */

struct launch_context {
	const struct request *request;
	const struct sandbox *sandbox;
	const struct limit_monitor *limits;
	const int *stdio;
	pid_t keeper;
	bool born_in_cgroup; /* clone3 started the child in its cgroup */
	int listener;        /* what the child has handed off to the broker, or -1 */
};

/* The child's report to the keeper. It is in shared memory because only a vfork child shares the keeper's memory; a
 * child that was cloned into a cgroup has its own copy. */
struct child_report {
	_Atomic(const char *) step; /* the step that failed, or NULL */
	atomic_int error;
	struct pid_namespace pid_ns;
};

/* Returns the report, of which there is one per keeper, or NULL when out of memory. */
struct child_report *child_report_get(void);
void child_report_clear(struct child_report *report);

/* Reports STEP and errno to the keeper and exits the child. */
__attribute__((noreturn)) void child_fail(const char *step);

/* These functions run the two halves of a launch in a child that is forked before its request arrives. In the first
 * half, CONTEXT has no request, limits or stdio, and the child uses the keeper's descriptors. */
void child_prepare(const struct launch_context *context);
__attribute__((noreturn)) void child_exec(const struct launch_context *context);

/* Reports whether such a child can get its own descriptors, which `child_exec` requires. */
bool child_can_unshare_descriptors(void);

/* ---- prefork.c ---- */

/* A preforked child is forked and sandboxed while the gateway processes the result of the last command, and waits for
 * the next one. There is at most one, and it exists only between two commands, so that no running command can reach it.
 * */

/* Forks a child after a command that ran in SANDBOX. The child is useful only if the next command has the same sandbox,
 * so it is forked only after two commands in a row have used the same cache entry. */
void prefork_prepare(const struct sandbox *sandbox);

/* Runs the command of CONTEXT in the preforked child. Returns its pid once it has called exec or reported a failure, and
 * sets the listener of CONTEXT. Returns 0 if there is no suitable child; an unsuitable one is killed. */
pid_t prefork_launch(struct launch_context *context);

/* Kills the child that was forked for CACHED, a cache entry that is about to be evicted. */
void prefork_discard(const struct cached_sandbox *cached);

#endif
