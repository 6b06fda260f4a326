#ifndef SALLYPORT_MOUNT_H
#define SALLYPORT_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/spec.h"
#include "sandbox/unsupported.h"

/* The file system as a sandboxed command sees it: read-only except for writable paths, with denied paths masked and
 * protected paths read-only. These functions must be called in a new mount namespace. */

/* Makes all mounts private. Fails if the process may not change mounts. Returns 0, or -1 with errno. */
int mounts_make_private(void);

/* Sets up the mounts of SPEC. Adds UNSUPPORTED_DENIED_LATER to UNSUPPORTED if a path cannot be masked. Returns 0, or -1
 * with errno, in which case the namespace must not be used. */
int mounts_set_up(const struct sandbox_spec *spec, unsupported_t *unsupported);

/* Mounts /proc for the pid namespace of the caller. Returns its descriptor, or -1 with errno. Async-signal-safe. */
int mounts_mount_proc(void);

/* ---- mount_syscalls.c ---- */

/* Wrappers of the mount system calls on descriptors (since Linux 5.12), with which a path cannot be replaced during the
 * call. They return a descriptor or 0, or -1 with errno. */

#define MOUNT_READ_ONLY 0x1ull
#define MOUNT_NO_SETUID 0x2ull
#define MOUNT_NO_DEVICES 0x4ull

/* Creates a detached copy of the mount at TARGET and all mounts below it. */
int mount_clone(int target);

/* Attaches a detached mount over TARGET. */
int mount_attach(int mount, int target);

/* Sets flags on a mount and all mounts below it. PRIVATE stops the propagation of mounts in both directions. */
int mount_set_attributes(int mount, uint64_t flags, bool private);

/* Creates a detached file system. OPTIONS contains names and values alternately and ends with NULL. */
int mount_create_fs(const char *kind, const char *const *options, uint64_t flags);

/* Opens a resolved path without following links. */
int mount_open_path(const char *path);

/* Reports whether errno means that a path is missing or unreachable. */
bool mount_is_missing(int error);

int mount_attach_at(int mount, const char *path);

/* ---- path_masks.c ---- */

/* Masks every denied path that exists. Adds UNSUPPORTED_DENIED_LATER to UNSUPPORTED if one could be created in a
 * writable directory later. Returns 0, or -1 with errno. */
int path_masks_apply(const struct sandbox_spec *spec, unsupported_t *unsupported);

#endif
