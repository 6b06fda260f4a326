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

#include "io/scope.h"
#include "process/limits.h"

static struct report *report;

struct report *child_report(void)
{
	if (!report) {
		void *page = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		report = page == MAP_FAILED ? NULL : page;
	}
	return report;
}

void child_give_up(const char *step)
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
			child_give_up("chdir");
		return;
	}
	int folder = scope_open(request->root, request->cwd, O_PATH | O_DIRECTORY, 0);
	if (folder < 0)
		child_give_up(scope_left(errno) ? "scope" : "chdir");
	if (fchdir(folder) < 0)
		child_give_up("chdir");
}

/* Dies with the keeper, and at once if that has died already. A change of user undoes it. */
static void die_with_keeper(const struct start *start)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		child_give_up("pdeathsig");
	if (start->sandbox->own_processes ? isolation_orphaned() : getppid() != start->keeper)
		_exit(127);
}

/* Its view of files, network and processes, its parent, and a session and process group of its own. */
static void take_place(const struct start *start)
{
	const char *step = sandbox_enter(start->sandbox);
	if (step)
		child_give_up(step);
	die_with_keeper(start);
	if (setsid() < 0)
		child_give_up("setsid");
}

/* Its three descriptors and no others. */
static void take_descriptors(const struct start *start)
{
	for (int fd = 0; fd < 3; fd++)
		if (dup2(start->stdio[fd], fd) < 0)
			child_give_up("dup2");
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	/* Whoever has no terminal there has fallen back on pipes. */
	if (start->request->columns && isatty(0) && ioctl(0, TIOCSCTTY, 0) < 0)
		child_give_up("terminal");
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
static void heed_request(const struct start *start)
{
	take_descriptors(start);
	umask((mode_t)start->request->umask);
	enter_folder(start->request);
	reset_signals();
	const char *step = limits_set(start->request, start->guard->machine_tasks);
	if (step)
		child_give_up(step);
}

static void put_on_sandbox(const struct start *start)
{
	const char *step = sandbox_put_on(start->sandbox);
	if (step)
		child_give_up(step);
}

static void execute(const struct request *request)
{
	if (strchr(request->file, '/'))
		try_file(request, request->file);
	else
		try_path(request);
}

int child_become(void *context)
{
	const struct start *start = context;
	/* Counted while nothing has been used yet. */
	if (!start->sandbox->own_processes && cgroup_join(&start->guard->cgroup, start->in_groups) < 0)
		child_give_up("cgroup");
	take_place(start);
	heed_request(start);
	/* Confined last: from here on it may do nothing more than its command. */
	put_on_sandbox(start);
	if (start->request->sandbox.has_user)
		die_with_keeper(start);
	execute(start->request);
	child_give_up("execve");
}

void child_get_ready(const struct start *start)
{
	take_place(start);
	put_on_sandbox(start);
}

void child_go(const struct start *start)
{
	/* So far they were the keeper's own, also those that were opened meanwhile. */
	if (unshare(CLONE_FILES) < 0)
		child_give_up("descriptors");
	heed_request(start);
	execute(start->request);
	child_give_up("execve");
}
