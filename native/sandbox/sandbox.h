#ifndef SALLYPORT_SANDBOX_H
#define SALLYPORT_SANDBOX_H

#include <linux/filter.h>

#include "launch_failure.h"
#include "sandbox/sandbox_cache.h"
#include "sandbox/spec.h"
#include "sandbox/unsupported.h"

/* The sandbox of one command, prepared before the fork so that the child only has to apply it. */
struct sandbox {
	const struct sandbox_spec *spec; /* NULL: no sandbox */
	const struct cached_sandbox *cached;
	const struct sock_fprog *filter;
	bool own_pid_namespace; /* with a /proc of its own */
	unsupported_t unsupported;
};

/* Prepares SPEC with what this machine supports. False with FAILURE filled in: not possible, or weaker than SPEC
 * requires. */
bool sandbox_prepare(struct sandbox *sandbox, const struct sandbox_spec *spec, struct launch_failure *failure);

/* Descriptor of its own /dev/pts; -1: none. */
int sandbox_devpts(const struct sandbox *sandbox);

/* Called in the child: sandbox_enter first, which changes its view of files and network, and sandbox_apply last before
 * the exec, which drops its rights. Async-signal-safe. They return NULL, or the step that failed, with errno. */
const char *sandbox_enter(const struct sandbox *sandbox);
const char *sandbox_apply(const struct sandbox *sandbox);

/* `keeper probe`: prints one line of JSON about what this machine supports. Tests each feature, since a system call can
 * exist and be forbidden. Returns an exit code. */
int sandbox_probe(void);

#endif
