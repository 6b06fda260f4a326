#ifndef SALLYPORT_LISTENER_H
#define SALLYPORT_LISTENER_H

/* Listens on the unix socket NAME in the directory DIRFD, however long its path is. Replaces a stale socket. Returns a
 * descriptor, or -1 with errno. */
int listener_open(int dirfd, const char *name, int backlog);

/* Accepts a connection from the same user or root. Others, and confined commands, are disconnected with EACCES: what a
 * command asked for would run outside its sandbox (invariant 7). */
int listener_accept(int listener);

#endif
