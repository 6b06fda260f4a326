#ifndef SALLYPORT_PEER_H
#define SALLYPORT_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether the process PID at the other end of SOCKET is a confined command, or cannot be told from one: whatever it
 * asked for would be done without its bounds (promise 7). */
bool peer_is_confined(int socket, pid_t pid);

#endif
