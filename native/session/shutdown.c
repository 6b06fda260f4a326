#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "clock.h"
#include "log.h"
#include "process/process_tree.h"
#include "sandbox/namespaces.h"
#include "session/session.h"

#define MS 1000
/* After the main process of a foreground command has exited, its descendants have LEFTOVER_TERM to exit on their own.
 * Then they get SIGTERM, and after LEFTOVER_KILL SIGKILL. The exit is reported at most GIVE_UP_AFTER later. */
#define LEFTOVER_TERM (200 * MS)
#define LEFTOVER_KILL (1000 * MS)
#define GIVE_UP_AFTER (600 * MS)
/* A tree that is killed on request may take longer on a busy machine, so that the exit can be reported as final. */
#define GIVE_UP_AFTER_KILL (5000 * MS)
#define KILL_PASS_INTERVAL (10 * MS)
#define MAX_FORK_BOMB_ROUNDS 200
/* Intervals between checks for a program that waits for input which cannot arrive. */
#define INPUT_CHECK_FIRST (1000 * MS)
#define INPUT_CHECK_LONGEST (30000 * MS)

void session_terminate_tree(struct session *session, int signal, int64_t grace_us)
{
	int64_t now = monotonic_us();
	if (signal == SIGKILL || grace_us == 0) {
		session->kill_at = now;
		return;
	}
	process_tree_signal(signal);
	/* An interactive shell ignores SIGTERM, but not SIGHUP. */
	if (signal == SIGTERM && session->terminal.master >= 0)
		process_tree_signal(SIGHUP);
	if (grace_us > 0 && (session->kill_at == NEVER || now + grace_us < session->kill_at))
		session->kill_at = now + grace_us;
}

void session_kill_now(struct session *session, enum end_reason reason)
{
	session->limits.check_at = NEVER;
	limit_monitor_raise_priority(&session->limits);
	if (session->main_alive) {
		if (session->record.reason == END_EXITED)
			session->record.reason = reason;
		/* Kill the process group first: the kernel does this atomically, and most fork bombs are a single
		 * group. The process has not been reaped, so its pid cannot have been reused. */
		kill(-session->record.pid, SIGKILL);
	}
	session_terminate_tree(session, SIGKILL, 0);
}

static void kill_over_limit(struct session *session)
{
	log_info("shutdown", "session %s: killing the command, which exceeded a limit", session->id);
	session_kill_now(session, END_LIMIT);
}

static bool is_foreground(const struct session *session)
{
	return !(session->flags & RUN_BACKGROUND);
}

/* Reports whether a client waits for the result of a command that has exited on its own. */
static bool answers_soon(const struct session *session)
{
	return is_foreground(session) && session->record.reason == END_EXITED;
}

/* Sends SIGKILL to the whole tree and schedules the next pass, which finds children that were forked during this one.
 * */
static void kill_pass(struct session *session, int64_t now)
{
	/* A fork bomb grows faster than its tree can be walked, so its top level is killed repeatedly. */
	for (int round = 0; session->record.limit == LIMIT_PROCESSES && round < MAX_FORK_BOMB_ROUNDS; round++) {
		process_tree_kill_children();
		session_reap(session);
		if (!session->has_children)
			break;
	}
	if (session->pid_ns) /* the kernel kills all processes of a pid namespace with its init */
		kill(session->pid_ns->init, SIGKILL);
	process_tree_signal(SIGKILL);
	session->next_kill_pass_at = now + KILL_PASS_INTERVAL;
	if (session->give_up_at == NEVER)
		session->give_up_at = now + (answers_soon(session) ? GIVE_UP_AFTER : GIVE_UP_AFTER_KILL);
}

static void on_main_exit(struct session *session, int status)
{
	session->main_alive = false;
	session->record.wait_status = status;
	session->record.ended_us = monotonic_us();
	session->record.ended_unix_us = unix_us();
	/* The kernel may have enforced a limit between two checks. A command that exited with 0 is still a success. */
	if (limit_monitor_check_cgroup(&session->limits, &session->record)) {
		if (session->record.reason == END_EXITED && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
			session->record.reason = END_LIMIT;
		kill_over_limit(session);
	}
	bool killed = WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 128 + SIGKILL;
	session->record.out_of_memory = killed && session->record.reason == END_EXITED &&
					limit_monitor_out_of_memory(&session->limits, session->record.ended_us);
	if (session->pid_ns && pid_namespace_release(session->pid_ns) && ns_init_pids_contains(session->pid_ns->init))
		session->pid_ns = NULL;
}

static bool is_ns_init(const struct session *session, pid_t pid)
{
	return session->pid_ns && session->pid_ns->init == pid;
}

void session_reap(struct session *session)
{
	siginfo_t seen;
	for (;;) {
		seen.si_pid = 0;
		/* WNOWAIT leaves the child a zombie, whose /proc/PID/io can still be read. */
		if (waitid(P_ALL, 0, &seen, WEXITED | WNOHANG | WNOWAIT) < 0) {
			if (errno == EINTR)
				continue;
			session->has_children = false;
			return;
		}
		if (seen.si_pid == 0) {
			if (!session->main_alive && !session->pid_ns && !ns_init_pids_empty())
				session->has_children = !process_tree_only_ns_inits();
			return;
		}
		if (ns_init_pids_contains(seen.si_pid) &&
		    !is_ns_init(session, seen.si_pid)) { /* the init of an earlier command */
			waitpid(seen.si_pid, NULL, 0);
			ns_init_pids_remove(seen.si_pid);
			continue;
		}
		struct rusage usage;
		int status;
		exit_record_add_io(&session->record, seen.si_pid);
		if (wait4(seen.si_pid, &status, 0, &usage) != seen.si_pid)
			continue;
		struct exit_record *record = &session->record;
		record->user_us += (int64_t)usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec;
		record->system_us += (int64_t)usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec;
		/* ru_oublock counts blocks of 512 bytes. /proc/PID/io of a zombie requires privileges. */
		record->disk_bytes += (uint64_t)usage.ru_oublock * 512;
		if (usage.ru_maxrss > record->max_rss_kib)
			record->max_rss_kib = usage.ru_maxrss;
		if (is_ns_init(session, seen.si_pid)) {
			ns_init_pids_remove(seen.si_pid);
			session->pid_ns = NULL;
		}
		if (seen.si_pid == record->pid)
			on_main_exit(session, status);
		else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && record->limit == LIMIT_NONE &&
			 limit_monitor_check_cgroup(&session->limits, record))
			kill_over_limit(session); /* the kernel has killed an orphan for exceeding a limit */
	}
}

