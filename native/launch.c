#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

__attribute__((noreturn)) static void become(const struct request *request, const int stdio[3], pid_t keeper)
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
	/* 4. The folder and the mask the caller asked for. */
	umask((mode_t)request->umask);
	if (chdir(request->cwd) < 0)
		give_up("chdir");
	/* 5. Signals as a fresh program expects them. */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* 6. Go. */
	if (strchr(request->file, '/'))
		try_file(request, request->file);
	else
		try_path(request);
	give_up("execve");
}

pid_t launch(const struct request *request, const int stdio[3], struct launch_failure *failure)
{
	pid_t keeper = getpid();
	failed_step = NULL;
	/* vfork: no page tables to copy. The keeper waits here until the exec, which is what it would do anyway. */
	pid_t pid = vfork();
	if (pid == 0)
		become(request, stdio, keeper);
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
