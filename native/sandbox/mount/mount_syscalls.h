#ifndef SALLYPORT_MOUNT_SYSCALLS_H
#define SALLYPORT_MOUNT_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
