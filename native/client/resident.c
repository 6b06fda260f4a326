#include "client/resident.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/node.h"
#include "client/protocol.h"

extern char **environ;

#define HELLO_WITHIN_MS 2000
#define START_AGAIN_AFTER_S 60
#define MAX_GENERATIONS 256
#define RESIDENT_NAME "sallyport: resi" /* its title, of which the kernel keeps 15 bytes */
#define LOCK_FD 3 /* the descriptor by which the resident gateway holds its lock */

/* ---- the state folder ---- */

static bool state_folder(const char *given, char path[PATH_MAX])
{
	const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n;
	if (given && *given)
		n = snprintf(path, PATH_MAX, "%s", given);
	else if (base && *base)
		n = snprintf(path, PATH_MAX, "%s/sallyport", base);
	else if (home && *home)
		n = snprintf(path, PATH_MAX, "%s/.local/state/sallyport", home);
	else
		return false;
	return n > 0 && n < PATH_MAX;
}

/* ---- starting a resident gateway ---- */

/* Reads the name and the parent of a process. */
static bool read_stat(pid_t pid, char name[64], pid_t *parent)
{
	char path[64], text[512], state;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	char *start = strchr(text, '('), *end = strrchr(text, ')');
	if (!start || !end || sscanf(end + 1, " %c %d", &state, parent) != 2)
		return false;
	*end = '\0';
	snprintf(name, 64, "%s", start + 1);
	return true;
}

/* Reports whether a process descends from a keeper, also if that cannot be determined. */
static bool is_in_session(pid_t pid)
{
	char name[64];
	for (unsigned generation = 0; generation < MAX_GENERATIONS && pid > 0; generation++)
		if (!read_stat(pid, name, &pid) || strcmp(name, "keeper") == 0)
			return true;
	return pid > 0;
}

/* Reports whether the process that listens is a resident gateway. The variables that name the state folder may come from a
 * file of an agent, whose commands could listen in a folder that they can write (invariant 7). */
static bool is_resident(const struct ucred *peer)
{
	char name[64];
	pid_t parent;
	return peer->uid == geteuid() && peer->pid > 0 && read_stat(peer->pid, name, &parent) &&
	       strcmp(name, RESIDENT_NAME) == 0 && !is_in_session(peer->pid);
}

/* Takes the lock that the resident gateway holds while it runs. Returns -1 if one runs or is starting, or if the last one
 * failed to start a short time ago: it empties the file when it is ready. */
static int take_lock(int folder)
{
	struct stat status;
	int fd = openat(folder, "resident-" CLIENT_BUILD ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
	    (status.st_size == 0 || time(NULL) - status.st_mtime > START_AGAIN_AFTER_S) && ftruncate(fd, 0) == 0 &&
	    write(fd, "starting\n", 9) == 9)
		return fd;
	close(fd);
	return -1;
}

__attribute__((noreturn)) static void become_resident(int lock, const char *state)
{
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	if (lock != LOCK_FD)
		dup2(lock, LOCK_FD);
	else
		fcntl(lock, F_SETFD, 0);
	close_range(LOCK_FD + 1, ~0U, 0);
	umask(0077);
	if (chdir("/") == 0)
		node_serve(state, CLIENT_BUILD);
	_exit(1);
}

