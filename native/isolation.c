#include "isolation.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "title.h"

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
	(void)context;
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
			;
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

int isolation_start(struct isolation *isolation, const struct namespaces *namespaces, int (*body)(void *), void *context)
{
	const int shared = CLONE_PARENT | CLONE_VM | CLONE_VFORK | SIGCHLD;
	if (namespaces_enter(namespaces) < 0 || unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWPID) < 0)
		return -1;
	pid_t pid = clone(wait_for_orphans, first_stack + sizeof first_stack, CLONE_PARENT | SIGCHLD, NULL);
	if (pid < 0)
		return -1;
	isolation->first = pid;
	pid = clone(body, command_stack + sizeof command_stack, shared, context);
	if (pid < 0)
		return -1;
	isolation->command = pid;
	return 0;
}

void isolation_leave(pid_t pid)
{
	kill(pid, LEAVE);
}
