#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "clock.h"
#include "process/aside.h"
#include "process/tree.h"
#include "sandbox/isolation.h"
#include "session/session.h"

#define MS 1000
/* After the main process of a foreground command has ended, what it left behind gets this long to end by itself, then
 * a SIGTERM, then a SIGKILL; the answer goes out by STOP_WAITING at the latest. */
#define LEFTOVER_TERM (200 * MS)
#define LEFTOVER_KILL (1000 * MS)
#define STOP_WAITING (600 * MS)
/* Nobody is promised an answer that soon when a tree is ended on purpose: a busy machine takes its time to end it, and
 * the answer says that nothing is left. */
#define STOP_WAITING_KILLED (5000 * MS)
#define SWEEP_EVERY (10 * MS)
#define BOMB_ROUNDS 200

void session_end_tree(struct session *session, int signal, int64_t grace_us)
{
	int64_t now = monotonic_us();
	if (signal == SIGKILL || grace_us == 0) {
		session->kill_at = now;
		return;
	}
	tree_signal(signal);
	/* An interactive shell takes no notice of SIGTERM; that its terminal is gone it understands. */
	if (signal == SIGTERM && session->terminal.master >= 0)
		tree_signal(SIGHUP);
	if (grace_us > 0 && (session->kill_at == NEVER || now + grace_us < session->kill_at))
		session->kill_at = now + grace_us;
}

void session_over_limit(struct session *session)
{
	session->guard.look_at = NEVER;
	guard_hurry(&session->guard);
	if (session->main_alive) {
		if (session->record.reason == END_EXITED)
			session->record.reason = END_LIMIT;
		/* Its process group first, all at once: the kernel lets none of it fork meanwhile, and a bomb mostly is
		 * one. Not waited for yet, so the number is still its own. */
		kill(-session->record.pid, SIGKILL);
	}
	session_end_tree(session, SIGKILL, 0);
}

static bool is_foreground(const struct session *session)
{
	return !(session->flags & RUN_BACKGROUND);
}

static bool is_promised_soon(const struct session *session)
{
	return is_foreground(session) && session->record.reason == END_EXITED;
}

/* Killing takes as many passes as it takes: a child forked behind one pass's back is found by the next. */
static void sweep(struct session *session, int64_t now)
{
	/* A bomb grows faster than its tree can be walked: it is taken from the top, level by level. */
	for (int round = 0; session->record.limit == LIMIT_PROCESSES && round < BOMB_ROUNDS; round++) {
		children_kill();
		session_reap(session);
		if (!session->has_children)
			break;
	}
	if (session->isolation) /* the kernel takes everything in the namespace with it, however fast it forks */
		kill(session->isolation->first, SIGKILL);
	tree_signal(SIGKILL);
	session->next_sweep_at = now + SWEEP_EVERY;
	if (session->stop_waiting_at == NEVER)
		session->stop_waiting_at = now + (is_promised_soon(session) ? STOP_WAITING : STOP_WAITING_KILLED);
}

