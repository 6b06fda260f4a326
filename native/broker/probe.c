#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker/broker.h"
#include "broker/target.h"
#include "io/open_beneath.h"
#include "process/process_tree.h"
#include "sandbox/seccomp/seccomp.h"

#define TIMEOUT_MS 10000
#define PAUSE_US 50
#define ANSWER EXFULL /* an error that connect never returns */
#define OTHER_USER 65534
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* Exit codes of the caller. */
enum { ANSWERED, FAILED, CONTINUED };

/* Calls connect under a filter and exits with what the broker has done. */
__attribute__((noreturn)) static void run_caller(bool other_user)
{
	static const struct seccomp_options options = {.sockets = SOCKETS_BROKERED, .broker = true};
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/"};
	const struct sock_fprog *filter = seccomp_program(options);
	if (other_user && (setresgid(OTHER_USER, OTHER_USER, OTHER_USER) < 0 ||
			   setresuid(OTHER_USER, OTHER_USER, OTHER_USER) < 0))
		_exit(FAILED);
	prctl(PR_SET_DUMPABLE, 1); /* as after exec */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!filter || fd < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(FAILED);
	int listener = seccomp_restrict_brokered(filter);
	if (listener < 0 || broker_handoff_send(listener) < 0)
		_exit(FAILED);
	/* Nothing can listen at this path, so the kernel refuses the connection too. */
	int result = connect(fd, (struct sockaddr *)&address, sizeof address);
	_exit(result == 0 ? FAILED : errno == ANSWER ? ANSWERED : CONTINUED);
}

/* Does what the broker does to connect a socket, except for the connection itself. */
static bool can_connect(int listener, const struct notification *call)
{
	struct target target = {listener, call->id, (pid_t)call->pid};
	struct sockaddr_un address = {0};
	char path[64];
	int socket = target_take_descriptor(&target, (int)call->data.args[0]);
	snprintf(path, sizeof path, "/proc/%d/root", (int)target.tid);
	int root = socket < 0 ? -1 : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int file = root < 0 ? -1 : open_in_root(root, "/", O_PATH);
	bool can = file >= 0 && target_read(&target, call->data.args[1], &address, sizeof address) == 0 &&
		   address.sun_family == AF_UNIX;
	const int opened[] = {socket, root, file};
	for (unsigned i = 0; i < 3; i++)
		if (opened[i] >= 0)
			close(opened[i]);
	return can;
}

/* Does what the broker does to send a signal. */
static bool can_signal(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	bool can = pidfd >= 0 && syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0;
	if (pidfd >= 0)
		close(pidfd);
	return can;
}

static enum broker_calls serve_caller(int listener)
{
	struct pollfd waiting = {.fd = listener, .events = POLLIN};
	struct notification call;
	if (poll(&waiting, 1, TIMEOUT_MS) != 1 || !(waiting.revents & POLLIN) ||
	    notification_receive(listener, &call) < 0)
		return BROKER_NO_CALLS;
	if (!can_signal((pid_t)call.pid))
		return BROKER_NO_CALLS;
	if (can_connect(listener, &call))
		return notification_answer(listener, call.id, ANSWER) ? BROKER_ALL_CALLS : BROKER_NO_CALLS;
	return notification_continue(listener, call.id) ? BROKER_PID_CALLS : BROKER_NO_CALLS;
}

/* Waits for the listener of CALLER, or for its exit. */
static int await_listener(pid_t caller)
{
	siginfo_t seen = {0};
	for (unsigned waited_us = 0; waited_us < TIMEOUT_MS * 1000; waited_us += PAUSE_US) {
		int listener = broker_handoff_receive();
		if (listener >= 0 || (waitid(P_PID, (id_t)caller, &seen, WEXITED | WNOHANG | WNOWAIT) == 0 && seen.si_pid))
			return listener;
		usleep(PAUSE_US);
	}
	return -1;
}

static enum broker_calls probe(bool other_user)
{
	if (!seccomp_works() || broker_handoff_open() < 0)
		return BROKER_NO_CALLS;
	pid_t caller = fork();
	if (caller == 0)
		run_caller(other_user);
	int listener = caller < 0 ? -1 : await_listener(caller);
	enum broker_calls calls = listener < 0 ? BROKER_NO_CALLS : serve_caller(listener);
	if (listener >= 0)
		close(listener);
	broker_handoff_close();
	if (calls == BROKER_NO_CALLS && caller > 0)
		kill(caller, SIGKILL);
	int status = -1;
	while (caller > 0 && waitpid(caller, &status, 0) < 0 && errno == EINTR)
		;
	int expected = calls == BROKER_ALL_CALLS ? ANSWERED : CONTINUED;
	return WIFEXITED(status) && WEXITSTATUS(status) == expected ? calls : BROKER_NO_CALLS;
}

enum broker_calls broker_calls(const struct sandbox_spec *spec)
{
	static int known[2] = {-1, -1};
	int *result = &known[spec->has_user];
	if (*result < 0)
		*result = (int)probe(spec->has_user);
	return (enum broker_calls)*result;
}
