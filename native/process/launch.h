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

/* Starts the command with the given descriptors as stdin, stdout and stderr. Returns its pid; or -1 with FAILURE
 * filled in, and then nothing is left of it. ISOLATION: its pid namespace, where it has one of its own; else NULL. */
pid_t launch(const struct request *request, const struct sandbox *sandbox, const struct limit_monitor *limits,
	     const int stdio[3], struct pid_namespace **pid_ns, struct launch_failure *failure);

/* The way of a command from the fork to the exec. Everything here runs in a child that shares the keeper's memory, or
 * some of it: it only makes calls, and takes no lock and no memory. */

struct launch_context {
	const struct request *request;
	const struct sandbox *sandbox;
	const struct limit_monitor *limits;
	const int *stdio;
	pid_t keeper;
	bool born_in_cgroup; /* in the groups that count it, by birth */
};

/* Written by the child, read by its parent. In memory they share: after vfork that is all of it, but a child that is
 * born into a group has its own. */
struct child_report {
	_Atomic(const char *) step; /* that failed; NULL: none */
	atomic_int error;
	struct pid_namespace pid_ns;
};

/* The one report there is; NULL: no memory. */
struct child_report *child_report_get(void);
void child_report_clear(struct child_report *report);

/* Ends the child, with errno. */
__attribute__((noreturn)) void child_fail(const char *step);

/* The same in two parts, for a child that is there before its request is: START has no request, guard and stdio then.
 * Its descriptors are the keeper's until the second part. */
void child_prepare(const struct launch_context *context);
__attribute__((noreturn)) void child_exec(const struct launch_context *context);

/* ---- prefork.c ---- */

/* A child that is forked and confined before its command is known, while the gateway is busy with the answer to the
 * last one. It waits to be told what to become. There is one at most, and only between two commands: while one runs,
 * nothing of its kind is there for it to meddle with. */

/* After a command that was confined by SANDBOX, for the next one. That this will be of the same kind is only likely, so
 * there must have been two in a row that could use the same kit. */
void prefork_prepare(const struct sandbox *sandbox);

/* Sends it off as START says. Returns its pid when it has become its command, or has failed and said so in the report;
 * 0: there is none that fits, and none at all any more. */
pid_t prefork_launch(const struct launch_context *context);

/* KIT is about to go, and with it whoever was made ready in it. */
void prefork_discard(const struct cached_sandbox *cached);

#endif
