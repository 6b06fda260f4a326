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

/* A program that waits for input is looked for in trees of up to this many tasks. In a larger one the search would delay
 * the checks of the limits, and in a fork bomb it might not end. */
#define MAX_TASKS 1024

/* Maximum number of descriptors of a poll or select call that are examined. */
#define MAX_WATCHED 1024
#define MAX_THREADS 256

struct input_query {
	dev_t tty;
	pid_t group;
	struct input_state state;
};

/* A query for a command on pipes. */
struct pipe_query {
	struct stat input, outputs[2]; /* st_ino is 0 for a pipe that does not exist */
	struct input_wait wait;
};

/* A thread that is blocked in a system call. */
struct blocked {
	pid_t pid;
	long number;
	uint64_t args[6];
};

/* Decides whether a descriptor that a thread waits for is the input in question. */
struct awaited {
	bool (*matches)(const struct stat *status, uint64_t fd, bool epoll, void *context);
	void *context;
	bool epoll; /* set if the thread that was found waits for other events as well */
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

static bool is_awaited(struct awaited *awaited, const struct blocked *thread, uint64_t fd, bool epoll)
{
	char path[64];
	struct stat status;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread->pid, (int)fd);
	if (fd > INT32_MAX || stat(path, &status) < 0 || !awaited->matches(&status, fd, epoll, awaited->context))
		return false;
	awaited->epoll = epoll;
	return true;
}

static bool copy_from(pid_t pid, uint64_t address, void *bytes, size_t length)
{
	struct iovec here = {bytes, length}, there = {(void *)(uintptr_t)address, length};
	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)length;
}

static bool polls_input(struct awaited *awaited, const struct blocked *thread)
{
	static struct pollfd fds[MAX_WATCHED];
	uint64_t count = thread->args[1];
	if (count == 0 || count > MAX_WATCHED || !copy_from(thread->pid, thread->args[0], fds, count * sizeof *fds))
		return false;
	for (uint64_t i = 0; i < count; i++)
		if (fds[i].fd >= 0 && (fds[i].events & (POLLIN | POLLRDNORM)) &&
		    is_awaited(awaited, thread, (uint64_t)fds[i].fd, false))
			return true;
	return false;
}

static bool selects_input(struct awaited *awaited, const struct blocked *thread)
{
	unsigned char set[MAX_WATCHED / 8];
	uint64_t count = thread->args[0] < MAX_WATCHED ? thread->args[0] : MAX_WATCHED;
	/* An fd_set consists of whole longs. */
	size_t bytes = (size_t)(count + 8 * sizeof(long) - 1) / (8 * sizeof(long)) * sizeof(long);
	if (count == 0 || thread->args[1] == 0 || !copy_from(thread->pid, thread->args[1], set, bytes))
		return false;
	for (uint64_t fd = 0; fd < count; fd++)
		if ((set[fd / 8] >> (fd % 8) & 1) && is_awaited(awaited, thread, fd, false))
			return true;
	return false;
}

/* Reports whether the epoll instance watches the input. The kernel lists its descriptors as `tfd: 0 events: 19 data:
 * …`. */
static bool epolls_input(struct awaited *awaited, const struct blocked *thread)
{
	char path[64], text[8192];
	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)thread->pid, (int)thread->args[0]);
	if (read_text(path, text, sizeof text) <= 0)
		return false;
	for (const char *at = text; (at = strstr(at, "tfd:")); at += 4) {
		int fd;
		unsigned events;
		if (sscanf(at, "tfd: %d events: %x", &fd, &events) == 2 && (events & EPOLLIN) && fd >= 0 &&
		    is_awaited(awaited, thread, (uint64_t)fd, true))
			return true;
	}
	return false;
}

static bool awaits_input(struct awaited *awaited, const struct blocked *thread)
{
	switch (thread->number) {
	case SYS_read:
	case SYS_readv: return is_awaited(awaited, thread, thread->args[0], false);
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
	case SYS_restart_syscall: /* a poll that was restarted after SIGSTOP and SIGCONT */
		return polls_input(awaited, thread);
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6: return selects_input(awaited, thread);
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
	case SYS_epoll_pwait: return epolls_input(awaited, thread);
	default: return false;
	}
}

/* Reports whether a thread is waiting for the input. The `syscall` file contains `NUMBER ARG0 … ARG5 SP PC` for a thread
 * that is blocked in a system call, and `running` otherwise. The result is unknown if the file cannot be read: a process
 * of another user, or one that is not dumpable, such as a password prompt, cannot be inspected. */
static enum reading thread_reading(struct awaited *awaited, pid_t pid, pid_t tid)
{
	char path[96], text[512];
	struct blocked thread = {.pid = pid};
	snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	if (read_text(path, text, sizeof text) < 0)
		return errno == ENOENT || errno == ESRCH ? READING_NO : READING_UNKNOWN;
	char *at = text;
	thread.number = strtol(text, &at, 10);
	if (at == text)
		return READING_NO;
	for (unsigned i = 0; i < 6; i++)
		thread.args[i] = strtoull(at, &at, 16);
	return awaits_input(awaited, &thread) ? READING_YES : READING_NO;
}

