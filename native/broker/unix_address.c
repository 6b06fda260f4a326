#include "broker/unix_address.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/notification.h"
#include "fd.h"
#include "io/open_beneath.h"


/* Raw system calls, because those of the C library change all threads. */
int command_user_assume(const struct sandbox_spec *spec)
{
	uint32_t groups[SPEC_MAX_GROUPS];
	if (!spec->has_user)
		return 0;
	int count = sandbox_spec_groups(spec, groups);
	bool assumed = count >= 0 && syscall(SYS_setgroups, count, groups) == 0 &&
		       syscall(SYS_setresgid, -1, spec->gid, -1) == 0 && syscall(SYS_setresuid, -1, spec->uid, -1) == 0;
	return assumed ? 0 : errno;
}

/* The thread ends soon, so its groups are not restored. */
void command_user_leave(const struct sandbox_spec *spec)
{
	if (spec->has_user)
		syscall(SYS_setresuid, -1, getuid(), -1);
}

/* Writes the absolute form of NAME in the target's view to PATH. Returns 0 or an errno. */
static int make_absolute(const struct target *target, const char *name, char path[PATH_MAX])
{
	size_t length = 0;
	if (name[0] != '/') {
		char link[64];
		snprintf(link, sizeof link, "/proc/%d/cwd", (int)target->tid);
		ssize_t n = readlink(link, path, PATH_MAX);
		if (n < 0)
			return errno;
		if (n >= PATH_MAX || path[0] != '/')
			return ENAMETOOLONG;
		length = (size_t)n;
		path[length++] = '/';
	}
	if (length + strlen(name) >= PATH_MAX)
		return ENAMETOOLONG;
	strcpy(path + length, name);
	return 0;
}

/* Opens NAME below ROOT and writes its path without symbolic links to REAL. Returns a descriptor, or -1 with errno. */
static int open_real(int root, const char *name, char real[PATH_MAX])
{
	char link[64];
	int fd = open_in_root(root, name, O_PATH);
	if (fd < 0)
		return -1;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, real, PATH_MAX);
	if (n < 0 || n >= PATH_MAX)
		return close_keep_errno(fd, -1);
	real[n] = '\0';
	return fd;
}

static bool is_socket(int fd)
{
	struct stat status;
	return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

/* Reports whether FD, whose path is REAL in the command's view, is in the temporary directory of the command, or in a
 * private directory such as its /tmp. This is the case if the same file is there in the view of the keeper. */
static bool is_temporary(const struct sandbox_spec *spec, int fd, const char *real)
{
	char path[PATH_MAX];
	struct stat status, other;
	if (spec->tmp_dir && path_within(real, spec->tmp_dir))
		return true;
	for_each_bind (at, source, &spec->binds) {
		if (!path_within(real, at))
			continue;
		int length = snprintf(path, sizeof path, "%s%s", source, real + strlen(at));
		return length < PATH_MAX && fstat(fd, &status) == 0 && lstat(path, &other) == 0 &&
		       status.st_dev == other.st_dev && status.st_ino == other.st_ino;
	}
	return false;
}

static bool is_hidden(const struct sandbox_spec *spec, const char *real)
{
	return path_within_any(real, &spec->denied) || path_within_any(real, &spec->masked);
}

static bool is_allowed(const struct sandbox_spec *spec, int fd, const char *real)
{
	/* A masked path of the host may have the name of a path in a private directory. */
	if (is_temporary(spec, fd, real))
		return true;
	if (is_hidden(spec, real))
		return false;
	/* Connecting is a way to write. */
	return path_within_any(real, &spec->writable) && !path_within_any(real, &spec->read_only);
}

/* Reports whether the operator allows connections to REAL: a path at or above it is listed, and no denied path is in
 * between. */
static bool is_listed(const struct sandbox_spec *spec, const char *real)
{
	for_each_string (listed, &spec->sockets) {
		bool allowed = path_within(real, listed);
		for_each_string (denied, &spec->denied)
			allowed = allowed && (!path_within(real, denied) || path_within(listed, denied));
		if (allowed)
			return true;
	}
	return false;
}

/* Opens the socket PATH if the command may connect to it. Sockets in writable paths are opened in the view of the
 * command. Those that the operator has listed are opened in the view of the keeper, because the command may not see
 * them. Returns a descriptor, or -1 with errno. */
static int open_allowed(const struct sandbox_spec *spec, int root, const char *path)
{
	char real[PATH_MAX];
	int error = EACCES;
	int fd = open_real(root, path, real);
	if (fd < 0)
		error = errno;
	else if (!is_socket(fd))
		error = is_hidden(spec, real) ? EACCES : ECONNREFUSED; /* a mask replaces the socket */
	else if (is_allowed(spec, fd, real))
		return fd;
	if (fd >= 0)
		close(fd);
	int own_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = own_root < 0 ? -1 : close_keep_errno(own_root, open_real(own_root, path, real));
	if (fd >= 0 && is_socket(fd) && is_listed(spec, real))
		return fd;
	errno = error;
	return close_keep_errno(fd, -1);
}

static int connect_path(const struct sandbox_spec *spec, const struct target *target, int socket, const char *name)
{
	char path[PATH_MAX];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int error = make_absolute(target, name, path);
	if (error)
		return error;
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/%d/root", (int)target->tid);
	int root = open(address.sun_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return errno;
	if (!notification_is_waiting(target->listener, target->id))
		error = ESRCH; /* the pid may belong to another process */
	if (!error)
		error = command_user_assume(spec);
	int fd = error ? -1 : open_allowed(spec, root, path);
	if (!error && fd < 0)
		error = errno;
	close(root);
	if (error)
		return error;
	/* The descriptor refers to the socket that was checked, whatever has its name now. */
	int length = snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", fd);
	int result = connect(socket, (struct sockaddr *)&address,
			     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)length + 1));
	return close_keep_errno(fd, result) < 0 ? errno : 0;
}

int unix_connect(const struct sandbox_spec *spec, const struct target *target, int socket,
		 const struct sockaddr_un *address, socklen_t length)
{
	char name[sizeof address->sun_path + 1];
	const size_t from = offsetof(struct sockaddr_un, sun_path);
	if (length <= from || length > sizeof *address || address->sun_family != AF_UNIX)
		return EINVAL;
	if (address->sun_path[0] == '\0')
		return abstract_connect(spec, socket, address, length);
	size_t used = strnlen(address->sun_path, length - from);
	memcpy(name, address->sun_path, used);
	name[used] = '\0';
	return connect_path(spec, target, socket, name);
}
