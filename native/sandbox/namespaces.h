#ifndef SALLYPORT_NAMESPACES_H
#define SALLYPORT_NAMESPACES_H

#include "process/launch.h"
#include "sandbox/spec.h"
#include "sandbox/unsupported.h"

/* The namespaces commands of one kind are put into, one command after the other. -1: none of its own. */
struct namespaces {
	int user, mount, network, ipc, uts;
	int devpts; /* its own /dev/pts */
};

#define NO_NAMESPACES ((struct namespaces){-1, -1, -1, -1, -1, -1})

/* Makes what SPEC needs, in a process that is gone when it returns. What cannot be had is left out and added to GAPS.
 * False with FAILURE filled in: it went wrong half-way. */
bool namespaces_make(struct namespaces *made, const struct sandbox_spec *spec, unsupported_t *unsupported,
		     struct launch_failure *failure);

/* Puts the calling process into them. Async-signal-safe. 0, or -1 with errno. */
int namespaces_enter(const struct namespaces *namespaces);

void namespaces_close(struct namespaces *namespaces);

#endif
