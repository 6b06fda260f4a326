#ifndef SALLYPORT_SANDBOX_H
#define SALLYPORT_SANDBOX_H

#include <linux/filter.h>

#include "launch_failure.h"
#include "sandbox/sandbox_cache.h"
#include "sandbox/spec.h"
#include "sandbox/unsupported.h"

/* One command's confinement, made ready before the fork: the child only has to put it on. */
struct sandbox {
	const struct sandbox_spec *spec; /* NULL: none */
	const struct cached_sandbox *cached;
	const struct sock_fprog *filter;
	bool own_pid_namespace; /* a pid namespace of its own, and a /proc that shows it */
	unsupported_t unsupported;
};

/* Works out how SPEC can be had here. False with FAILURE filled in: not at all, or not as strictly as it requires. */
bool sandbox_prepare(struct sandbox *sandbox, const struct sandbox_spec *spec, struct launch_failure *failure);

/* The folder of its own terminals; -1: it has none. */
int sandbox_devpts(const struct sandbox *sandbox);

/* In the child, in this order: first of all the view of files and network it will have, and last before the exec the
 * rights it will not have. Async-signal-safe. They return NULL, or the step that failed, with errno. */
const char *sandbox_enter(const struct sandbox *sandbox);
const char *sandbox_apply(const struct sandbox *sandbox);

/* `keeper probe`: prints in one line of JSON what this machine lets us confine commands with. Tried, not guessed: the
 * same call may be there and be forbidden. Returns an exit code. */
int sandbox_probe(void);

#endif