static void terminate_leftovers(struct session *session)
{
	session->record.leftover = process_tree_count();
	session->leftover_term_at = NEVER;
	session_terminate_tree(session, SIGTERM, LEFTOVER_KILL);
}

struct input_wait session_input_wait(const struct session *session)
{
	const struct stdin_pump *pump = &session->stdin_pump;
	if (pump->queued > 0)
		return (struct input_wait){.source = INPUT_NONE};
	return input_wait_query(&session->terminal, pump->terminal ? -1 : pump->fd, session->capture.pipes);
}

/* Ends a command in which a program waits for keys on the command's own output, as an editor does that has no terminal:
 * it would wait forever. It must be found twice, because a program may only be about to check its descriptors. */
static void check_input(struct session *session, int64_t now)
{
	struct input_wait wait = session_input_wait(session);
	pid_t starved = wait.source == INPUT_OUTPUT ? wait.pid : 0;
	bool again = starved && starved == session->starved;
	int64_t interval = session->input_check_interval * 2;
	session->starved = starved;
	if (starved || interval < INPUT_CHECK_FIRST)
		interval = INPUT_CHECK_FIRST;
	session->input_check_interval = interval > INPUT_CHECK_LONGEST ? INPUT_CHECK_LONGEST : interval;
	session->input_check_at = again || !session->main_alive ? NEVER : now + session->input_check_interval;
	if (!again || !session->main_alive || session->record.reason != END_EXITED)
		return;
	log_info("shutdown", "session %s: ending the command: %s waits for input that cannot arrive", session->id,
		 wait.program);
	session->record.reason = END_INPUT;
	session->record.input = wait;
	session_terminate_tree(session, SIGTERM, session->grace_us);
}

void session_fire_timers(struct session *session, int64_t now)
{
	if (now >= session->announce_at)
		session_send_started(session);
	if (now >= session->deadline_at) {
		session->deadline_at = NEVER;
		session_reap(session); /* a command that has exited in the meantime did not time out */
		if (session->main_alive && session->record.reason == END_EXITED) {
			session->record.reason = END_TIMEOUT;
			session->record.input = session_input_wait(session);
		}
		session_terminate_tree(session, SIGTERM, session->grace_us);
	}
	if (now >= session->input_check_at)
		check_input(session, now);
	if (now >= session->limits.check_at && limit_monitor_check(&session->limits, &session->record, now))
		kill_over_limit(session);
	if (now >= session->leftover_term_at)
		terminate_leftovers(session);
	if (now >= session->kill_at && now >= session->next_kill_pass_at)
		kill_pass(session, now);
	if (now >= session->broker.check_at)
		broker_check(&session->broker, now);
	if (now >= session->output_event_at)
		session_send_output_event(session, now);
	if (now >= session->reply_at)
		session_flush_replies(session);
}

int64_t session_next_timer(const struct session *session)
{
	int64_t sweep_at = session->kill_at == NEVER                       ? NEVER
			   : session->next_kill_pass_at > session->kill_at ? session->next_kill_pass_at
									   : session->kill_at;
	const int64_t times[] = {
		session->announce_at,     session->deadline_at, session->leftover_term_at, sweep_at,
		session->output_event_at, session->reply_at,    session->give_up_at,       session->limits.check_at,
		session->broker.check_at, session->input_check_at};
	int64_t next = NEVER;
	for (unsigned i = 0; i < sizeof times / sizeof *times; i++)
		if (times[i] < next)
			next = times[i];
	return next;
}

bool session_try_finish(struct session *session, int64_t now)
{
	if (session->main_alive) {
		if (now >= session->give_up_at) {
			log_warn("shutdown", "session %s: process %d is still alive after SIGKILL", session->id,
				 (int)session->record.pid);
			session->give_up_at = NEVER; /* it is stuck in the kernel and has not exited, so wait for it */
		}
		return false;
	}
	bool ending = session->kill_at != NEVER;
	bool given_up = now >= session->give_up_at;
	if (!session->has_children || given_up) {
		capture_drain(&session->capture, session->dirfd);
		if (!session->reported || !session->record.final) {
			session->record.final = true;
			session_report_exit(session);
		}
		session->give_up_at = NEVER;
		if (session->has_children) {
			log_warn("shutdown", "session %s: some processes are still alive after SIGKILL", session->id);
			channel_close(session->origin); /* no further command until the last process has exited */
		}
		return !session->has_children;
	}
	if (session->reported || ending)
		return false;
	if (is_foreground(session)) {
		if (session->leftover_term_at == NEVER)
			session->leftover_term_at = session->record.ended_us + LEFTOVER_TERM;
	} else {
		session->record.leftover = process_tree_count();
		capture_drain(&session->capture, session->dirfd);
		session_report_exit(session); /* the remaining processes keep running under this keeper */
	}
	return false;
}
