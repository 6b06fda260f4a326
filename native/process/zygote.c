#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker/broker.h"
#include "clock.h"
#include "ipc/listener.h"
#include "log.h"
#include "process/keeper.h"
#include "process/oom_score.h"
#include "process/process_tree.h"
#include "process/title.h"

#define ALREADY_SERVED 3
#define IDLE_CHECK_MS 5000
#define IDLE_EXIT_US (15ll * 60 * 1000000)

struct zygote {
	int state_fd, sessions_fd, lock, listener, wake_pipe[2], signals;
	char socket_name[64];
	ino_t socket_inode;
	struct cgroup_host cgroups;
	struct keeper_pool *pool;
	int64_t last_busy_us;
	bool exiting;
	int fork_error;       /* errno of the last attempt to fork a keeper, or 0 if it succeeded */
	bool cgroups_pending; /* some cgroups of killed keepers could not be removed yet */
};

static bool fork_keeper(struct zygote *z)
{
	struct keeper_slot *slot = keeper_pool_take(z->pool);
	if (!slot) {
		errno = EAGAIN;
		return false;
	}
	pid_t zygote = getpid();
	pid_t pid = fork();
	if (pid == 0) {
		sigset_t none;
		close(z->signals);
		close(z->wake_pipe[0]);
		close(z->lock); /* otherwise a busy keeper would hold the lock after the zygote was killed */
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		keeper_main(z->pool, slot, z->listener, z->sessions_fd, z->wake_pipe[1], zygote, &z->cgroups);
	}
	if (pid < 0) {
		keeper_pool_free(slot);
		return false;
	}
	atomic_store(&slot->pid, pid);
	return true;
}

/* Rejects a connection when no keeper is idle and none can be forked. Otherwise the client would wait indefinitely. */
static void reject_overload(struct zygote *z, int error)
{
	char text[96];
	int n = snprintf(text, sizeof text, "{\"ev\":\"overloaded\",\"step\":\"fork\",\"errno\":%d}\n", error);
	fcntl(z->listener, F_SETFL, O_NONBLOCK);
	int fd = listener_accept(z->listener);
	fcntl(z->listener, F_SETFL, 0);
	if (fd < 0)
		return;
	log_warn("zygote", "rejected a connection: no keeper is idle and none can be forked: %s", strerror(error));
	(void)!send(fd, text, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

static int fill_pool(struct zygote *z)
{
	while (keeper_pool_count(z->pool, KEEPER_IDLE) < MIN_IDLE_KEEPERS)
		if (!fork_keeper(z))
			return errno;
	return 0;
}

static void kill_stray(pid_t pid, int pidfd, void *context)
{
	const struct zygote *z = context;
	if (!keeper_pool_find(z->pool, pid))
		pidfd_signal(pid, pidfd, SIGKILL);
}

static void log_exit(const struct keeper_slot *slot, pid_t pid, int status)
{
	const char *doing = slot->state == KEEPER_BUSY ? "while it had a connection" : "while it was idle";
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGHUP) /* SIGHUP is sent when the zygote stops */
		log_warn("zygote", "keeper %d was killed by signal %d %s", (int)pid, WTERMSIG(status), doing);
	else if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		log_warn("zygote", "keeper %d exited with code %d %s", (int)pid, WEXITSTATUS(status), doing);
	else
		log_debug("zygote", "keeper %d exited", (int)pid);
}

static void reap(struct zygote *z)
{
	int status;
	pid_t pid;
	bool strays = false, killed = false;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct keeper_slot *slot = keeper_pool_find(z->pool, pid);
		if (slot) {
			log_exit(slot, pid, status);
			keeper_pool_free(slot);
			killed = killed || WIFSIGNALED(status);
		}
		strays = strays || !slot || WIFSIGNALED(status);
	}
	/* Descendants of a killed keeper are reparented to the zygote, which is also a subreaper, and are killed here
	 * (invariant 5). */
	if (strays)
		process_tree_walk_children(kill_stray, z);
	if (killed || z->cgroups_pending)
		z->cgroups_pending = !cgroup_sweep(&z->cgroups);
}

