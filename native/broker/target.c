#include "broker/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "broker/notification.h"
#include "fd.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#define PIDFD_OF_THREAD O_EXCL /* PIDFD_THREAD */

static bool read_status(pid_t tid, char *text, size_t room)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Returns the value of a field, such as "\nTgid:\t". The first line is the name of the process, which may contain
 * anything but a newline. */
static uint64_t status_field(const char *text, const char *name, int base)
{
	const char *at = strstr(text, name);
	return at ? strtoull(at + strlen(name), NULL, base) : 0;
}

static int open_pidfd(pid_t tid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, tid, PIDFD_OF_THREAD);
	if (pidfd >= 0 || errno != EINVAL)
		return pidfd;
	/* Before Linux 6.9 a pidfd refers to a process, whose threads usually share their descriptors. */
	char text[4096];
	if (!read_status(tid, text, sizeof text)) {
		errno = ESRCH;
		return -1;
	}
	return (int)syscall(SYS_pidfd_open, (pid_t)status_field(text, "\nTgid:\t", 10), 0);
}

int target_take_descriptor(const struct target *target, int fd)
{
	int pidfd = open_pidfd(target->tid);
	if (pidfd < 0)
		return -1;
	int taken = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	close_keep_errno(pidfd, 0);
	if (taken >= 0 && !notification_is_waiting(target->listener, target->id)) {
		errno = ESRCH; /* the pid may belong to another process */
		return close_keep_errno(taken, -1);
	}
	return taken;
}

int target_read(const struct target *target, uint64_t address, void *bytes, size_t length)
{
	struct iovec here = {bytes, length}, there = {(void *)(uintptr_t)address, length};
	if (length == 0)
		return 0;
	ssize_t n = process_vm_readv(target->tid, &here, 1, &there, 1, 0);
	if (n < 0)
		return errno;
	if (!notification_is_waiting(target->listener, target->id))
		return ESRCH;
	return (size_t)n == length ? 0 : EFAULT;
}

enum target_signal target_pending_signal(pid_t tid)
{
	char text[4096];
	if (!read_status(tid, text, sizeof text))
		return SIGNAL_NONE;
	uint64_t unblocked = ~status_field(text, "\nSigBlk:\t", 16);
	uint64_t own = status_field(text, "\nSigPnd:\t", 16) & unblocked;
	uint64_t shared = status_field(text, "\nShdPnd:\t", 16) & unblocked;
	if (own || (shared && status_field(text, "\nThreads:\t", 10) == 1))
		return SIGNAL_OWN;
	return shared ? SIGNAL_SHARED : SIGNAL_NONE;
}
