#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/broker.h"
#include "broker/target.h"
#include "fd.h"
#include "process/process_tree.h"

#define IO_PRIORITY_OF_PROCESS 1
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#define CONTINUE (-1)

/* Each check returns CONTINUE if the kernel may execute the call, otherwise 0 or an errno as its result. A pid is a
 * value, so another thread cannot change it after the check, and a process of the command can only be replaced by
 * another one with the same pid if it exits and is reaped between the check and the call. That is accepted for priorities
 * and limits. Signals are sent through a pidfd. */

/* Reports whether TID is a thread of the process PID. */
static bool is_thread_of(pid_t tid, pid_t pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task/%d", (int)pid, (int)tid);
	return pid > 0 && tid > 0 && access(path, F_OK) == 0;
}

static int check_member(pid_t pid)
{
	if (process_is_descendant(pid))
		return CONTINUE;
	struct process_stat stat;
	return process_stat_read(pid, &stat) ? EPERM : ESRCH;
}

struct group_signal {
	pid_t group; /* 0 for all processes */
	pid_t except;
	int signal;
	bool found;
};

static void signal_if_in_group(pid_t pid, int pidfd, void *context)
{
	struct group_signal *wanted = context;
	if (wanted->group ? getpgid(pid) != wanted->group : is_thread_of(wanted->except, pid))
		return;
	if (wanted->signal < 0 || pidfd_signal(pid, pidfd, wanted->signal) == 0)
		wanted->found = true;
}

/* A process group is in one session, and the command has its own, so all members belong to the command if one does. */
static int check_group(pid_t group)
{
	struct group_signal search = {.group = group, .signal = -1};
	process_tree_walk(signal_if_in_group, &search);
	return search.found ? CONTINUE : EPERM;
}

static int check_priority(int kind, pid_t who, int process_kind)
{
	if (kind == process_kind)
		return check_member(who);
	return kind == process_kind + 1 ? check_group(who) : EPERM;
}

/* Sends SIGNAL to the process PIDFD, which has the pid PID, if it belongs to the command. */
static int signal_member(pid_t pid, int pidfd, int signal, const siginfo_t *info)
{
	if (!process_is_descendant(pid))
		return EPERM;
	return syscall(SYS_pidfd_send_signal, pidfd, signal, info, 0) < 0 ? errno : 0;
}

static int signal_pid(pid_t pid, int signal, const siginfo_t *info)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return errno == EINVAL ? ESRCH : errno; /* EINVAL: a thread */
	int error = signal_member(pid, pidfd, signal, info);
	close(pidfd);
	return error;
}

static int serve_kill(pid_t caller, pid_t pid, int signal)
{
	if (pid > 0)
		return is_thread_of(caller, pid) ? CONTINUE : signal_pid(pid, signal, NULL);
	if (pid == INT32_MIN || signal < 0 || signal > SIGRTMAX)
		return pid == INT32_MIN ? ESRCH : EINVAL;
	struct group_signal wanted = {.group = pid == -1 ? 0 : -pid, .except = caller, .signal = signal};
	process_tree_walk(signal_if_in_group, &wanted);
	if (wanted.found)
		return 0;
	return wanted.group && kill(pid, 0) == 0 ? EPERM : ESRCH; /* another group, or none */
}

/* Handles tgkill and tkill. A signal to a thread of another process is sent to that process, because older kernels have
 * no pidfds of threads. */
static int serve_thread_signal(pid_t caller, pid_t process, pid_t thread, int signal)
{
	if (process ? is_thread_of(caller, process) : is_thread_of(thread, caller))
		return CONTINUE;
	return signal_pid(process ? process : thread, signal, NULL);
}

static pid_t pid_of_pidfd(int pidfd)
{
	char path[64], text[512];
	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	const char *at = strstr(text, "\nPid:\t");
	return at ? (pid_t)strtol(at + strlen("\nPid:\t"), NULL, 10) : -1;
}

static int serve_pidfd_signal(const struct target *target, const struct seccomp_data *data)
{
	siginfo_t info;
	int error = data->args[2] ? target_read(target, data->args[2], &info, sizeof info) : 0;
	if (error)
		return error;
	if (data->args[3])
		return EINVAL;
	int pidfd = target_take_descriptor(target, (int)data->args[0]);
	if (pidfd < 0)
		return errno;
	pid_t pid = pid_of_pidfd(pidfd);
	error = pid > 0 ? signal_member(pid, pidfd, (int)data->args[1], data->args[2] ? &info : NULL)
			: pid == -1 ? ESRCH : EBADF;
	close(pidfd);
	return error;
}

static int serve_queued_signal(const struct target *target, const struct seccomp_data *data)
{
	siginfo_t info;
	if (is_thread_of(target->tid, (pid_t)data->args[0]))
		return CONTINUE;
	int error = target_read(target, data->args[2], &info, sizeof info);
	return error ? error : signal_pid((pid_t)data->args[0], (int)data->args[1], &info);
}

/* Allows SIGIO only for the caller itself. */
static int serve_owner(pid_t caller, pid_t owner)
{
	bool own = owner > 0 ? is_thread_of(caller, owner) || is_thread_of(owner, caller) : getpgid(caller) == -owner;
	return own ? CONTINUE : EPERM;
}

static int serve(const struct target *target, const struct seccomp_data *data)
{
	const __u64 *args = data->args;
	pid_t first = (pid_t)args[0];
	switch (data->nr) {
	case SYS_setpriority: return check_priority((int)args[0], (pid_t)args[1], PRIO_PROCESS);
	case SYS_ioprio_set: return check_priority((int)args[0], (pid_t)args[1], IO_PRIORITY_OF_PROCESS);
	case SYS_sched_setaffinity:
	case SYS_sched_setscheduler:
	case SYS_sched_setparam:
	case SYS_sched_setattr:
	case SYS_prlimit64: return check_member(first);
	case SYS_kill: return serve_kill(target->tid, first, (int)args[1]);
	case SYS_tkill: return serve_thread_signal(target->tid, 0, first, (int)args[1]);
	case SYS_tgkill: return serve_thread_signal(target->tid, first, (pid_t)args[1], (int)args[2]);
	case SYS_rt_sigqueueinfo: return serve_queued_signal(target, data);
	case SYS_rt_tgsigqueueinfo: return is_thread_of(target->tid, first) ? CONTINUE : EPERM;
	case SYS_pidfd_send_signal: return serve_pidfd_signal(target, data);
	case SYS_fcntl: return serve_owner(target->tid, (pid_t)args[2]);
	default: return EPERM;
	}
}

void pid_calls_serve(const struct broker *broker, const struct notification *call)
{
	struct target target = {broker->listener, call->id, (pid_t)call->pid};
	int error = serve(&target, &call->data);
	if (error == CONTINUE)
		notification_continue(broker->listener, call->id);
	else
		notification_answer(broker->listener, call->id, error);
}
