#ifndef SALLYPORT_SCOPE_H
#define SALLYPORT_SCOPE_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether PATH names ROOT or something below it. By its text alone: scope_open makes it true. */
bool scope_names(const char *root, const char *path);

/* Opens PATH, which scope_names says lies beneath ROOT, meeting no link on the way: both were given with their links
 * followed, so a link met now was put there since (promise 2: the folder that was judged is the one that is used).
 * Async-signal-safe. Returns -1 with errno; see scope_left. */
int scope_open(const char *root, const char *path, int flags, mode_t mode);

/* Whether scope_open's errno says that the path would have led elsewhere. */
bool scope_left(int error);

#endif
