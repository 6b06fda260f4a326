#ifndef SALLYPORT_LISTENER_H
#define SALLYPORT_LISTENER_H

/* Listens on the unix socket NAME in the folder DIRFD, however long that folder's path is. Replaces a stale one.
 * Returns a descriptor, or -1 with errno. */
int listener_open(int dirfd, const char *name, int backlog);

/* Accepts a connection from the same user (or root); others are turned away at once (promise 7). */
int listener_accept(int listener);

#endif
