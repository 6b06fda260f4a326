#ifndef SALLYPORT_NAMESPACES_H
#define SALLYPORT_NAMESPACES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "launch_failure.h"
#include "sandbox/spec.h"
#include "sandbox/unsupported.h"

/* Descriptors of the namespaces that commands with the same specification enter, one command at a time. A descriptor is
 * -1 if the namespace of the host is used. */
struct namespaces {
	int user, mount, network, ipc, uts;
	int devpts;      /* the directory /dev/pts in the mount namespace */
	int root;        /* the root directory of the mount namespace */
	int mount_table; /* its mount table; POLLPRI reports a change */
	int proc;        /* its /proc, which hides processes of others, or -1 if it is that of the host */
};

#define NO_NAMESPACES ((struct namespaces){-1, -1, -1, -1, -1, -1, -1, -1, -1})

/* Creates the namespaces that SPEC requires, in a helper process that has exited when this returns. Adds features that
 * are not available to UNSUPPORTED. Returns false and fills in FAILURE if setting them up fails. */
bool namespaces_make(struct namespaces *made, const struct sandbox_spec *spec, unsupported_t *unsupported,
		     struct launch_failure *failure);

/* Moves the calling process into the namespaces. Returns 0, or -1 with errno. Async-signal-safe. */
int namespaces_enter(const struct namespaces *namespaces);

void namespaces_close(struct namespaces *namespaces);

/* ---- pid_namespace.c ---- */

/* The pid namespace of one command. Its init is a process of the keeper and not the command, because the kernel drops
 * signals that an init does not handle, so a command would not exit as usual (invariant 4). The init only reaps
 * orphans. The command is a sibling of the init and a child of the keeper. When the init exits, the kernel kills all
 * remaining processes of the namespace (invariant 5). */
struct pid_namespace {
	pid_t init; /* 0 if there is none */
	pid_t command;
	atomic_bool had_orphans; /* the init has reaped orphans, whose usage is known once the init itself is reaped */
};

/* Reports whether pid namespaces can be used in NAMESPACES. Each kind of namespaces is tested only once. */
bool pid_namespace_works(const struct namespaces *namespaces);

/* Opens a pidfd of the keeper, which keeper_has_died uses. Must be called in the keeper before the fork. Returns 0,
 * or -1 with errno. */
int pid_namespace_prepare(void);

/* Starts BODY, which must not return, as a child of the keeper in NAMESPACES and in new mount and pid namespaces. The
 * caller must be a child of the keeper that exits afterwards. Like vfork, this function returns when BODY has called
 * exec or exited. If EXITED is not NULL, it returns at once, BODY shares the descriptors of the caller, and when BODY
 * calls exec or exits the kernel sets EXITED to 0 and wakes its futex. PID_NS is in memory shared with the keeper, and
 * may contain an init even on failure. Returns 0, or -1 with errno. Async-signal-safe. */
int pid_namespace_start(struct pid_namespace *pid_ns, const struct namespaces *namespaces, int (*body)(void *),
			void *context, atomic_int *exited);

/* Makes the init exit after the last orphan. Must be called after the command has been reaped. Returns true if there
 * were no orphans, so that the init exits at once and does not have to be awaited. */
bool pid_namespace_release(const struct pid_namespace *pid_ns);

/* Reports whether the keeper has exited, for a process in another pid namespace, where getppid returns 0. */
bool keeper_has_died(void);

/* The pids of namespace inits, which are children of the keeper but not part of a command. The process tree skips them,
 * but not their children. An init takes longer to exit than most commands run, so it may still exist when the next
 * command starts. */

/* Adds a pid. Returns false if the table is full. */
bool ns_init_pids_add(pid_t pid);

bool ns_init_pids_contains(pid_t pid);
bool ns_init_pids_empty(void);

/* Removes a pid that has been reaped. */
void ns_init_pids_remove(pid_t pid);

/* Reaps inits that have exited. Must be called before every fork, so that their pids are not reused unnoticed. */
void ns_init_pids_reap(void);

#endif
