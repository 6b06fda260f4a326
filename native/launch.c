#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox.h"
#include "scope.h"

/* What a login shell has. Node raises its own to the hard limit, which would slow programs that close them all and
 * break those that use select(). */
#define USUAL_OPEN_FILES 1024

/* Written by the vfork child, read by its parent: they share memory until the exec. */
static volatile const char *failed_step;
static volatile int failed_error;

__attribute__((noreturn)) static void give_up(const char *step)
{
	failed_error = errno;
	failed_step = step;
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

static struct rlimit inherited(int resource, const char *step)
{
	struct rlimit limit;
	if (getrlimit(resource, &limit) < 0)
		give_up(step);
	return limit;
}

/* FIXED: the command cannot raise it again. */
static void set_limit(int resource, const char *step, rlim_t soft, bool fixed)
{
	struct rlimit limit = inherited(resource, step);
	limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
	if (fixed)
		limit.rlim_max = limit.rlim_cur;
	if (setrlimit(resource, &limit) < 0)
		give_up(step);
}

static void set_limits(const struct request *request)
{
	set_limit(RLIMIT_CORE, "limit-core", 0, false);
	set_limit(RLIMIT_NOFILE, "limit-files", request->open_files ? request->open_files : USUAL_OPEN_FILES,
		  request->open_files != 0);
	if (request->file_size)
		set_limit(RLIMIT_FSIZE, "limit-file-size", request->file_size, true);
	if (request->processes) {
		/* It counts all processes of the user, not only the command's: below what was inherited, a user who has
		 * many would be unable to start any. */
		rlim_t least = inherited(RLIMIT_NPROC, "limit-processes").rlim_cur;
		set_limit(RLIMIT_NPROC, "limit-processes", request->processes > least ? request->processes : least, true);
	}
}

__attribute__((noreturn)) static void become(const struct request *request, const struct sandbox *sandbox,
					     const int stdio[3], pid_t keeper)
{
	sigset_t none;

	/* 1. Die with the keeper. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		give_up("pdeathsig");
	if (getppid() != keeper)
		_exit(127);
	/* 2. A session and process group of its own. */
	if (setsid() < 0)
		give_up("setsid");
	/* 3. Its three descriptors and no others. */
	for (int fd = 0; fd < 3; fd++)
		if (dup2(stdio[fd], fd) < 0)
			give_up("dup2");
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	/* Whoever has no terminal there has fallen back on pipes. */
	if (request->columns && isatty(0) && ioctl(0, TIOCSCTTY, 0) < 0)
		give_up("terminal");
	/* 4. The folder and the mask the caller asked for. */
	umask((mode_t)request->umask);
	enter_folder(request);
	/* 5. Signals as a fresh program expects them. */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* 6. Its limits: they hold for what comes after. */
	set_limits(request);
	/* 7. Its confinement, last: from here on it may do nothing more than its command. */
	const char *step = sandbox_put_on(sandbox);
	if (step)
		give_up(step);
	/* 8. Go. */
	if (strchr(request->file, '/'))
		try_file(request, request->file);
	else
		try_path(request);
	give_up("execve");
}

pid_t launch(const struct request *request, const struct sandbox *sandbox, const int stdio[3],
	     struct launch_failure *failure)
{
	pid_t keeper = getpid();
	failed_step = NULL;
	/* vfork: no page tables to copy. The keeper waits here until the exec, which is what it would do anyway. */
	pid_t pid = vfork();
	if (pid == 0)
		become(request, sandbox, stdio, keeper);
	if (pid < 0) {
		*failure = (struct launch_failure){"fork", errno};
		return -1;
	}
	if (!failed_step)
		return pid;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	*failure = (struct launch_failure){(const char *)failed_step, failed_error};
	return -1;
}
