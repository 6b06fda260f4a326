#ifndef SALLYPORT_OPEN_BENEATH_H
#define SALLYPORT_OPEN_BENEATH_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether PATH is ROOT or below it, judged by the strings alone. open_beneath enforces it. */
bool path_is_beneath(const char *root, const char *path);

/* Opens PATH, which path_is_beneath ROOT, without following any symbolic link. Both paths were resolved before, so a
 * link was put there since: the directory that was analysed is the one that is used (invariant 2). Async-signal-safe.
 * Returns -1 with errno; see open_beneath_escaped. */
int open_beneath(const char *root, const char *path, int flags, mode_t mode);

/* Whether errno of open_beneath means that the path would have left ROOT. */
bool open_beneath_escaped(int error);

#endif
