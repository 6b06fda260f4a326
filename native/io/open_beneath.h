#ifndef SALLYPORT_OPEN_BENEATH_H
#define SALLYPORT_OPEN_BENEATH_H

#include <stdbool.h>
#include <sys/types.h>

/* Reports whether PATH is ROOT or below it. Only compares strings; open_beneath enforces it. */
bool path_is_beneath(const char *root, const char *path);

/* Opens PATH, which must be beneath ROOT, without following symbolic links. Both paths were resolved earlier, so any
 * link was created after that. Rejecting it ensures that the directory that was analyzed is the one that is used
 * (invariant 2). Async-signal-safe. Returns a descriptor, or -1 with errno; see open_beneath_escaped. */
int open_beneath(const char *root, const char *path, int flags, mode_t mode);

/* Opens PATH as a process whose root directory is ROOT would, but without magic links such as /proc/self/root. Returns a
 * descriptor, or -1 with errno, which is ENOSYS or EPERM where openat2 is not available. */
int open_in_root(int root, const char *path, int flags);

/* Reports whether an errno of open_beneath means that the path would have left ROOT. */
bool open_beneath_escaped(int error);

#endif
