#ifndef SALLYPORT_OPEN_BENEATH_H
#define SALLYPORT_OPEN_BENEATH_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether PATH names ROOT or something below it. By its text alone: open_beneath makes it true. */
bool path_is_beneath(const char *root, const char *path);

/* Opens PATH, which path_is_beneath says lies beneath ROOT, meeting no link on the way: both were given with their links
 * followed, so a link met now was put there since (promise 2: the folder that was judged is the one that is used).
 * Async-signal-safe. Returns -1 with errno; see open_beneath_escaped. */
int open_beneath(const char *root, const char *path, int flags, mode_t mode);

/* Whether open_beneath's errno says that the path would have led elsewhere. */
bool open_beneath_escaped(int error);

#endif
