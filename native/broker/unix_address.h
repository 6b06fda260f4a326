#ifndef SALLYPORT_UNIX_ADDRESS_H
#define SALLYPORT_UNIX_ADDRESS_H

#include <sys/socket.h>
#include <sys/un.h>

#include "broker/target.h"
#include "sandbox/spec.h"

/* Connects SOCKET to ADDRESS if SPEC allows it, with the user of the command, as that user would: permissions and the
 * credentials that the server sees are those of the command. The server sees the pid of the keeper. Returns 0 or an
 * errno. */
int unix_connect(const struct sandbox_spec *spec, const struct target *target, int socket,
		 const struct sockaddr_un *address, socklen_t length);

/* Give the calling thread the user of the command, and take it back. Only the effective IDs change: they determine
 * permissions, and the real ones protect the keeper. command_user_assume returns 0 or an errno. */
int command_user_assume(const struct sandbox_spec *spec);
void command_user_leave(const struct sandbox_spec *spec);

/* ---- abstract_address.c ---- */

/* Connects SOCKET to the abstract ADDRESS if its listener belongs to the command. Returns 0 or an errno. */
int abstract_connect(const struct sandbox_spec *spec, int socket, const struct sockaddr_un *address, socklen_t length);

#endif
