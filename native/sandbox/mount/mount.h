#ifndef SALLYPORT_MOUNT_H
#define SALLYPORT_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/spec.h"
#include "sandbox/unsupported.h"

/* The files as a confined command sees them: everything read-only but what it may write, denied places covered,
 * read-only spots held. To be called in a mount namespace of its own. */

/* Whether mounts can be arranged here at all: cuts the namespace off from the outside. 0, or -1 with errno. */
int mounts_make_private(void);

/* Arranges them. 0, or -1 with errno: then the view must not be used. Adds to GAPS what could not be covered. */
int mounts_set_up(const struct sandbox_spec *spec, unsupported_t *unsupported);

/* A fresh /proc, of the pid namespace the caller is in. Returns its descriptor, or -1 with errno.
 * Async-signal-safe. */
int mounts_mount_proc(void);

/* ---- mount_syscalls.c ---- */

/* The kernel's newer mount calls (Linux 5.12), which work on descriptors: a path cannot be swapped under them. */

#define MOUNT_READ_ONLY 0x1ull
#define MOUNT_NO_SETUID 0x2ull
#define MOUNT_NO_DEVICES 0x4ull

/* A copy, attached to nothing, of what PLACE shows and all that is mounted below it. */
int mount_clone(int target);

/* Puts a detached mount over PLACE. */
int mount_attach(int mount, int target);

/* Sets flags on a mount and all below it; PRIVATE: changes go neither in nor out any more. */
int mount_set_attributes(int mount, uint64_t flags, bool private);

/* A new file system of KIND, attached to nothing; OPTIONS are names and values by turns, up to a NULL. */
int mount_create_fs(const char *kind, const char *const *options, uint64_t flags);

/* Opens a place by its path, which comes with its links followed: none is followed now. -1 with errno. */
int mount_open_path(const char *path);

/* Whether that errno says that there is nothing, or nothing that can be got at. */
bool mount_is_missing(int error);

int mount_attach_at(int mount, const char *path);

/* ---- path_masks.c ---- */

/* Puts something over every denied place that is there. Adds to GAPS what could appear in a writable folder later.
 * In a mount namespace of its own. 0, or -1 with errno. */
int path_masks_apply(const struct sandbox_spec *spec, unsupported_t *unsupported);

#endif
