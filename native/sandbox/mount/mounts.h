#ifndef SALLYPORT_MOUNTS_H
#define SALLYPORT_MOUNTS_H

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

#endif
