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

/* Does the same, but opens a symbolic link in the last component itself. */
int mount_open_entry(const char *path);

/* Reports whether errno means that a path is missing or unreachable. */
bool mount_is_missing(int error);

int mount_attach_at(int mount, const char *path);

/* ---- private_dev.c ---- */

/* Mounts a /dev with only the devices that programs expect, or a /dev/pts without terminals of other processes. Both
 * return 0, or -1 with errno. */
int private_dev_mount(void);
int private_dev_mount_devpts(void);

/* ---- private_proc.c ---- */

/* Mounts /proc for the pid namespace of the caller. Returns its descriptor, or -1 with errno. Async-signal-safe. */
int private_proc_mount(void);

/* Mounts a /proc that shows a process only to processes that may trace it. This hides the command lines, environments
 * and networks of others. Requires privileges in the pid namespace of the host. Returns 0, or -1 with errno. */
int private_proc_mount_hidden(void);

/* Reports whether a new /proc shows nothing that is hidden in the current one, as container runtimes do with mounts. In
 * a user namespace the kernel checks it. */
bool private_proc_is_safe(void);

/* ---- held_paths.c ---- */

/* Makes the protected paths of SPEC that are in writable directories read-only. Holds their parents, the parents of
 * denied and masked paths, and the held paths: a command can neither rename nor replace them, which would put another
 * directory in place of a protected path, or a denied path under a name that is not denied. A parent that does not
 * exist cannot be held, and neither can the parents below it. Returns 0, or -1 with errno. */
int held_paths_apply(const struct sandbox_spec *spec);

/* Holds the existing parents of PATH below TOP, which is a mount point. Returns 0, or -1 with errno. */
int held_paths_hold_parents(const char *path, const char *top);

/* ---- path_masks.c ---- */

/* Masks every denied path that exists. Adds UNSUPPORTED_DENIED_LATER to UNSUPPORTED if one could be created in a
 * writable directory later. Returns 0, or -1 with errno. */
int path_masks_apply(const struct sandbox_spec *spec, unsupported_t *unsupported);

/* Creates a detached mask for a directory or a file. Returns its descriptor, or -1 with errno. */
int path_masks_create_one(bool folder);

/* ---- restore.c ---- */

/* Masks or protects COUNT paths of SPEC again in a namespace that commands use, in a process of its own. Best effort:
 * a path may have been removed in the meantime. USER_NS is -1 if the namespace belongs to that of the keeper. */
void mounts_restore(const struct sandbox_spec *spec, int user_ns, int mount_ns, const char *const *paths, size_t count);

#endif