/* Starts a resident gateway for later command lines, in its own session and without descriptors of this process. */
static void start_resident(int folder)
{
	char state[PATH_MAX], link[64];
	snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
	ssize_t n = readlink(link, state, sizeof state - 1);
	/* It would inherit a low priority, or end with the session. */
	if (n <= 0 || getpriority(PRIO_PROCESS, 0) > 0 || is_in_session(getpid()))
		return;
	state[n] = '\0';
	int lock = take_lock(folder);
	if (lock < 0)
		return;
	pid_t child = fork();
	if (child == 0) {
		setsid();
		if (fork() == 0)
			become_resident(lock, state);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	close(lock);
}

/* ---- the connection ---- */

static int connect_in(int folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred peer;
	socklen_t length = sizeof peer;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	/* Through the descriptor, because a socket address is limited to 107 bytes. */
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/resident-" CLIENT_BUILD ".sock", folder);
	if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0) {
		if (is_resident(&peer))
			return fd;
		errno = EACCES;
	}
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Returns the next string of a payload, or NULL if there is none. */
static const char *take_string(const char **at, size_t *left)
{
	const char *text = *at, *end = memchr(text, '\0', *left);
	if (!end)
		return NULL;
	*left -= (size_t)(end + 1 - text);
	*at = end + 1;
	return text;
}

/* Checks the first message, and takes the name by which the resident gateway recognizes this process. */
static bool greet(struct resident *resident)
{
	struct message message;
	while (!resident_next(resident, &message)) {
		struct pollfd peer = {.fd = resident->fd, .events = POLLIN};
		if (poll(&peer, 1, HELLO_WITHIN_MS) <= 0 || !resident_read(resident))
			return false;
	}
	const char *at = message.payload;
	size_t left = message.length;
	const char *build = take_string(&at, &left), *name = build ? take_string(&at, &left) : NULL,
		   *id = name ? take_string(&at, &left) : NULL;
	if (message.type != TO_CLIENT_HELLO || !id || strcmp(build, CLIENT_BUILD) != 0 ||
	    strlen(id) >= sizeof resident->id)
		return false;
	strcpy(resident->id, id);
	return prctl(PR_SET_NAME, name) == 0;
}

bool resident_connect(struct resident *resident, const char *state)
{
	char path[PATH_MAX];
	struct stat status;
	*resident = (struct resident){.fd = -1};
	int folder = state_folder(state, path) ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (folder < 0)
		return false;
	if (fstat(folder, &status) == 0 && status.st_uid == geteuid()) {
		resident->fd = connect_in(folder);
		if (resident->fd < 0 && (errno == ENOENT || errno == ECONNREFUSED))
			start_resident(folder);
	}
	close(folder);
	if (resident->fd >= 0 && greet(resident))
		return true;
	if (resident->fd >= 0)
		close(resident->fd);
	return false;
}

static char *put(char *at, uint32_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		*at++ = (char)(value >> (8 * i));
	return at;
}

static size_t list_size(char **list, uint32_t *count)
{
	size_t size = 0;
	for (*count = 0; list[*count]; ++*count)
		size += strlen(list[*count]) + 1;
	return size;
}

static char *put_list(char *at, char **list)
{
	for (; *list; list++)
		at = stpcpy(at, *list) + 1;
	return at;
}

bool resident_request(struct resident *resident, int argc, char **argv)
{
	char folder[PATH_MAX];
	struct winsize size = {0};
	struct stat input;
	uint32_t argument_count, variable_count;
	if (!getcwd(folder, sizeof folder) || folder[0] != '/' || argc < 1)
		return false;
	size_t most = 32 + sizeof folder + list_size(argv + 1, &argument_count) + list_size(environ, &variable_count);
	char *payload = most > REQUEST_MAX ? NULL : malloc(most);
	if (!payload)
		return false;
	mode_t mask = umask(0);
	umask(mask);
	unsigned terminals = (isatty(0) ? 1u : 0) | (isatty(1) ? 2u : 0) | (isatty(2) ? 4u : 0);
	if (!(terminals & 1u) && fstat(0, &input) == 0 && S_ISCHR(input.st_mode))
		terminals |= 8u;
	struct stat output, null;
	if (fstat(1, &output) == 0 && S_ISCHR(output.st_mode) && stat("/dev/null", &null) == 0 &&
	    output.st_rdev == null.st_rdev)
		terminals |= 16u;
	if (terminals & 2u)
		(void)ioctl(1, TIOCGWINSZ, &size);
	char *at = put(payload, (uint32_t)getpid(), 4);
	at = put(at, mask, 4);
	at = put(at, terminals, 1);
	at = put(at, size.ws_col, 2);
	at = put(at, size.ws_row, 2);
	at = put(at, argument_count, 4);
	at = put(at, variable_count, 4);
	at = stpcpy(at, folder) + 1;
	at = put_list(put_list(at, argv + 1), environ);
	bool sent = resident_send(resident, FROM_CLIENT_REQUEST, payload, (size_t)(at - payload));
	free(payload);
	return sent;
}

bool resident_send(struct resident *resident, uint8_t type, const void *payload, size_t length)
{
	char header[MESSAGE_HEADER];
	put(put(header, (uint32_t)length + 1, 4), type, 1);
	const char *parts[] = {header, payload};
	const size_t lengths[] = {sizeof header, length};
	for (unsigned i = 0; i < 2; i++)
		for (size_t at = 0; at < lengths[i];) {
			int more = i == 0 && length > 0 ? MSG_MORE : 0;
			ssize_t n = send(resident->fd, parts[i] + at, lengths[i] - at, MSG_NOSIGNAL | more);
			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				return false;
			at += (size_t)n;
		}
	return true;
}

bool resident_read(struct resident *resident)
{
	if (resident->in_room - resident->in_used < 4096) {
		size_t room = resident->in_used + (64u << 10);
		char *in = realloc(resident->in, room);
		if (!in)
			return false;
		resident->in = in;
		resident->in_room = room;
	}
	for (;;) {
		ssize_t n = recv(resident->fd, resident->in + resident->in_used, resident->in_room - resident->in_used,
				 MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return true;
		if (n <= 0)
			return false;
		resident->in_used += (size_t)n;
		return true;
	}
}

bool resident_next(struct resident *resident, struct message *message)
{
	/* The previous message was at the start of the buffer. */
	static size_t taken;
	if (taken > 0) {
		resident->in_used -= taken;
		memmove(resident->in, resident->in + taken, resident->in_used);
		taken = 0;
	}
	if (resident->in_used < MESSAGE_HEADER)
		return false;
	const unsigned char *in = (const unsigned char *)resident->in;
	size_t length = in[0] | (size_t)in[1] << 8 | (size_t)in[2] << 16 | (size_t)in[3] << 24;
	if (length < 1 || length > MESSAGE_MAX) { /* not a resident gateway: end the connection */
		shutdown(resident->fd, SHUT_RDWR);
		resident->in_used = 0;
		return false;
	}
	if (resident->in_used < 4 + length)
		return false;
	*message = (struct message){in[4], resident->in + MESSAGE_HEADER, length - 1};
	taken = 4 + length;
	return true;
}
