#include "sandbox/isolation.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/title.h"
#include "sandbox/mount/mounts.h"

#define STACK 65536
#define LEAVE SIGUSR2
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static char first_stack[STACK / 4] __attribute__((aligned(16)));
static char command_stack[STACK] __attribute__((aligned(16)));
static int keeper = -1; /* a descriptor of this process */

bool isolation_orphaned(void)
{
	struct pollfd parent = {.fd = keeper, .events = POLLIN};
	return poll(&parent, 1, 0) != 0;
}

static int wait_for_orphans(void *context)
{
	sigset_t set;
	siginfo_t info;
	bool leaving = false;
	struct isolation *isolation = context;
	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || isolation_orphaned())
		_exit(1);
	setsid();
	title_set("first of its namespace");
	/* Not one of the keeper's descriptors: pipes would stay open, and connections. */
	close_range(0, ~0U, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, LEAVE);
	for (;;) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			isolation->had_orphans = true;
		if (leaving && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
			_exit(0);
		if (sigwaitinfo(&set, &info) < 0)
			continue;
		/* From outside the namespace no sender can be seen: the command itself cannot pass for the keeper. */
		leaving = leaving || (info.si_signo == LEAVE && info.si_pid == 0);
	}
}

int isolation_prepare(void)
{
	if (keeper < 0)
		keeper = (int)syscall(SYS_pidfd_open, getpid(), 0);
	return keeper < 0 ? -1 : 0;
}

int isolation_start(struct isolation *isolation, const struct namespaces *namespaces, int (*body)(void *),
		    void *context, int *gone)
{
	const int waiting = gone ? CLONE_FILES | CLONE_CHILD_CLEARTID : CLONE_VFORK;
	if (namespaces_enter(namespaces) < 0 || unshare(CLONE_NEWNS | CLONE_NEWPID) < 0)
		return -1;
	pid_t pid = clone(wait_for_orphans, first_stack + sizeof first_stack, CLONE_PARENT | SIGCHLD, isolation);
	if (pid < 0)
		return -1;
	isolation->first = pid;
	pid = clone(body, command_stack + sizeof command_stack, CLONE_PARENT | CLONE_VM | SIGCHLD | waiting, context, NULL,
		    NULL, gone);
	if (pid < 0)
		return -1;
	isolation->command = pid;
	return 0;
}

/* Whoever the command left behind was the first process's child by the time it had ended. */
static bool has_children(pid_t pid)
{
	char path[64], text[16];
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool none = fd >= 0 && read(fd, text, sizeof text) == 0;
	if (fd >= 0)
		close(fd);
	return !none;
}

bool isolation_leave(const struct isolation *isolation)
{
	if (isolation->had_orphans || has_children(isolation->first)) {
		kill(isolation->first, LEAVE);
		return false;
	}
	kill(isolation->first, SIGKILL);
	return true;
}

struct trial {
	struct isolation isolation;
	volatile bool works;
};

static void reap(pid_t pid)
{
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static int try_proc(void *context)
{
	struct trial *trial = context;
	trial->works = mounts_proc() >= 0; /* where the host hides parts of its own /proc, a new one is refused */
	_exit(0);
}

static bool try_all(const struct namespaces *namespaces)
{
	struct trial *trial = mmap(NULL, sizeof *trial, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (trial == MAP_FAILED)
		return false;
	pid_t between = isolation_prepare() < 0 ? -1 : fork();
	if (between == 0)
		_exit(isolation_start(&trial->isolation, namespaces, try_proc, trial, NULL) < 0);
	reap(between);
	if (trial->isolation.first)
		kill(trial->isolation.first, SIGKILL);
	reap(trial->isolation.command);
	reap(trial->isolation.first);
	bool works = trial->works;
	munmap(trial, sizeof *trial);
	return works;
}

bool isolation_works(const struct namespaces *namespaces)
{
	static int known = -1;
	if (namespaces->mount < 0)
		return false;
	if (known < 0)
		known = try_all(namespaces);
	return known;
}
