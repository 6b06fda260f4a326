#include "process/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker/broker.h"
#include "io/open_beneath.h"
#include "process/oom_score.h"
#include "process/process_tree.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2u
#endif
#define NO_DESCRIPTOR (~0u) /* higher than any descriptor */

/* ---- resource limits ---- */

/* The usual soft limit of a login shell. Node raises its own to the hard limit, which slows down programs that close
 * all descriptors and breaks those that use select(). */
#define USUAL_OPEN_FILES 1024
/* RLIMIT_NPROC counts all tasks of the user. It only has to stop a fork bomb until the keeper's next check, so it is
 * set far above anything that a tree within its own limit can reach. */
#define USER_TIMES 4
/* RLIMIT_DATA limits a single process, in addition to the limit of the tree. This margin leaves room for thread stacks
 * and for memory that runtimes reserve but do not use. */
#define DATA_ROOM (1ull << 30)

/* Sets a soft limit. If FIXED, it also lowers the hard limit, so that the command cannot raise the soft limit again. */
static const char *set_rlimit(int resource, const char *step, rlim_t soft, bool fixed)
{
	struct rlimit limit;
	if (getrlimit(resource, &limit) < 0)
		return step;
	limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
	if (fixed)
		limit.rlim_max = limit.rlim_cur;
	return setrlimit(resource, &limit) < 0 ? step : NULL;
}

static const char *lower_rlimit(int resource, const char *step, rlim_t most)
{
	struct rlimit limit;
	if (getrlimit(resource, &limit) < 0)
		return step;
	return limit.rlim_cur <= most ? NULL : set_rlimit(resource, step, most, true);
}

static const char *set_rlimits(const struct request *request, uint64_t tasks)
{
	const char *failed = set_rlimit(RLIMIT_CORE, "limit-core", 0, false);
	if (!failed)
		failed = set_rlimit(RLIMIT_NOFILE, "limit-files",
				    request->open_files ? request->open_files : USUAL_OPEN_FILES,
				    request->open_files != 0);
	if (!failed && request->file_size)
		failed = set_rlimit(RLIMIT_FSIZE, "limit-file-size", request->file_size, true);
	if (!failed && request->processes)
		failed = lower_rlimit(RLIMIT_NPROC, "limit-processes", USER_TIMES * (request->processes + tasks));
	if (!failed && request->memory)
		failed = lower_rlimit(RLIMIT_DATA, "limit-data", request->memory + DATA_ROOM);
	return failed;
}

static struct child_report *shared_report;

