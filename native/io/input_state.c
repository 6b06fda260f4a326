#include "io/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include "process/process_tree.h"

/* Maximum number of descriptors of a poll or select call that are examined. */
#define MAX_WATCHED 1024
#define MAX_THREADS 256

struct input_query {
	dev_t tty;
	pid_t group;
	struct input_state state;
};

/* A thread that is blocked in a system call. */
struct blocked {
	pid_t pid;
	bool owns_tty; /* the terminal is its controlling terminal, so /dev/tty refers to it as well */
	long number;
	uint64_t args[6];
};

static ssize_t read_text(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n = read(fd, text, room - 1);
	int error = errno;
	close(fd);
	errno = error;
	if (n >= 0)
		text[n] = '\0';
	return n;
}

static bool is_terminal(const struct input_query *query, const struct blocked *thread, uint64_t fd)
{
	char path[64];
	struct stat status;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread->pid, (int)fd);
	if (fd > INT32_MAX || stat(path, &status) < 0 || !S_ISCHR(status.st_mode))
		return false;
	return status.st_rdev == query->tty || (thread->owns_tty && status.st_rdev == makedev(5, 0));
}

static bool copy_from(pid_t pid, uint64_t address, void *bytes, size_t length)
{
	struct iovec here = {bytes, length}, there = {(void *)(uintptr_t)address, length};
	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)length;
}

static bool polls_terminal(const struct input_query *query, const struct blocked *thread)
{
	static struct pollfd fds[MAX_WATCHED];
	uint64_t count = thread->args[1];
	if (count == 0 || count > MAX_WATCHED || !copy_from(thread->pid, thread->args[0], fds, count * sizeof *fds))
		return false;
	for (uint64_t i = 0; i < count; i++)
		if (fds[i].fd >= 0 && (fds[i].events & (POLLIN | POLLRDNORM)) &&
		    is_terminal(query, thread, (uint64_t)fds[i].fd))
			return true;
	return false;
}

static bool selects_terminal(const struct input_query *query, const struct blocked *thread)
{
	unsigned char set[MAX_WATCHED / 8];
	uint64_t count = thread->args[0] < MAX_WATCHED ? thread->args[0] : MAX_WATCHED;
	/* An fd_set consists of whole longs. */
	size_t bytes = (size_t)(count + 8 * sizeof(long) - 1) / (8 * sizeof(long)) * sizeof(long);
	if (count == 0 || thread->args[1] == 0 || !copy_from(thread->pid, thread->args[1], set, bytes))
		return false;
	for (uint64_t fd = 0; fd < count; fd++)
		if ((set[fd / 8] >> (fd % 8) & 1) && is_terminal(query, thread, fd))
			return true;
	return false;
}

/* Reports whether the epoll instance watches the terminal. The kernel lists its descriptors as `tfd: 0 events: 19 data:
 * …`. */
static bool epolls_terminal(const struct input_query *query, const struct blocked *thread)
{
	char path[64], text[8192];
	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)thread->pid, (int)thread->args[0]);
	if (read_text(path, text, sizeof text) <= 0)
		return false;
	for (const char *at = text; (at = strstr(at, "tfd:")); at += 4) {
		int fd;
		unsigned events;
		if (sscanf(at, "tfd: %d events: %x", &fd, &events) == 2 && (events & EPOLLIN) && fd >= 0 &&
		    is_terminal(query, thread, (uint64_t)fd))
			return true;
	}
	return false;
}

static bool awaits_terminal(const struct input_query *query, const struct blocked *thread)
{
	switch (thread->number) {
	case SYS_read:
	case SYS_readv: return is_terminal(query, thread, thread->args[0]);
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
	case SYS_restart_syscall: /* a poll that was restarted after SIGSTOP and SIGCONT */
		return polls_terminal(query, thread);
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6: return selects_terminal(query, thread);
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
	case SYS_epoll_pwait: return epolls_terminal(query, thread);
	default: return false;
	}
}

/* Checks whether a thread is waiting for input from the terminal. The `syscall` file contains `NUMBER ARG0 … ARG5 SP
 * PC` for a thread that is blocked in a system call, and `running` otherwise. */
static void check_thread(pid_t pid, pid_t tid, bool owns_tty, bool in_foreground, struct input_query *query)
{
	char path[96], text[512];
	struct blocked thread = {.pid = pid, .owns_tty = owns_tty};
	snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	if (read_text(path, text, sizeof text) < 0) {
		/* A process of another user, or one that is not dumpable, such as a password prompt, cannot be
		 * inspected. */
		if (in_foreground && errno != ENOENT && errno != ESRCH && query->state.reading == READING_NO)
			query->state.reading = READING_UNKNOWN;
		return;
	}
	char *at = text;
	thread.number = strtol(text, &at, 10);
	if (at == text)
		return;
	for (unsigned i = 0; i < 6; i++)
		thread.args[i] = strtoull(at, &at, 16);
	if (!awaits_terminal(query, &thread))
		return;
	query->state.reading = READING_YES;
	query->state.foreground = pid;
}

static dev_t device_of(unsigned encoded)
{
	return makedev(encoded >> 8 & 0xfff, (encoded & 0xff) | (encoded >> 12 & 0xfff00));
}

static void check_process(pid_t pid, int pidfd, void *context)
{
	struct input_query *query = context;
	char path[64], text[512];
	int group, tty;
	(void)pidfd;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (read_text(path, text, sizeof text) <= 0)
		return;
	char *after = strrchr(text, ')');
	if (!after || sscanf(after + 1, " %*c %*d %d %*d %d", &group, &tty) != 2)
		return;
	bool owns_tty = device_of((unsigned)tty) == query->tty;
	if (owns_tty && query->state.count < INPUT_STATE_MAX_PROCESSES)
		query->state.processes[query->state.count++] = pid;
	bool in_foreground = group == query->group;
	/* A background process of this terminal is stopped when it reads. A process with another controlling terminal,
	 * such as the tmux server, can read from this one. */
	if ((!in_foreground && owns_tty) || query->state.reading == READING_YES)
		return;
	if (in_foreground && (!query->state.foreground || pid == query->group))
		query->state.foreground = pid;
	pid_t threads[MAX_THREADS];
	unsigned count = process_threads(pid, threads, MAX_THREADS);
	for (unsigned i = 0; i < count && query->state.reading != READING_YES; i++)
		check_thread(pid, threads[i], owns_tty, in_foreground, query);
}

struct input_state input_state_query(const struct terminal *terminal)
{
	struct input_query query = {.state = {.reading = READING_NO}};
	struct termios modes;
	struct stat status;
	int group;
	if (tcgetattr(terminal->slave, &modes) == 0) {
		query.state.echo = modes.c_lflag & ECHO;
		query.state.canonical = modes.c_lflag & ICANON;
	}
	if (ioctl(terminal->master, TIOCGPGRP, &group) < 0 || group <= 0 || fstat(terminal->slave, &status) < 0)
		return query.state;
	query.tty = status.st_rdev;
	query.group = query.state.group = (pid_t)group;
	process_tree_walk(check_process, &query);
	/* With pending input the reader is about to wake up. The poll also makes the kernel deliver input that is still
	 * in transit between master and slave. */
	struct pollfd pending = {.fd = terminal->slave, .events = POLLIN};
	if (poll(&pending, 1, 0) > 0 && (pending.revents & POLLIN))
		query.state.reading = READING_NO;
	return query.state;
}
