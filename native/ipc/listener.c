#include "ipc/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"

/* ---- rejecting sandboxed commands ---- */

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#define MAX_GENERATIONS 256
#define KEEPER_COMM "keeper"

/* Restrictions that a process cannot remove once they are set. */
struct restrictions {
	long filters, no_new_privileges;
};

static bool read_proc(pid_t pid, const char *file, char *text, size_t room)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size_t used = 0;
	ssize_t n;
	while (used < room - 1 && (n = read(fd, text + used, room - 1 - used)) > 0)
		used += (size_t)n;
	close(fd);
	text[used] = '\0';
	return used > 0;
}

static long status_field(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	return at ? strtol(at + strlen(name), NULL, 10) : 0;
}

static bool read_restrictions(pid_t pid, struct restrictions *restrictions)
{
	char text[4096];
	if (!read_proc(pid, "status", text, sizeof text))
		return false;
	/* The first line is the process name, which may contain anything but a newline. It is skipped. */
	const char *rest = strchr(text, '\n');
	*restrictions = (struct restrictions){0};
	if (!rest)
		return false;
	restrictions->filters = status_field(rest, "\nSeccomp_filters:\t");
	if (restrictions->filters == 0) /* older kernels report only the mode */
		restrictions->filters = status_field(rest, "\nSeccomp:\t") == 2;
	restrictions->no_new_privileges = status_field(rest, "\nNoNewPrivs:\t");
	return true;
}

/* Reads the parent of PID and whether it is a keeper. Returns false if that cannot be determined. */
static bool read_relation(pid_t pid, pid_t *parent, bool *keeper)
{
	char text[512], state;
	if (!read_proc(pid, "stat", text, sizeof text))
		return false;
	char *name = strchr(text, '('), *end = strrchr(text, ')');
	if (!name || !end || sscanf(end + 1, " %c %d", &state, parent) != 2)
		return false;
	*end = '\0';
	*keeper = strcmp(name + 1, KEEPER_COMM) == 0 || pid == getpid() || pid == getppid();
	return true;
}

/* Reports whether an ancestor is a keeper. Also true when the ancestors cannot be determined. */
static bool descends_from_keeper(pid_t pid)
{
	for (unsigned generation = 0; generation < MAX_GENERATIONS; generation++) {
		pid_t parent;
		bool keeper;
		if (!read_relation(pid, &parent, &keeper) || (generation > 0 && keeper))
			return true;
		if (parent <= 0)
			return false;
		pid = parent;
	}
	return true;
}

static bool is_ancestor(pid_t pid)
{
	pid_t at = getpid();
	bool keeper;
	for (unsigned generation = 0; generation < MAX_GENERATIONS && at > 0; generation++)
		if (!read_relation(at, &at, &keeper) || at == pid)
			return at == pid;
	return false;
}

/* Reports whether PID is a keeper, whose broker connects for a sandboxed command. A keeper above this process is the one
 * of a command that has started this gateway. */
static bool is_broker(pid_t pid)
{
	pid_t parent;
	bool keeper;
	return !read_relation(pid, &parent, &keeper) || (keeper && !is_ancestor(pid));
}

/* Returns a pidfd of the peer, by which a reused pid is detected, or -1 if the kernel does not support it. */
static int open_peer_pidfd(int socket)
{
	int pidfd = -1;
	socklen_t length = sizeof pidfd;
	return getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) == 0 ? pidfd : -1;
}

static bool has_exited(int pidfd)
{
	struct pollfd peer = {.fd = pidfd, .events = POLLIN};
	return poll(&peer, 1, 0) != 0;
}

static bool peer_is_confined(int socket, pid_t pid)
{
	struct restrictions own, peer;
	if (pid == 0) /* from outside the pid namespace of this process, where its commands are not */
		return false;
	if (!read_restrictions(getpid(), &own))
		return true;
	int pidfd = open_peer_pidfd(socket);
	bool confined = !read_restrictions(pid, &peer) ||
			is_broker(pid) ||
			((peer.filters > own.filters || peer.no_new_privileges > own.no_new_privileges) &&
			 descends_from_keeper(pid));
	/* If the peer exited during the check, another process may have its pid. The peer would not read a reply
	 * anyway. */
	if (pidfd >= 0) {
		confined = confined || has_exited(pidfd);
		close(pidfd);
	}
	return confined;
}

int listener_open(int dirfd, const char *name, int backlog)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	/* A socket path is limited to 107 bytes. Going through the descriptor works for a directory of any length. */
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
	struct ucred peer = {0};
	socklen_t length = sizeof peer;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && (peer.uid == geteuid() || peer.uid == 0) &&
	    !peer_is_confined(fd, peer.pid))
		return fd;
	log_warn("listener", "rejected process %d of user %u: another user, a sandboxed command, or already exited",
		 (int)peer.pid, (unsigned)peer.uid);
	close(fd);
	errno = EACCES;
	return -1;
}
