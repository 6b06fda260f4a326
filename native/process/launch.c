#include "process/launch.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/child.h"
#include "process/prefork.h"

/* For a pid namespace there is one more in between, which starts the command as the keeper's child and goes. */
__attribute__((noreturn)) static void child_entry(struct launch_context *context)
{
	if (!context->sandbox->own_pid_namespace)
		child_main(context);
	if (cgroup_join(&context->limits->cgroup, context->born_in_cgroup) < 0)
		child_fail("cgroup");
	struct pid_namespace *pid_ns = &child_report_get()->pid_ns;
	if (pid_namespace_start(pid_ns, &context->sandbox->cached->namespaces, child_main, context, NULL) < 0)
		child_fail("sandbox-namespace");
	_exit(0);
}

/* A child in the group FOLDER from its first moment: moving one there later would cost milliseconds. */
static pid_t clone_into_cgroup(int folder)
{
	struct clone_args args = {
		.flags = CLONE_VFORK | CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)folder};
	return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

/* vfork: no page tables to copy. The keeper waits here until the exec, which is what it would do anyway. */
static pid_t fork_child(struct launch_context *context)
{
	int cgroup = cgroup_clone_target(&context->limits->cgroup);
	context->born_in_cgroup = true;
	pid_t pid = cgroup < 0 ? -1 : clone_into_cgroup(cgroup);
	if (pid == 0)
		child_entry(context);
	/* Old kernels, and containers whose filter does not know clone3: the child moves then, which takes longer. */
	if (cgroup < 0 || (pid < 0 && (errno == ENOSYS || errno == EPERM || errno == EINVAL || errno == E2BIG))) {
		context->born_in_cgroup = false;
		pid = vfork();
		if (pid == 0)
			child_entry(context);
	}
	return pid;
}

static void reap(pid_t pid)
{
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* -1 with errno: there is none. */
static pid_t launch_new(struct launch_context *context, struct child_report *report)
{
	bool isolated = context->sandbox->own_pid_namespace;
	if (isolated && pid_namespace_prepare() < 0)
		return -1;
	*report = (struct child_report){0};
	pid_t pid = fork_child(context);
	if (pid < 0 || !isolated)
		return pid;
	reap(pid); /* who started the command has gone */
	return report->pid_ns.command;
}

pid_t launch(const struct request *request, const struct sandbox *sandbox, const struct limit_monitor *limits,
	     const int stdio[3], struct pid_namespace **pid_ns, struct launch_failure *failure)
{
	struct launch_context context = {request, sandbox, limits, stdio, getpid(), false};
	struct child_report *report = child_report_get();
	pid_t pid = report ? prefork_launch(&context) : -1;
	if (pid == 0)
		pid = launch_new(&context, report);
	*pid_ns = NULL;
	if (pid < 0) {
		*failure = (struct launch_failure){"fork", errno};
		return -1;
	}
	if (pid > 0 && !report->step) {
		if (sandbox->own_pid_namespace)
			*pid_ns = &report->pid_ns;
		return pid;
	}
	if (report->pid_ns.init)
		kill(report->pid_ns.init, SIGKILL);
	reap(pid);
	reap(report->pid_ns.init);
	*failure = (struct launch_failure){report->step ? (const char *)report->step : "fork", report->error};
	return -1;
}
