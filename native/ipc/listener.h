#ifndef SALLYPORT_LISTENER_H
#define SALLYPORT_LISTENER_H

/* Listens on the Unix socket NAME in the directory DIRFD, whose path may have any length. Replaces a stale socket.
 * Returns a descriptor, or -1 with errno. */
int listener_open(int dirfd, const char *name, int backlog);

/* Accepts a connection from the same user or root. Other users and sandboxed commands are disconnected, and it returns
 * -1 with EACCES: a request of a sandboxed command would run outside its sandbox (invariant 7). */
int listener_accept(int listener);

#endif