static void main_ended(struct session *session, int status)
{
	session->main_alive = false;
	session->record.wait_status = status;
	session->record.ended_us = monotonic_us();
	session->record.ended_unix_us = unix_us();
	/* The kernel may have ended it for its limit before anybody looked. One that ended well did so in spite of it. */
	if (guard_ask(&session->guard, &session->record)) {
		if (session->record.reason == END_EXITED && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
			session->record.reason = END_LIMIT;
		session_over_limit(session);
	}
	if (session->isolation && isolation_leave(session->isolation) && aside_has(session->isolation->first))
		session->isolation = NULL;
}

static bool is_first(const struct session *session, pid_t pid)
{
	return session->isolation && session->isolation->first == pid;
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
			if (!session->main_alive && !session->isolation && !aside_is_empty())
				session->has_children = !children_are_aside();
			return;
		}
		if (aside_has(seen.si_pid) && !is_first(session, seen.si_pid)) { /* an earlier command's */
			waitpid(seen.si_pid, NULL, 0);
			aside_remove(seen.si_pid);
			continue;
		}
		struct rusage usage;
		int status;
		record_add_io(&session->record, seen.si_pid);
		if (wait4(seen.si_pid, &status, 0, &usage) != seen.si_pid)
			continue;
		struct record *record = &session->record;
		record->user_us += (int64_t)usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec;
		record->system_us += (int64_t)usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec;
		/* In blocks of 512, whatever the disk's are. An ordinary user's keeper may not read a zombie's /proc/io. */
		record->disk_bytes += (uint64_t)usage.ru_oublock * 512;
		if (usage.ru_maxrss > record->max_rss_kib)
			record->max_rss_kib = usage.ru_maxrss;
		if (is_first(session, seen.si_pid)) {
			aside_remove(seen.si_pid);
			session->isolation = NULL;
		}
		if (seen.si_pid == record->pid)
			main_ended(session, status);
		else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && record->limit == LIMIT_NONE &&
			 guard_ask(&session->guard, record))
			session_over_limit(session); /* the kernel began with an orphan */
	}
}

static void leave_no_leftovers(struct session *session)
{
	session->record.leftover = tree_count();
	session->leftover_term_at = NEVER;
	session_end_tree(session, SIGTERM, LEFTOVER_KILL);
}

void session_fire_timers(struct session *session, int64_t now)
{
	if (now >= session->announce_at)
		session_announce(session);
	if (now >= session->deadline_at) {
		session->deadline_at = NEVER;
		session_reap(session); /* one that ended in time has, however late anybody looks */
		if (session->main_alive && session->record.reason == END_EXITED)
			session->record.reason = END_TIMEOUT;
		session_end_tree(session, SIGTERM, session->grace_us);
	}
	if (now >= session->guard.look_at && guard_look(&session->guard, &session->record, now))
		session_over_limit(session);
	if (now >= session->leftover_term_at)
		leave_no_leftovers(session);
	if (now >= session->kill_at && now >= session->next_sweep_at)
		sweep(session, now);
	if (now >= session->grew_at)
		session_tell_growth(session, now);
	if (now >= session->reply_at)
		session_release_replies(session);
}

int64_t session_next_timer(const struct session *session)
{
	int64_t sweep_at = session->kill_at == NEVER ? NEVER
			   : session->next_sweep_at > session->kill_at ? session->next_sweep_at
								       : session->kill_at;
	const int64_t times[] = {session->announce_at, session->deadline_at, session->leftover_term_at,
				 sweep_at, session->grew_at, session->reply_at,
				 session->stop_waiting_at, session->guard.look_at};
	int64_t next = NEVER;
	for (unsigned i = 0; i < sizeof times / sizeof *times; i++)
		if (times[i] < next)
			next = times[i];
	return next;
}

bool session_settle(struct session *session, int64_t now)
{
	if (session->main_alive) {
		if (now >= session->stop_waiting_at)
			session->stop_waiting_at = NEVER; /* stuck in the kernel: nothing to tell yet */
		return false;
	}
	bool ending = session->kill_at != NEVER;
	bool given_up = now >= session->stop_waiting_at;
	if (!session->has_children || given_up) {
		capture_drain(&session->capture, session->dirfd);
		if (!session->reported || !session->record.final) {
			session->record.final = true;
			session_report(session);
		}
		session->stop_waiting_at = NEVER;
		if (session->has_children)
			channel_close(session->origin); /* not to be asked again before the last of them is gone */
		return !session->has_children;
	}
	if (session->reported || ending)
		return false;
	if (is_foreground(session)) {
		if (session->leftover_term_at == NEVER)
			session->leftover_term_at = session->record.ended_us + LEFTOVER_TERM;
	} else {
		session->record.leftover = tree_count();
		capture_drain(&session->capture, session->dirfd);
		session_report(session); /* the rest lives on under this keeper */
	}
	return false;
}
