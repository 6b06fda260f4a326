#include "ipc/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "ipc/peer.h"

int listener_open(int dirfd, const char *name, int backlog)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	/* A socket address holds 107 bytes; through the descriptor any folder is near. */
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", dirfd, name);
	mode_t before = umask(0077);
	unlinkat(dirfd, name, 0);
	int bound = bind(fd, (struct sockaddr *)&address, sizeof address);
	umask(before);
	if (bound < 0 || listen(fd, backlog) < 0) {
		int error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

int listener_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return -1;
	struct ucred peer;
	socklen_t length = sizeof peer;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && (peer.uid == geteuid() || peer.uid == 0) &&
	    !peer_is_confined(fd, peer.pid))
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}
