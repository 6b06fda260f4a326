#ifndef SALLYPORT_NAMESPACES_H
#define SALLYPORT_NAMESPACES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "launch_failure.h"
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

/* ---- pid_namespace.c ---- */

/* A pid namespace for one command. Its first process is our own, not the command: the first is deaf to signals it does
 * not handle, even to its own, so a command in its place would not end as it does elsewhere (promise 4). It does
 * nothing but wait for orphans. The command is its sibling: a child of the keeper like any other. When the first
 * process goes, the kernel ends all the rest (promise 5). */
struct pid_namespace {
	pid_t init; /* 0: none */
	pid_t command;
	atomic_bool had_orphans; /* it has waited for some: what they used is known when it is waited for itself */
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
			void *context, atomic_int *exited);

/* The command has ended, and has been waited for: the first process is to go with the last orphan. True: there never
 * was one, so it goes at once, and nobody needs to wait for that to say so. */
bool pid_namespace_release(const struct pid_namespace *pid_ns);

/* Whether the keeper has died. For those who cannot see their parent, which is in another namespace. */
bool keeper_has_died(void);

/* Children of the keeper's that are its own and not the command's: the first processes of pid namespaces. They are
 * neither visited nor counted with the tree, but their children are. One that is to go takes longer to do so than most
 * commands run, so it may still be there when the next one begins. */

/* False: there is no room for more. */
bool ns_init_pids_add(pid_t pid);

bool ns_init_pids_contains(pid_t pid);
bool ns_init_pids_empty(void);

/* PID has been waited for. */
void ns_init_pids_remove(pid_t pid);

/* Waits for those that have gone meanwhile. To be called before the keeper forks: from then on their numbers may be
 * others'. */
void ns_init_pids_reap(void);

#endif
