#ifndef SALLYPORT_MASK_MONITOR_H
#define SALLYPORT_MASK_MONITOR_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/monitor/monitored_paths.h"
#include "sandbox/monitor/paths_text.h"
#include "sandbox/namespaces.h"
#include "sandbox/spec.h"

/* Detects masks that break while a command runs. The kernel drops a mount when its file is removed or replaced outside
 * the namespace, a mount moves with a file that is renamed, and a path that does not exist cannot be masked. The mount
 * table of the namespace reports dropped mounts; watches on directories report the rest (invariant 7). */
struct mask_monitor {
	struct monitored_paths paths;
	int mounts;   /* mount table of the namespace, or -1 */
	bool watched; /* directories have to be watched */
	bool changed; /* a monitored path may have changed since the monitor was built */
	bool pending; /* the next mask_monitor_check has to look at all paths */
};

/* Builds the monitor of a sandbox that has just been set up. LANDLOCKED means that Landlock denies the paths outside
 * the writable ones. Returns 0, or -1 with errno. */
int mask_monitor_build(struct mask_monitor *monitor, const struct sandbox_spec *spec,
		       const struct namespaces *namespaces, bool landlocked);
void mask_monitor_free(struct mask_monitor *monitor);

/* Prepares MONITOR for the next command. Returns false if a monitored path has changed since the monitor was built, so
 * that the sandbox must be set up again. */
bool mask_monitor_start(struct mask_monitor *monitor, const struct sandbox_spec *spec);

/* Reports whether MONITOR detects all changes. Otherwise the limits of inotify are exhausted. */
bool mask_monitor_works(const struct mask_monitor *monitor);

/* Returns the descriptor to poll for POLLIN, or -1. The mount table is polled for POLLPRI. The kernel reports each
 * change of the table to one poll call only, so the caller must pass it on with mask_monitor_mounts_changed. */
int mask_monitor_watches_fd(const struct mask_monitor *monitor);
void mask_monitor_mounts_changed(struct mask_monitor *monitor);

/* Looks for broken masks if there was an event, and returns whether there are any. Adds those to BROKEN that it does
 * not contain yet. */
bool mask_monitor_check(struct mask_monitor *monitor, const struct sandbox_spec *spec, struct paths_text *broken);

/* Attaches the masks again that were broken at the last check, in NAMESPACES and in the mount namespace of the command.
 * OWN_MOUNTS is -1 if that is the same one. */
void mask_monitor_restore(const struct mask_monitor *monitor, const struct sandbox_spec *spec,
			  const struct namespaces *namespaces, int own_mounts);

/* Adds the protected paths to CREATED that the kernel did not protect and that were created or changed since
 * mask_monitor_start. */
void mask_monitor_find_created(struct mask_monitor *monitor, struct paths_text *created);

#endif
