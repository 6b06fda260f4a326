#ifndef SALLYPORT_MOUNT_H
#define SALLYPORT_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/spec.h"
#include "sandbox/unsupported.h"

/* The file system as a confined command sees it: read-only except for writable paths, denied paths masked, protected
 * paths read-only. For use in a new mount namespace. */

/* Makes all mounts private. Fails where mounts cannot be changed at all. 0, or -1 with errno. */
int mounts_make_private(void);

/* Sets up the mounts of SPEC. Adds what cannot be masked to UNSUPPORTED. 0, or -1 with errno: the namespace must not be
 * used then. */
int mounts_set_up(const struct sandbox_spec *spec, unsupported_t *unsupported);

/* Mounts a /proc for the caller's pid namespace. Returns its descriptor, or -1 with errno. Async-signal-safe. */
int mounts_mount_proc(void);

/* ---- mount_syscalls.c ---- */

/* Mount system calls on descriptors (Linux 5.12): a path cannot be swapped during the call. */

#define MOUNT_READ_ONLY 0x1ull
#define MOUNT_NO_SETUID 0x2ull
#define MOUNT_NO_DEVICES 0x4ull

/* A detached copy of the mount at TARGET and all mounts below it. */
int mount_clone(int target);

/* Attaches a detached mount over TARGET. */
int mount_attach(int mount, int target);

/* Sets flags on a mount and all below it. PRIVATE: stops propagation in both directions. */
int mount_set_attributes(int mount, uint64_t flags, bool private);

/* Creates a detached file system. OPTIONS alternates names and values, up to a NULL. */
int mount_create_fs(const char *kind, const char *const *options, uint64_t flags);

/* Opens a resolved path without following links. -1 with errno. */
int mount_open_path(const char *path);

/* Whether errno means that the path is missing or unreachable. */
bool mount_is_missing(int error);

int mount_attach_at(int mount, const char *path);

/* ---- path_masks.c ---- */

/* Masks every denied path that exists. Adds to UNSUPPORTED those that could appear in a writable directory later. For
 * use in a new mount namespace. 0, or -1 with errno. */
int path_masks_apply(const struct sandbox_spec *spec, unsupported_t *unsupported);

#endif
