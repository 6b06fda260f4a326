#ifndef SALLYPORT_SANDBOX_H
#define SALLYPORT_SANDBOX_H

#include <linux/filter.h>

#include "launch_failure.h"
#include "sandbox/sandbox_cache.h"
#include "sandbox/spec.h"
#include "sandbox/unsupported.h"

/* The sandbox of one command. It is prepared before the fork, so that the child only has to apply it. */
struct sandbox {
	const struct sandbox_spec *spec; /* NULL if the command runs without a sandbox */
	struct cached_sandbox *cached;
	const struct sock_fprog *filter;
	bool brokered;          /* the filter passes calls to a broker */
	bool own_pid_namespace; /* also has its own /proc */
	unsupported_t unsupported;
};

/* Prepares SPEC with the features that this machine supports. Returns false and fills in FAILURE if that is not
 * possible, or if SPEC requires features that are missing. */
bool sandbox_prepare(struct sandbox *sandbox, const struct sandbox_spec *spec, struct launch_failure *failure);

/* Returns the descriptor of the sandbox's own /dev/pts, or -1 if it has none. */
int sandbox_devpts(const struct sandbox *sandbox);

/* Both functions are called in the child. sandbox_enter is called first and enters the namespaces. sandbox_apply is the
 * last call before exec and drops privileges. Both return NULL, or the step that failed with errno set.
 * Async-signal-safe. */
const char *sandbox_enter(const struct sandbox *sandbox);
const char *sandbox_apply(const struct sandbox *sandbox);

/* Prints a line of JSON with the sandbox features of this machine (`keeper probe`). Each feature is tested, because a
 * system call may exist but be forbidden. Returns an exit code. */
int sandbox_probe(void);

#endif
