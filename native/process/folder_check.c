#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fd.h"
#include "ipc/listener.h"
#include "process/keeper.h"

#define PROBE_BYTES 4096

/* Each returns whether the file system supports one thing that a state directory needs, or sets errno. */

static bool locks(int file)
{
	return flock(file, LOCK_EX | LOCK_NB) == 0;
}

/* Gateways share the index of the database's log through such a mapping. */
static bool maps(int file)
{
	static const char zeros[PROBE_BYTES];
	/* Writing to a mapping without disk space would be fatal. */
	ssize_t n = pwrite(file, zeros, sizeof zeros, 0);
	if (n != (ssize_t)sizeof zeros) {
		errno = n < 0 ? errno : ENOSPC;
		return false;
	}
	char *page = mmap(NULL, PROBE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		return false;
	page[0] = 1;
	char byte = 0;
	bool seen = msync(page, PROBE_BYTES, MS_SYNC) == 0 && pread(file, &byte, 1, 0) == 1 && byte == 1;
	munmap(page, PROBE_BYTES);
	return seen;
}

static bool renames(int folder, const char *name)
{
	char other[48];
	snprintf(other, sizeof other, "%s.new", name);
	int fd = openat(folder, other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	bool done = close_keep_errno(fd, write(fd, "x", 1) == 1 && fsync(fd) == 0) &&
		    renameat(folder, other, folder, name) == 0;
	if (!done)
		(void)!unlinkat(folder, other, 0);
	return done;
}

static bool listens(int folder, const char *name)
{
	int fd = listener_open(folder, name, 1);
	return fd >= 0 && close_keep_errno(fd, unlinkat(folder, name, 0) == 0);
}

/* Returns the step that failed with errno, or NULL. */
static const char *check(int folder, const char *name)
{
	int file = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file < 0)
		return "files";
	const char *failed = !locks(file) ? "locks" : !maps(file) ? "maps" : !renames(folder, name) ? "renames" : NULL;
	close_keep_errno(file, 0);
	int error = errno;
	(void)unlinkat(folder, name, 0);
	errno = error;
	if (!failed && !listens(folder, name))
		failed = "sockets";
	return failed;
}

int folder_check(const char *path)
{
	char name[32];
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(name, sizeof name, ".check-%d", (int)getpid());
	const char *failed = folder < 0 ? "files" : check(folder, name);
	int error = errno;
	if (failed)
		printf("{\"step\":\"%s\",\"errno\":%d}\n", failed, error);
	else
		printf("{}\n");
	return 0;
}