struct child_report *child_report_get(void)
{
	if (!shared_report) {
		void *page =
			mmap(NULL, sizeof *shared_report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		shared_report = page == MAP_FAILED ? NULL : page;
	}
	return shared_report;
}

void child_report_clear(struct child_report *report)
{
	report->step = NULL;
	report->error = 0;
	report->pid_ns.init = report->pid_ns.command = 0;
	report->pid_ns.had_orphans = false;
}

void child_fail(const char *step)
{
	shared_report->error = errno;
	shared_report->step = step;
	_exit(127);
}

/* Executes FILE. Like execvp, it runs a file in an unknown format as a script with /bin/sh. */
static void exec_file(const struct request *request, const char *file)
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

static void exec_from_path(const struct request *request)
{
	char candidate[PATH_MAX];
	const char *folder = request->path ? request->path : "/usr/local/bin:/usr/bin:/bin";
	size_t name_length = strlen(request->file);
	bool denied = false;
	for (;;) {
		size_t length = strcspn(folder, ":");
		/* Empty entries are skipped. For execvp they mean the working directory, where a file of the agent
		 * could shadow a program. */
		if (length > 0 && length + 1 + name_length + 1 <= sizeof candidate) {
			memcpy(candidate, folder, length);
			candidate[length] = '/';
			memcpy(candidate + length + 1, request->file, name_length + 1);
			exec_file(request, candidate);
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

static void change_directory(const struct request *request)
{
	if (!request->root) {
		if (chdir(request->cwd) < 0)
			child_fail("chdir");
		return;
	}
	int folder = open_beneath(request->root, request->cwd, O_PATH | O_DIRECTORY, 0);
	if (folder < 0)
		child_fail(open_beneath_escaped(errno) ? "scope" : "chdir");
	if (fchdir(folder) < 0)
		child_fail("chdir");
}

/* Makes the kernel kill the child when the keeper exits, and exits if the keeper is already gone. A change of user
 * resets this setting. */
static void set_parent_death_signal(const struct launch_context *context)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		child_fail("pdeathsig");
	if (context->sandbox->own_pid_namespace ? keeper_has_died() : getppid() != context->keeper)
		_exit(127);
}

/* Enters the namespaces and creates a new session and process group. */
static void enter_sandbox(const struct launch_context *context)
{
	const char *step = sandbox_enter(context->sandbox);
	if (step)
		child_fail(step);
	set_parent_death_signal(context);
	if (setsid() < 0)
		child_fail("setsid");
}

/* Installs stdin, stdout and stderr, and closes all other descriptors on exec. */
static void install_stdio(const struct launch_context *context)
{
	for (int fd = 0; fd < 3; fd++)
		if (dup2(context->stdio[fd], fd) < 0)
			child_fail("dup2");
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	/* If no terminal was available, the command runs on pipes. */
	if (context->request->columns && isatty(0) && ioctl(0, TIOCSCTTY, 0) < 0)
		child_fail("terminal");
}

/* Resets signal dispositions and the signal mask to the defaults that programs expect. */
static void reset_signals(void)
{
	sigset_t none;
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Applies the settings of the request: descriptors, umask, working directory, and limits. */
static void apply_request(const struct launch_context *context)
{
	install_stdio(context);
	umask((mode_t)context->request->umask);
	change_directory(context->request);
	reset_signals();
	const char *step = set_rlimits(context->request, context->limits->system_tasks);
	if (step)
		child_fail(step);
}

static void apply_sandbox(const struct launch_context *context)
{
	const char *step = sandbox_apply(context->sandbox);
	if (step)
		child_fail(step);
}

static void execute(const struct request *request)
{
	if (strchr(request->file, '/'))
		exec_file(request, request->file);
	else
		exec_from_path(request);
}

static int child_main(void *argument)
{
	const struct launch_context *context = argument;
	/* Join the cgroup first, so that all resources are accounted to it. */
	if (!context->sandbox->own_pid_namespace && cgroup_join(&context->limits->cgroup, context->born_in_cgroup) < 0)
		child_fail("cgroup");
	enter_sandbox(context);
	apply_request(context);
	/* The sandbox is applied last: from here on the child has only the privileges of the command. */
	apply_sandbox(context);
	if (context->request->sandbox.has_user)
		set_parent_death_signal(context);
	execute(context->request);
	child_fail("execve");
}

void child_prepare(const struct launch_context *context)
{
	enter_sandbox(context);
	apply_sandbox(context);
}

bool child_can_unshare_descriptors(void)
{
	static int known = -1;
	if (known < 0) /* neither call changes anything */
		known = unshare(0) == 0 || syscall(SYS_close_range, NO_DESCRIPTOR, NO_DESCRIPTOR, 0) == 0;
	return known;
}

void child_exec(const struct launch_context *context)
{
	/* Until here, the child shared the keeper's descriptors, including those that were opened in the meantime.
	 * Container runtimes forbid unshare with any flag, but not close_range. */
	if (unshare(CLONE_FILES) < 0 &&
	    syscall(SYS_close_range, NO_DESCRIPTOR, NO_DESCRIPTOR, CLOSE_RANGE_UNSHARE) < 0)
		child_fail("descriptors");
	apply_request(context);
	execute(context->request);
	child_fail("execve");
}

/* Runs the forked child. With a pid namespace, this process is an intermediate one: it starts the command as a child of
 * the keeper (CLONE_PARENT) and exits. */
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

/* Forks the child directly into the cgroup FOLDER, because moving it there later takes milliseconds. */
static pid_t clone_into_cgroup(int folder)
{
	struct clone_args args = {
		.flags = CLONE_VFORK | CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)folder};
	return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

/* Forks the child with vfork, which copies no page tables. It suspends the keeper until the exec, for which the keeper
 * would wait anyway. */
static pid_t fork_child(struct launch_context *context)
{
	int cgroup = cgroup_clone_target(&context->limits->cgroup);
	context->born_in_cgroup = true;
	pid_t pid = cgroup < 0 ? -1 : clone_into_cgroup(cgroup);
	if (pid == 0)
		child_entry(context);
	/* Older kernels and some container filters do not support clone3. The child then joins the cgroup itself,
	 * which is slower. */
	if (cgroup < 0 || (pid < 0 && (errno == ENOSYS || errno == EPERM || errno == EINVAL || errno == E2BIG))) {
		context->born_in_cgroup = false;
		pid = vfork();
		if (pid == 0)
			child_entry(context);
	}
	return pid;
}

/* Forks a new child and returns the pid of the command, or -1 with errno. */
static pid_t launch_new(struct launch_context *context, struct child_report *report)
{
	bool isolated = context->sandbox->own_pid_namespace;
	if ((isolated && pid_namespace_prepare() < 0) || (context->sandbox->brokered && broker_handoff_open() < 0))
		return -1;
	child_report_clear(report);
	pid_t pid = fork_child(context);
	if (pid < 0)
		return -1;
	if (isolated) {
		process_reap(pid); /* the intermediate process */
		pid = report->pid_ns.command;
	}
	context->listener = broker_handoff_receive();
	return pid;
}

pid_t launch(const struct request *request, const struct sandbox *sandbox, const struct limit_monitor *limits,
	     const int stdio[3], struct launched *launched, struct launch_failure *failure)
{
	struct launch_context context = {request, sandbox, limits, stdio, getpid(), false, -1};
	struct child_report *report = child_report_get();
	oom_score_begin_launch();
	pid_t pid = report ? prefork_launch(&context) : -1;
	if (pid == 0)
		pid = launch_new(&context, report);
	oom_score_end_launch(pid);
	*launched = (struct launched){NULL, -1};
	if (pid < 0) {
		*failure = (struct launch_failure){"fork", errno};
		return -1;
	}
	if (pid > 0 && !report->step) {
		*launched = (struct launched){sandbox->own_pid_namespace ? &report->pid_ns : NULL, context.listener};
		return pid;
	}
	if (context.listener >= 0)
		close(context.listener);
	if (report->pid_ns.init)
		kill(report->pid_ns.init, SIGKILL);
	process_reap(pid);
	process_reap(report->pid_ns.init);
	*failure = (struct launch_failure){report->step ? report->step : "fork", report->error};
	return -1;
}
