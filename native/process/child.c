#include "process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/open_beneath.h"
#include "process/rlimits.h"

static struct child_report *report;

struct child_report *child_report_get(void)
{
	if (!report) {
		void *page = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		report = page == MAP_FAILED ? NULL : page;
	}
	return report;
}

void child_fail(const char *step)
{
	report->error = errno;
	report->step = step;
	_exit(127);
}

/* As execvp does: a file the kernel cannot recognise is a script for /bin/sh. */
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
		/* An empty entry means the working directory to execvp: an agent's file would shadow a program. Skipped. */
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

/* Dies with the keeper, and at once if that has died already. A change of user undoes it. */
static void set_parent_death_signal(const struct launch_context *context)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		child_fail("pdeathsig");
	if (context->sandbox->own_pid_namespace ? keeper_has_died() : getppid() != context->keeper)
		_exit(127);
}

/* Its view of files, network and processes, its parent, and a session and process group of its own. */
static void enter_sandbox(const struct launch_context *context)
{
	const char *step = sandbox_enter(context->sandbox);
	if (step)
		child_fail(step);
	set_parent_death_signal(context);
	if (setsid() < 0)
		child_fail("setsid");
}

/* Its three descriptors and no others. */
static void install_stdio(const struct launch_context *context)
{
	for (int fd = 0; fd < 3; fd++)
		if (dup2(context->stdio[fd], fd) < 0)
			child_fail("dup2");
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	/* Whoever has no terminal there has fallen back on pipes. */
	if (context->request->columns && isatty(0) && ioctl(0, TIOCSCTTY, 0) < 0)
		child_fail("terminal");
}

/* Signals as a fresh program expects them. */
static void reset_signals(void)
{
	sigset_t none;
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What the caller asked for: descriptors, mask, folder, and limits, which hold for what comes after. */
static void apply_request(const struct launch_context *context)
{
	install_stdio(context);
	umask((mode_t)context->request->umask);
	change_directory(context->request);
	reset_signals();
	const char *step = rlimits_set(context->request, context->limits->system_tasks);
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

int child_main(void *argument)
{
	const struct launch_context *context = argument;
	/* Counted while nothing has been used yet. */
	if (!context->sandbox->own_pid_namespace && cgroup_join(&context->limits->cgroup, context->born_in_cgroup) < 0)
		child_fail("cgroup");
	enter_sandbox(context);
	apply_request(context);
	/* Confined last: from here on it may do nothing more than its command. */
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

void child_exec(const struct launch_context *context)
{
	/* So far they were the keeper's own, also those that were opened meanwhile. */
	if (unshare(CLONE_FILES) < 0)
		child_fail("descriptors");
	apply_request(context);
	execute(context->request);
	child_fail("execve");
}
