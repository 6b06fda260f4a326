#ifndef SALLYPORT_CHILD_H
#define SALLYPORT_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "cgroup/guard.h"
#include "ipc/request.h"
#include "sandbox/isolation.h"
#include "sandbox/sandbox.h"

/* The way of a command from the fork to the exec. Everything here runs in a child that shares the keeper's memory, or
 * some of it: it only makes calls, and takes no lock and no memory. */

struct start {
	const struct request *request;
	const struct sandbox *sandbox;
	const struct guard *guard;
	const int *stdio;
	pid_t keeper;
	bool in_groups; /* in the groups that count it, by birth */
};

/* Written by the child, read by its parent. In memory they share: after vfork that is all of it, but a child that is
 * born into a group has its own. */
struct report {
	volatile const char *volatile step; /* that failed; NULL: none */
	volatile int error;
	struct isolation isolation;
};

/* The one report there is; NULL: no memory. */
struct report *child_report(void);

/* Ends the child, with errno. */
__attribute__((noreturn)) void child_give_up(const char *step);

/* All of the way. The argument is a struct start. Does not return. */
int child_become(void *start);

/* The same in two parts, for a child that is there before its request is: START has no request, guard and stdio then.
 * Its descriptors are the keeper's until the second part. */
void child_get_ready(const struct start *start);
__attribute__((noreturn)) void child_go(const struct start *start);

#endif
