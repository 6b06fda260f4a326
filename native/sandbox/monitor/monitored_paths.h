#ifndef SALLYPORT_MONITORED_PATHS_H
#define SALLYPORT_MONITORED_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "sandbox/spec.h"

/* The paths of a sandbox that are masked, or that count as a broken mask if they appear. */
enum mask_kind {
	MASK_PROTECTED, /* read-only: broken if it exists without its mount */
	MASK_HIDDEN,    /* denied: the same, unless its mode protects it */
	MASK_ABSENT,    /* does not exist, and must not appear */
	MASK_NONE,      /* a protected path without a mount, whose creation or change is reported */
};

struct monitored_path {
	char *path;
	enum mask_kind kind;
	size_t top;    /* length of the writable path that contains it, or 0 */
	bool exists;   /* for MASK_NONE: when the command started */
	bool broken;   /* at the last check */
	bool reported; /* it has been broken */
	struct statx status;
};

struct monitored_paths {
	struct monitored_path *items;
	size_t count, room;
	int root; /* root directory of the mount namespace, or -1 for that of the keeper */
};

/* Collects the paths of SPEC after its masks have been attached. Without a mount namespace, ROOT is -1. LANDLOCKED
 * means that Landlock denies the denied paths outside the writable ones. Returns 0, or -1 with errno. */
int monitored_paths_collect(struct monitored_paths *paths, const struct sandbox_spec *spec, int root, bool landlocked);
void monitored_paths_free(struct monitored_paths *paths);

/* Reads the state of PATH in the mount namespace. Returns false with errno if it does not exist. */
bool monitored_path_stat(const struct monitored_paths *paths, const char *path, struct statx *status);

/* Reports whether the mask of an item is broken. If WATCHED, a path that was removed is not exposed until it appears
 * again, which an event reports. A denied path that the user of SPEC cannot access by its mode is not exposed. */
bool monitored_path_is_broken(const struct monitored_paths *paths, const struct sandbox_spec *spec,
			      const struct monitored_path *item, bool watched);

/* Reports whether an unprotected path was created or changed since `status` was read. Times that a program can set are
 * not compared. */
bool monitored_path_has_changed(const struct monitored_paths *paths, const struct monitored_path *item);

#endif
