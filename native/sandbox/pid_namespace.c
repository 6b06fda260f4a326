#include "sandbox/namespaces.h"

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

#include "process/process_tree.h"
#include "process/title.h"
#include "sandbox/mount/mount.h"

#define STACK_SIZE 65536
#define EXIT_SIGNAL SIGUSR2
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static char init_stack[STACK_SIZE / 4] __attribute__((aligned(16)));
static char command_stack[STACK_SIZE] __attribute__((aligned(16)));
static int keeper_pidfd = -1; /* pidfd of the keeper itself */

bool keeper_has_died(void)
{
	struct pollfd parent = {.fd = keeper_pidfd, .events = POLLIN};
	return poll(&parent, 1, 0) != 0;
}

static int run_init(void *context)
{
	sigset_t set;
	siginfo_t info;
	bool exiting = false;
	struct pid_namespace *pid_ns = context;
	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || keeper_has_died())
		_exit(1);
	setsid();
	title_set("namespace init");
	/* Close the descriptors of the keeper, otherwise its pipes and connections would stay open. */
	close_range(0, ~0U, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, EXIT_SIGNAL);
	for (;;) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			pid_ns->had_orphans = true;
		if (exiting && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
			_exit(0);
		if (sigwaitinfo(&set, &info) < 0)
			continue;
		/* A sender outside the namespace has si_pid 0, so the command cannot impersonate the keeper. */
		exiting = exiting || (info.si_signo == EXIT_SIGNAL && info.si_pid == 0);
	}
}

int pid_namespace_prepare(void)
{
	if (keeper_pidfd < 0)
		keeper_pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	return keeper_pidfd < 0 ? -1 : 0;
}

int pid_namespace_start(struct pid_namespace *pid_ns, const struct namespaces *namespaces, int (*body)(void *),
			void *context, atomic_int *exited)
{
	const int clone_flags = exited ? CLONE_FILES | CLONE_CHILD_CLEARTID : CLONE_VFORK;
	if (namespaces_enter(namespaces) < 0 || unshare(CLONE_NEWNS | CLONE_NEWPID) < 0)
		return -1;
	pid_t pid = clone(run_init, init_stack + sizeof init_stack, CLONE_PARENT | SIGCHLD, pid_ns);
	if (pid < 0)
		return -1;
	pid_ns->init = pid;
	pid = clone(body, command_stack + sizeof command_stack, CLONE_PARENT | CLONE_VM | SIGCHLD | clone_flags,
		    context, NULL, NULL, exited);
	if (pid < 0)
		return -1;
	pid_ns->command = pid;
	return 0;
}

/* Reports whether PID has children. When the command has exited, its orphans have become children of the init. */
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

bool pid_namespace_release(const struct pid_namespace *pid_ns)
{
	if (pid_ns->had_orphans || has_children(pid_ns->init)) {
		kill(pid_ns->init, EXIT_SIGNAL);
		return false;
	}
	kill(pid_ns->init, SIGKILL);
	return true;
}

struct trial {
	struct pid_namespace pid_ns;
	atomic_bool works;
};

static int test_proc_mount(void *context)
{
	struct trial *test = context;
	test->works = private_proc_mount() >= 0; /* denied by the kernel if parts of the host's /proc are masked */
	_exit(0);
}

static bool test_pid_namespace(const struct namespaces *namespaces)
{
	struct trial *test = mmap(NULL, sizeof *test, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (test == MAP_FAILED)
		return false;
	pid_t between = pid_namespace_prepare() < 0 ? -1 : fork();
	if (between == 0)
		_exit(pid_namespace_start(&test->pid_ns, namespaces, test_proc_mount, test, NULL) < 0);
	process_reap(between);
	if (test->pid_ns.init)
		kill(test->pid_ns.init, SIGKILL);
	process_reap(test->pid_ns.command);
	process_reap(test->pid_ns.init);
	bool works = test->works;
	munmap(test, sizeof *test);
	return works;
}

bool pid_namespace_works(const struct namespaces *namespaces)
{
	/* In a user namespace, the kernel may refuse to mount /proc. */
	static int known[] = {-1, -1};
	int *answer = &known[namespaces->user >= 0];
	if (namespaces->mount < 0)
		return false;
	if (*answer < 0)
		*answer = (namespaces->user >= 0 || private_proc_is_safe()) && test_pid_namespace(namespaces);
	return *answer;
}

#define MAX_PIDS 32

static pid_t pids[MAX_PIDS];
static unsigned count;

bool ns_init_pids_add(pid_t pid)
{
	if (count == MAX_PIDS)
		return false;
	pids[count++] = pid;
	return true;
}

bool ns_init_pids_contains(pid_t pid)
{
	for (unsigned i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

bool ns_init_pids_empty(void)
{
	return count == 0;
}

void ns_init_pids_remove(pid_t pid)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < count; i++)
		if (pids[i] != pid)
			pids[kept++] = pids[i];
	count = kept;
}

void ns_init_pids_reap(void)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < count; i++)
		if (waitpid(pids[i], NULL, WNOHANG) == 0)
			pids[kept++] = pids[i];
	count = kept;
}