/* Reports whether any thread of a process is waiting for the input. */
static enum reading process_reading(struct awaited *awaited, pid_t pid)
{
	enum reading found = READING_NO;
	pid_t threads[MAX_THREADS];
	unsigned count = process_threads(pid, threads, MAX_THREADS);
	for (unsigned i = 0; i < count && found != READING_YES; i++) {
		enum reading one = thread_reading(awaited, pid, threads[i]);
		if (one != READING_NO)
			found = one;
	}
	return found;
}

/* The terminal that a process waits for. */
struct awaited_terminal {
	dev_t tty;
	bool owns_tty; /* it is the controlling terminal of the process, so /dev/tty refers to it as well */
};

static bool is_terminal(const struct stat *status, uint64_t fd, bool epoll, void *context)
{
	const struct awaited_terminal *terminal = context;
	(void)fd, (void)epoll;
	return S_ISCHR(status->st_mode) && (status->st_rdev == terminal->tty ||
					    (terminal->owns_tty && status->st_rdev == makedev(5, 0)));
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
	struct awaited_terminal terminal = {query->tty, owns_tty};
	struct awaited awaited = {is_terminal, &terminal, false};
	enum reading reading = process_reading(&awaited, pid);
	if (reading == READING_YES) {
		query->state.foreground = pid;
		query->state.epoll = awaited.epoll;
	}
	if (reading == READING_YES || (reading == READING_UNKNOWN && in_foreground))
		query->state.reading = reading;
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
	process_tree_walk_small(check_process, &query, MAX_TASKS);
	/* With pending input the reader is about to wake up. The poll also makes the kernel deliver input that is still
	 * in transit between master and slave. */
	struct pollfd pending = {.fd = terminal->slave, .events = POLLIN};
	if (poll(&pending, 1, 0) > 0 && (pending.revents & POLLIN))
		query.state.reading = READING_NO;
	return query.state;
}

/* An editor that finds no terminal on stdin reads from stderr or stdout instead, whose write end never has input. Only
 * the standard descriptors count, and not with epoll: some programs watch their output pipe to notice that its reader
 * has closed it. */
static bool is_pipe(const struct stat *status, uint64_t fd, bool epoll, void *context)
{
	struct pipe_query *query = context;
	if (!S_ISFIFO(status->st_mode))
		return false;
	if (status->st_ino == query->input.st_ino && status->st_dev == query->input.st_dev) {
		query->wait.source = INPUT_STDIN;
		return true;
	}
	for (unsigned i = 0; i < 2 && !epoll && (fd == STDIN_FILENO || fd == STDERR_FILENO); i++)
		if (status->st_ino == query->outputs[i].st_ino && status->st_dev == query->outputs[i].st_dev) {
			query->wait.source = INPUT_OUTPUT;
			return true;
		}
	return false;
}

static void check_pipe_reader(pid_t pid, int pidfd, void *context)
{
	struct pipe_query *query = context;
	struct awaited awaited = {is_pipe, query, false};
	(void)pidfd;
	if (query->wait.pid || process_reading(&awaited, pid) != READING_YES)
		return;
	query->wait.pid = pid;
	query->wait.epoll = awaited.epoll;
}

/* Stores the name of the process, without characters that JSON would have to escape. */
static void read_name(struct input_wait *wait)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/comm", (int)wait->pid);
	if (read_text(path, wait->program, sizeof wait->program) < 0)
		wait->program[0] = '\0';
	wait->program[strcspn(wait->program, "\n")] = '\0';
	for (char *at = wait->program; *at; at++)
		if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\')
			*at = '?';
}

struct input_wait input_wait_query(const struct terminal *terminal, int input, const int outputs[2])
{
	struct pipe_query query = {.wait = {.source = INPUT_NONE}};
	struct input_wait *wait = &query.wait;
	if (terminal->master >= 0) {
		struct input_state state = input_state_query(terminal);
		wait->hidden = state.canonical && !state.echo;
		wait->lines = state.canonical;
		wait->epoll = state.epoll;
		/* A password prompt that cannot be inspected is recognized by the modes of the terminal. */
		if (state.reading == READING_YES || (state.reading == READING_UNKNOWN && wait->hidden)) {
			wait->pid = state.foreground;
			wait->source = INPUT_TERMINAL;
		}
	} else {
		int unread = 0;
		wait->lines = true;
		if (input >= 0 && (fstat(input, &query.input) < 0 || ioctl(input, FIONREAD, &unread) < 0 || unread > 0))
			query.input.st_ino = 0;
		for (unsigned i = 0; i < 2; i++)
			if (outputs[i] < 0 || fstat(outputs[i], &query.outputs[i]) < 0)
				query.outputs[i].st_ino = 0;
		process_tree_walk_small(check_pipe_reader, &query, MAX_TASKS);
	}
	if (wait->pid)
		read_name(wait);
	else
		wait->source = INPUT_NONE;
	return *wait;
}
