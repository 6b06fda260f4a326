#ifndef SALLYPORT_NAMESPACES_H
#define SALLYPORT_NAMESPACES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "launch_failure.h"
#include "sandbox/spec.h"
#include "sandbox/unsupported.h"

/* The namespaces that commands with the same specification enter, one command at a time. -1: the host's. */
struct namespaces {
	int user, mount, network, ipc, uts;
	int devpts; /* the directory /dev/pts in it */
};

#define NO_NAMESPACES ((struct namespaces){-1, -1, -1, -1, -1, -1})

/* Creates what SPEC needs, in a helper process that has exited when this returns. What is not available is added to
 * UNSUPPORTED. False with FAILURE filled in: an error occurred half-way. */
bool namespaces_make(struct namespaces *made, const struct sandbox_spec *spec, unsupported_t *unsupported,
		     struct launch_failure *failure);

/* Moves the calling process into them. Async-signal-safe. 0, or -1 with errno. */
int namespaces_enter(const struct namespaces *namespaces);

void namespaces_close(struct namespaces *namespaces);

/* ---- pid_namespace.c ---- */

/* The pid namespace of one command. Its init is our own process, not the command: the kernel drops signals that an init
 * does not handle, so a command would not end as usual (invariant 4). The init only reaps orphans. The command is its
 * sibling, a child of the keeper like any other. When the init exits, the kernel kills the rest (invariant 5). */
struct pid_namespace {
	pid_t init; /* 0: none */
	pid_t command;
	atomic_bool had_orphans; /* the init has reaped some; their usage is known once the init itself is reaped */
};

/* Whether pid namespaces work in NAMESPACES; tested once. */
bool pid_namespace_works(const struct namespaces *namespaces);

/* In the keeper, before the fork. 0, or -1 with errno. */
int pid_namespace_prepare(void);

/* Starts BODY, which must not return, as a child of the keeper in NAMESPACES and in new mount and pid namespaces.
 * Called in a child of the keeper that exits afterwards. Like vfork, it returns when BODY has called exec or exited.
 * With EXITED it returns at once, BODY shares its descriptors, and the kernel then sets EXITED to 0 and wakes its
 * futex. PID_NS is in memory shared with the keeper, and may contain an init even on failure. 0, or -1 with errno.
 * Async-signal-safe. */
int pid_namespace_start(struct pid_namespace *pid_ns, const struct namespaces *namespaces, int (*body)(void *),
			void *context, atomic_int *exited);

/* The command has been reaped: lets the init exit after the last orphan. True: there were no orphans, so the init exits
 * at once and need not be waited for. */
bool pid_namespace_release(const struct pid_namespace *pid_ns);

/* Whether the keeper has died, for a process whose parent is in another pid namespace. */
bool keeper_has_died(void);

/* Pids of namespace inits, which are children of the keeper but not part of a command. The process tree skips them, but
 * not their children. An init takes longer to exit than most commands run, so it may still exist when the next command
 * starts. */

/* False: the table is full. */
bool ns_init_pids_add(pid_t pid);

bool ns_init_pids_contains(pid_t pid);
bool ns_init_pids_empty(void);

/* PID has been reaped. */
void ns_init_pids_remove(pid_t pid);

/* Reaps the inits that have exited. Must precede every fork, after which their pids could be reused. */
void ns_init_pids_reap(void);

#endif
