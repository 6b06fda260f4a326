#ifndef SALLYPORT_PID_NAMESPACE_H
#define SALLYPORT_PID_NAMESPACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/namespaces.h"

/* A pid namespace for one command. Its first process is our own, not the command: the first is deaf to signals it does
 * not handle, even to its own, so a command in its place would not end as it does elsewhere (promise 4). It does
 * nothing but wait for orphans. The command is its sibling: a child of the keeper like any other. When the first
 * process goes, the kernel ends all the rest (promise 5). */
struct pid_namespace {
	pid_t init; /* 0: none */
	pid_t command;
	volatile bool had_orphans; /* it has waited for some: what they used is known when it is waited for itself */
};

/* Whether all that works in NAMESPACES; tried once. */
bool pid_namespace_works(const struct namespaces *namespaces);

/* In the keeper, before the fork. 0, or -1 with errno. */
int pid_namespace_prepare(void);

/* In a child of the keeper's that is to go at once: starts BODY, which must not return, as the keeper's child in
 * NAMESPACES and a few more of its own. Like vfork, it comes back when BODY has become another program or has ended;
 * with GONE it comes back at once, BODY shares its descriptors, and that is set to 0 and a futex woken then.
 * ISOLATION is in memory that is shared with the keeper, and may hold a first process in any case. 0, or -1 with
 * errno. Async-signal-safe. */
int pid_namespace_start(struct pid_namespace *pid_ns, const struct namespaces *namespaces, int (*body)(void *),
			void *context, int *exited);

/* The command has ended, and has been waited for: the first process is to go with the last orphan. True: there never
 * was one, so it goes at once, and nobody needs to wait for that to say so. */
bool pid_namespace_release(const struct pid_namespace *pid_ns);

/* Whether the keeper has died. For those who cannot see their parent, which is in another namespace. */
bool keeper_has_died(void);

#endif
