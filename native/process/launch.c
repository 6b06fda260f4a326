#include "process/launch.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/ahead.h"
#include "process/child.h"

/* For a pid namespace there is one more in between, which starts the command as the keeper's child and goes. */
__attribute__((noreturn)) static void begin(struct start *start)
{
	if (!start->sandbox->own_processes)
		child_become(start);
	if (cgroup_join(&start->guard->cgroup, start->in_groups) < 0)
		child_give_up("cgroup");
	struct isolation *isolation = &child_report()->isolation;
	if (isolation_start(isolation, &start->sandbox->kit->namespaces, child_become, start, NULL) < 0)
		child_give_up("sandbox-namespace");
	_exit(0);
}

/* A child in the group FOLDER from its first moment: moving one there later would cost milliseconds. */
static pid_t fork_into(int folder)
{
	struct clone_args args = {
		.flags = CLONE_VFORK | CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)folder};
	return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

/* vfork: no page tables to copy. The keeper waits here until the exec, which is what it would do anyway. */
static pid_t fork_off(struct start *start)
{
	int birthplace = cgroup_birthplace(&start->guard->cgroup);
	start->in_groups = true;
	pid_t pid = birthplace < 0 ? -1 : fork_into(birthplace);
	if (pid == 0)
		begin(start);
	/* Old kernels, and containers whose filter does not know clone3: the child moves then, which takes longer. */
	if (birthplace < 0 || (pid < 0 && (errno == ENOSYS || errno == EPERM || errno == EINVAL || errno == E2BIG))) {
		start->in_groups = false;
		pid = vfork();
		if (pid == 0)
			begin(start);
	}
	return pid;
}

static void reap(pid_t pid)
{
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* -1 with errno: there is none. */
static pid_t start_anew(struct start *start, struct report *report)
{
	bool isolated = start->sandbox->own_processes;
	if (isolated && isolation_prepare() < 0)
		return -1;
	*report = (struct report){0};
	pid_t pid = fork_off(start);
	if (pid < 0 || !isolated)
		return pid;
	reap(pid); /* who started the command has gone */
	return report->isolation.command;
}

pid_t launch(const struct request *request, const struct sandbox *sandbox, const struct guard *guard,
	     const int stdio[3], struct isolation **isolation, struct launch_failure *failure)
{
	struct start start = {request, sandbox, guard, stdio, getpid(), false};
	struct report *report = child_report();
	pid_t pid = report ? ahead_go(&start) : -1;
	if (pid == 0)
		pid = start_anew(&start, report);
	*isolation = NULL;
	if (pid < 0) {
		*failure = (struct launch_failure){"fork", errno};
		return -1;
	}
	if (pid > 0 && !report->step) {
		if (sandbox->own_processes)
			*isolation = &report->isolation;
		return pid;
	}
	if (report->isolation.first)
		kill(report->isolation.first, SIGKILL);
	reap(pid);
	reap(report->isolation.first);
	*failure = (struct launch_failure){report->step ? (const char *)report->step : "fork", report->error};
	return -1;
}