/* Stops the zygote if its socket was removed or it has been idle for IDLE_EXIT_US. Busy keepers finish on their own. */
static void check_idle(struct zygote *z)
{
	struct stat status;
	int64_t now = monotonic_us();
	if (keeper_pool_count(z->pool, KEEPER_BUSY) > 0)
		z->last_busy_us = now;
	bool ours = fstatat(z->state_fd, z->socket_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    status.st_ino == z->socket_inode;
	if (!ours) {
		log_info("zygote", "stopping: the socket was removed or replaced");
		z->exiting = true;
	}
	if (now - z->last_busy_us > IDLE_EXIT_US) {
		log_info("zygote", "stopping: no keeper has been busy for %d minutes", (int)(IDLE_EXIT_US / 60000000));
		unlinkat(z->state_fd, z->socket_name, 0);
		z->exiting = true;
	}
}

static void log_fork_error(struct zygote *z, int error)
{
	if (error && error != z->fork_error)
		log_warn("zygote", "cannot fork a keeper: %s", strerror(error));
	else if (!error && z->fork_error)
		log_warn("zygote", "keepers can be forked again");
	z->fork_error = error;
}

static void run(struct zygote *z)
{
	struct signalfd_siginfo info;
	char bytes[256];
	while (!z->exiting) {
		int trouble = fill_pool(z);
		log_fork_error(z, trouble);
		if (trouble && keeper_pool_count(z->pool, KEEPER_IDLE) == 0)
			reject_overload(z, trouble);
		struct pollfd fds[2] = {{.fd = z->signals, .events = POLLIN},
					{.fd = z->wake_pipe[0], .events = POLLIN}};
		int n = poll(fds, 2, trouble || z->cgroups_pending ? 20 : IDLE_CHECK_MS);
		if (n == 0 && !trouble && !z->cgroups_pending)
			check_idle(z);
		while (read(z->wake_pipe[0], bytes, sizeof bytes) > 0)
			;
		while (read(z->signals, &info, sizeof info) == sizeof info)
			if (info.ssi_signo != SIGCHLD) {
				log_info("zygote", "stopping: signal %u from process %u", info.ssi_signo, info.ssi_pid);
				unlinkat(z->state_fd, z->socket_name, 0);
				z->exiting = true;
			}
		reap(z);
	}
}

/* Releases the lock, so that another zygote can take over. Idle keepers exit and busy ones finish. This zygote stays
 * until all processes are reaped, because PID 1 may not do it. */
static void shut_down(struct zygote *z)
{
	struct signalfd_siginfo info;
	struct pollfd signals = {.fd = z->signals, .events = POLLIN};
	siginfo_t ended;
	close(z->listener);
	close(z->lock);
	for (unsigned i = 0; i < z->pool->used; i++) {
		pid_t pid = z->pool->slots[i].pid;
		if (pid)
			kill(pid, SIGHUP);
	}
	for (;;) {
		reap(z);
		if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) < 0) {
			cgroup_sweep(&z->cgroups);
			return;
		}
		poll(&signals, 1, IDLE_CHECK_MS);
		while (read(z->signals, &info, sizeof info) == sizeof info)
			;
	}
}

/* ---- start-up ---- */

static int report_error(const char *step)
{
	log_error("zygote", "cannot start: %s: %s", step, strerror(errno));
	fprintf(stderr, "keeper: %s: %s\n", step, strerror(errno));
	return 1;
}

static void reset_inherited_state(void)
{
	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		signal(signal_number, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	close_range(3, ~0U, 0);
	umask(0077);
}

static int claim_state_dir(struct zygote *z, const char *state, const char *log_level)
{
	char lock_name[64];
	struct stat status;
	z->state_fd = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (z->state_fd < 0)
		return report_error(state);
	snprintf(lock_name, sizeof lock_name, "keeper-%s.lock", KEEPER_BUILD);
	snprintf(z->socket_name, sizeof z->socket_name, "keeper-%s.sock", KEEPER_BUILD);
	z->lock = openat(z->state_fd, lock_name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (z->lock < 0)
		return report_error("lock");
	if (flock(z->lock, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? ALREADY_SERVED : report_error("lock");
	log_open(z->state_fd, log_level_of(log_level));
	if (mkdirat(z->state_fd, "sessions", 0700) < 0 && errno != EEXIST)
		return report_error("sessions");
	z->sessions_fd = openat(z->state_fd, "sessions", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (z->sessions_fd < 0)
		return report_error("sessions");
	z->listener = listener_open(z->state_fd, z->socket_name, 4096);
	if (z->listener < 0 || fstatat(z->state_fd, z->socket_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return report_error("socket");
	z->socket_inode = status.st_ino;
	/* The listener is blocking: the kernel then wakes only one of the keepers that wait in accept. */
	fcntl(z->listener, F_SETFL, 0);
	return 0;
}

static int set_up(struct zygote *z)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	z->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (z->signals < 0 || pipe2(z->wake_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return report_error("signals");
	z->pool = mmap(NULL, sizeof *z->pool, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (z->pool == MAP_FAILED)
		return report_error("pool");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	z->last_busy_us = monotonic_us();
	return chdir("/") < 0 ? report_error("/") : 0;
}

int zygote_serve(const char *state, const char *self, const char *log_level)
{
	static struct zygote z;
	char title[128];

	/* 1. Reset inherited state except stdin, stdout and stderr, and protect the memory from other processes and from
	 * the OOM killer. */
	reset_inherited_state();
	prctl(PR_SET_DUMPABLE, 0);
	oom_score_protect();
	/* 2. Claim the state directory: one zygote per directory and build. */
	int failed = claim_state_dir(&z, state, log_level);
	if (failed)
		return failed;
	/* 3. Set up signal descriptors and the pool that all keepers share. */
	failed = set_up(&z);
	if (failed)
		return failed;
	/* 4. Remove cgroups of keepers that were killed together with their zygote. */
	cgroup_discover(&z.cgroups, self);
	z.cgroups_pending = !cgroup_sweep(&z.cgroups);
	snprintf(title, sizeof title, "zygote %s", state);
	title_set(title);
	log_info("zygote", "started: build %s, cgroup versions (0 if unavailable): memory %d, cpu %d, pids %d",
		 KEEPER_BUILD, z.cgroups.locations[CGROUP_MEMORY].version, z.cgroups.locations[CGROUP_CPU].version,
		 z.cgroups.locations[CGROUP_PIDS].version);
	/* Keepers inherit what is found out here. */
	broker_calls(&(struct sandbox_spec){0});
	/* 5. Report readiness, and close the caller's descriptors before any keeper inherits them. */
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	(void)!write(STDOUT_FILENO, "ready\n", 6);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	/* 6. Fork keepers, reap them and remove their cgroups until it is time to exit. */
	run(&z);
	shut_down(&z);
	log_info("zygote", "exited");
	return 0;
}
