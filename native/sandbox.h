#ifndef SALLYPORT_SANDBOX_H
#define SALLYPORT_SANDBOX_H

#include <linux/filter.h>

#include "gaps.h"
#include "launch.h"
#include "spec.h"

/* One command's confinement, made ready before the fork: the child only has to put it on. */
struct sandbox {
	const struct spec *spec; /* NULL: none */
	int abi;
	int ruleset; /* -1: no Landlock */
	const struct sock_fprog *filter;
	gaps_t gaps;
};

/* Works out how SPEC can be had here. False with FAILURE filled in: not at all, or not as strictly as it requires. */
bool sandbox_prepare(struct sandbox *sandbox, const struct spec *spec, struct launch_failure *failure);

/* In the child, last before the exec: nothing it does needs a right that is given up here. Async-signal-safe.
 * Returns NULL, or the step that failed, with errno. */
const char *sandbox_put_on(const struct sandbox *sandbox);

/* Lets go of what was made ready for one command. */
void sandbox_done(struct sandbox *sandbox);

/* Lets go of what was kept for the next command of the same kind. */
void sandbox_forget(void);

#endif
