#ifndef SALLYPORT_CHILD_H
#define SALLYPORT_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "cgroup/limit_monitor.h"
#include "ipc/request.h"
#include "sandbox/pid_namespace.h"
#include "sandbox/sandbox.h"

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
	volatile const char *volatile step; /* that failed; NULL: none */
	volatile int error;
	struct pid_namespace pid_ns;
};

/* The one report there is; NULL: no memory. */
struct child_report *child_report_get(void);

/* Ends the child, with errno. */
__attribute__((noreturn)) void child_fail(const char *step);

/* All of the way. The argument is a struct start. Does not return. */
int child_main(void *context);

/* The same in two parts, for a child that is there before its request is: START has no request, guard and stdio then.
 * Its descriptors are the keeper's until the second part. */
void child_prepare(const struct launch_context *context);
__attribute__((noreturn)) void child_exec(const struct launch_context *context);

#endif
