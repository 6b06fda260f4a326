#include "io/open_beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fd.h"

/* From linux/openat2.h, which is missing on some systems. */
struct how {
	uint64_t flags, mode, resolve;
};
#define NO_MAGICLINKS 0x02u
#define NO_SYMLINKS 0x04u
#define BENEATH 0x08u
#define IN_ROOT 0x10u
#define ATTEMPTS 100u
#ifndef SYS_openat2
#define SYS_openat2 437
#endif

bool path_is_beneath(const char *root, const char *path)
{
	size_t length = strlen(root);
	if (length == 1)
		return path[0] == '/';
	return strncmp(root, path, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

bool open_beneath_escaped(int error)
{
	return error == EXDEV || error == ELOOP;
}

static const char *below(const char *root, const char *path)
{
	path += strlen(root);
	while (*path == '/')
		path++;
	return *path ? path : ".";
}

/* Opens PATH with openat2, which rejects symbolic links in all components. */
static int open_resolved(int folder, const char *path, int flags, mode_t mode, uint64_t resolve)
{
#ifdef KEEPER_WITHOUT_OPENAT2 /* to test the fallback */
	(void)folder, (void)path, (void)flags, (void)mode, (void)resolve;
	errno = ENOSYS;
	return -1;
#else
	struct how how = {(uint64_t)(unsigned)flags, flags & O_CREAT ? mode : 0, resolve | NO_MAGICLINKS};
	/* EAGAIN means that a rename or mount anywhere on the system raced with the path resolution. */
	for (unsigned attempt = 0;; attempt++) {
		int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
		if (fd >= 0 || errno != EAGAIN || attempt == ATTEMPTS)
			return fd;
	}
#endif
}

static int open_straight(int folder, const char *path, int flags, mode_t mode, uint64_t resolve)
{
	return open_resolved(folder, path, flags, mode, resolve | NO_SYMLINKS);
}

/* Opens one path component. openat returns ENOTDIR both for a file and for a symbolic link in place of a directory;
 * this function returns ELOOP for the link. */
static int step(int folder, const char *name, int flags, mode_t mode)
{
	struct stat status;
	if (strcmp(name, "..") == 0) {
		errno = EXDEV;
		return -1;
	}
	int fd = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0 && errno == ENOTDIR && fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		errno = S_ISLNK(status.st_mode) ? ELOOP : ENOTDIR;
	return fd;
}

/* Opens PATH component by component, on kernels before 5.6 and in sandboxes that forbid openat2. */
static int walk(int folder, const char *path, int flags, mode_t mode)
{
	char name[NAME_MAX + 1];
	int at = folder;
	for (;;) {
		size_t length = strcspn(path, "/");
		const char *rest = path + length + strspn(path + length, "/");
		if (length > NAME_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, path, length);
		name[length] = '\0';
		int next = *rest ? step(at, name, O_PATH | O_DIRECTORY, 0) : step(at, name, flags, mode);
		if (at != folder)
			close_keep_errno(at, 0);
		if (next < 0 || !*rest)
			return next;
		at = next;
		path = rest;
	}
}

/* Reports whether errno means that openat2 is not available. Older sandboxes reject unknown system calls with EPERM. */
static bool is_unknown(int error)
{
	return error == ENOSYS || error == EPERM;
}

static int open_root(const char *root, int flags)
{
	int top = open_straight(AT_FDCWD, root, flags, 0, 0);
	if (top >= 0 || !is_unknown(errno))
		return top;
	int slash = open("/", flags);
	return slash < 0 ? -1 : close_keep_errno(slash, walk(slash, below("/", root), flags, 0));
}

/* Opens an absolute path without ".." in one system call: a sandbox opens about a thousand paths from "/". */
static int open_from_root(const char *path, int flags, mode_t mode)
{
	return open_straight(AT_FDCWD, path, flags | O_CLOEXEC, mode, 0);
}

int open_beneath(const char *root, const char *path, int flags, mode_t mode)
{
	if (strcmp(root, "/") == 0 && path[0] == '/' && !strstr(path, "/..")) {
		int direct = open_from_root(path, flags, mode);
		if (direct >= 0 || !is_unknown(errno))
			return direct;
	}
	int top = open_root(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return -1;
	const char *rest = below(root, path);
	int fd = open_straight(top, rest, flags | O_CLOEXEC, mode, BENEATH);
	if (fd < 0 && is_unknown(errno))
		fd = walk(top, rest, flags, mode);
	return close_keep_errno(top, fd);
}

int open_in_root(int root, const char *path, int flags)
{
	return open_resolved(root, path, flags | O_CLOEXEC, 0, IN_ROOT);
}
