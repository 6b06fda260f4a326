#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isolation.h"
#include "limits.h"
#include "sandbox.h"
#include "scope.h"

/* Written by the child, read by its parent. In memory they share: after vfork that is all of it, but a child that is
 * born into a group has its own. */
static struct report {
	volatile const char *volatile step;
	volatile int error;
	struct isolation isolation;
} *report;

__attribute__((noreturn)) static void give_up(const char *step)
{
	report->error = errno;
	report->step = step;
	_exit(127);
}

/* As execvp does: a file the kernel cannot recognise is a script for /bin/sh. */
static void try_file(const struct request *request, const char *file)
{
	execve(file, request->argv, request->envp);
	if (errno != ENOEXEC)
		return;
	char *first = request->argv[0];
	request->argv[-1] = (char *)"/bin/sh";
	request->argv[0] = (char *)file;
	execve("/bin/sh", request->argv - 1, request->envp);
	request->argv[0] = first;
}

static void try_path(const struct request *request)
{
	char candidate[PATH_MAX];
	const char *folder = request->path ? request->path : "/usr/local/bin:/usr/bin:/bin";
	size_t name_length = strlen(request->file);
	bool denied = false;
	for (;;) {
		size_t length = strcspn(folder, ":");
		/* An empty entry means the working directory to execvp: an agent's file would shadow a program. Skipped. */
		if (length > 0 && length + 1 + name_length + 1 <= sizeof candidate) {
			memcpy(candidate, folder, length);
			candidate[length] = '/';
			memcpy(candidate + length + 1, request->file, name_length + 1);
			try_file(request, candidate);
			if (errno == EACCES)
				denied = true;
			else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != ENAMETOOLONG)
				return;
		}
		if (folder[length] == '\0')
			break;
		folder += length + 1;
	}
	errno = denied ? EACCES : ENOENT;
}

static void enter_folder(const struct request *request)
{
	if (!request->root) {
		if (chdir(request->cwd) < 0)
			give_up("chdir");
		return;
	}
	int folder = scope_open(request->root, request->cwd, O_PATH | O_DIRECTORY, 0);
	if (folder < 0)
		give_up(scope_left(errno) ? "scope" : "chdir");
	if (fchdir(folder) < 0)
		give_up("chdir");
}

struct start {
	const struct request *request;
	const struct sandbox *sandbox;
	const struct guard *guard;
	const int *stdio;
	pid_t keeper;
	bool in_groups; /* in the groups that count it, by birth */
};

/* Dies with the keeper, and at once if that has died already. A change of user undoes it. */
static void die_with_keeper(const struct start *start)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		give_up("pdeathsig");
	if (start->sandbox->own_processes ? isolation_orphaned() : getppid() != start->keeper)
		_exit(127);
}

/* The groups that count it, while nothing has been used yet, and its view of files, network and processes. */
static void take_place(const struct start *start)
{
	if (!start->sandbox->own_processes && cgroup_join(&start->guard->cgroup, start->in_groups) < 0)
		give_up("cgroup");
	const char *step = sandbox_enter(start->sandbox);
	if (step)
		give_up(step);
}

static int become(void *context)
{
	const struct start *start = context;
	const struct request *request = start->request;
	sigset_t none;

	/* 1. Where it belongs. */
	take_place(start);
	/* 2. Die with the keeper. */
	die_with_keeper(start);
	/* 3. A session and process group of its own. */
	if (setsid() < 0)
		give_up("setsid");
	/* 4. Its three descriptors and no others. */
	for (int fd = 0; fd < 3; fd++)
		if (dup2(start->stdio[fd], fd) < 0)
			give_up("dup2");
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	/* Whoever has no terminal there has fallen back on pipes. */
	if (request->columns && isatty(0) && ioctl(0, TIOCSCTTY, 0) < 0)
		give_up("terminal");
	/* 5. The folder and the mask the caller asked for. */
	umask((mode_t)request->umask);
	enter_folder(request);
	/* 6. Signals as a fresh program expects them. */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* 7. Its limits: they hold for what comes after. */
	const char *step = limits_set(request, start->guard->machine_tasks);
	if (step)
		give_up(step);
	/* 8. Its confinement, last: from here on it may do nothing more than its command. */
	step = sandbox_put_on(start->sandbox);
	if (step)
		give_up(step);
	if (request->sandbox.has_user)
		die_with_keeper(start);
	/* 9. Go. */
	if (strchr(request->file, '/'))
		try_file(request, request->file);
	else
		try_path(request);
	give_up("execve");
}

/* For a pid namespace there is one more in between, which starts the command as the keeper's child and goes. */
__attribute__((noreturn)) static void begin(struct start *start)
{
	if (!start->sandbox->own_processes)
		become(start);
	if (cgroup_join(&start->guard->cgroup, start->in_groups) < 0)
		give_up("cgroup");
	if (isolation_start(&report->isolation, &start->sandbox->kit->namespaces, become, start) < 0)
		give_up("sandbox-namespace");
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

static bool share_report(void)
{
	if (!report) {
		void *page = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		report = page == MAP_FAILED ? NULL : page;
	}
	return report != NULL;
}

static void reap(pid_t pid)
{
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

pid_t launch(const struct request *request, const struct sandbox *sandbox, const struct guard *guard,
	     const int stdio[3], struct isolation **isolation, struct launch_failure *failure)
{
	struct start start = {request, sandbox, guard, stdio, getpid(), false};
	*isolation = NULL;
	bool ready = share_report() && (!sandbox->own_processes || isolation_prepare() == 0);
	if (ready)
		*report = (struct report){0};
	pid_t pid = ready ? fork_off(&start) : -1;
	if (pid < 0) {
		*failure = (struct launch_failure){"fork", errno};
		return -1;
	}
	if (sandbox->own_processes) { /* who started the command has gone */
		reap(pid);
		pid = report->isolation.command;
		*isolation = &report->isolation;
	}
	if (pid > 0 && !report->step)
		return pid;
	if (report->isolation.first)
		kill(report->isolation.first, SIGKILL);
	reap(pid);
	reap(report->isolation.first);
	*isolation = NULL;
	*failure = (struct launch_failure){report->step ? (const char *)report->step : "fork", report->error};
	return -1;
}
