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
/* After the main process of a foreground command has ended, what it left behind gets this long to end by itself, then
 * a SIGTERM, then a SIGKILL; the answer goes out by GIVE_UP_AFTER at the latest. */
#define LEFTOVER_TERM (200 * MS)
#define LEFTOVER_KILL (1000 * MS)
#define GIVE_UP_AFTER (600 * MS)
/* Nobody is promised an answer that soon when a tree is ended on purpose: a busy machine takes its time to end it, and
 * the answer says that nothing is left. */
#define GIVE_UP_AFTER_KILL (5000 * MS)
#define KILL_PASS_INTERVAL (10 * MS)
#define MAX_FORK_BOMB_ROUNDS 200

void session_terminate_tree(struct session *session, int signal, int64_t grace_us)
{
	int64_t now = monotonic_us();
	if (signal == SIGKILL || grace_us == 0) {
		session->kill_at = now;
		return;
	}
	process_tree_signal(signal);
	/* An interactive shell takes no notice of SIGTERM; that its terminal is gone it understands. */
	if (signal == SIGTERM && session->terminal.master >= 0)
		process_tree_signal(SIGHUP);
	if (grace_us > 0 && (session->kill_at == NEVER || now + grace_us < session->kill_at))
		session->kill_at = now + grace_us;
}

static void kill_over_limit(struct session *session)
{
	log_info("shutdown", "session %s: its command exceeded a limit and is killed", session->id);
	session->limits.check_at = NEVER;
	limit_monitor_raise_priority(&session->limits);
	if (session->main_alive) {
		if (session->record.reason == END_EXITED)
			session->record.reason = END_LIMIT;
		/* Its process group first, all at once: the kernel lets none of it fork meanwhile, and a bomb mostly is
		 * one. Not waited for yet, so the number is still its own. */
		kill(-session->record.pid, SIGKILL);
	}
	session_terminate_tree(session, SIGKILL, 0);
}

static bool is_foreground(const struct session *session)
{
	return !(session->flags & RUN_BACKGROUND);
}

static bool answers_soon(const struct session *session)
{
	return is_foreground(session) && session->record.reason == END_EXITED;
}

/* Killing takes as many passes as it takes: a child forked behind one pass's back is found by the next. */
static void kill_pass(struct session *session, int64_t now)
{
	/* A bomb grows faster than its tree can be walked: it is taken from the top, level by level. */
	for (int round = 0; session->record.limit == LIMIT_PROCESSES && round < MAX_FORK_BOMB_ROUNDS; round++) {
		process_tree_kill_children();
		session_reap(session);
		if (!session->has_children)
			break;
	}
	if (session->pid_ns) /* the kernel takes everything in the namespace with it, however fast it forks */
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
	/* The kernel may have ended it for its limit before anybody looked. One that ended well did so in spite of it. */
	if (limit_monitor_check_cgroup(&session->limits, &session->record)) {
		if (session->record.reason == END_EXITED && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
			session->record.reason = END_LIMIT;
		kill_over_limit(session);
	}
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
		/* Looked at before it is waited for: a zombie's /proc entry still tells its I/O. */
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
		    !is_ns_init(session, seen.si_pid)) { /* an earlier command's */
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
		/* In blocks of 512, whatever the disk's are. An ordinary user's keeper may not read a zombie's /proc/io. */
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
			kill_over_limit(session); /* the kernel began with an orphan */
	}
}

static void terminate_leftovers(struct session *session)
{
	session->record.leftover = process_tree_count();
	session->leftover_term_at = NEVER;
	session_terminate_tree(session, SIGTERM, LEFTOVER_KILL);
}

void session_fire_timers(struct session *session, int64_t now)
{
	if (now >= session->announce_at)
		session_send_started(session);
	if (now >= session->deadline_at) {
		session->deadline_at = NEVER;
		session_reap(session); /* one that ended in time has, however late anybody looks */
		if (session->main_alive && session->record.reason == END_EXITED)
			session->record.reason = END_TIMEOUT;
		session_terminate_tree(session, SIGTERM, session->grace_us);
	}
	if (now >= session->limits.check_at && limit_monitor_check(&session->limits, &session->record, now))
		kill_over_limit(session);
	if (now >= session->leftover_term_at)
		terminate_leftovers(session);
	if (now >= session->kill_at && now >= session->next_kill_pass_at)
		kill_pass(session, now);
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
		session->output_event_at, session->reply_at,    session->give_up_at,       session->limits.check_at};
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
			log_warn("shutdown", "session %s: process %d is alive after SIGKILL", session->id,
				 (int)session->record.pid);
			session->give_up_at = NEVER; /* stuck in the kernel: nothing to tell yet */
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
			log_warn("shutdown", "session %s: some of its processes are alive after SIGKILL", session->id);
			channel_close(session->origin); /* not to be asked again before the last of them is gone */
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
		session_report_exit(session); /* the rest lives on under this keeper */
	}
	return false;
}
