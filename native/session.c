#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "door.h"
#include "launch.h"
#include "title.h"
#include "tree.h"

#define MS 1000
/* After the main process of a foreground command has ended, what it left behind gets this long to end by itself, then
 * a SIGTERM, then a SIGKILL; the answer goes out by STOP_WAITING at the latest. */
#define LEFTOVER_TERM (200 * MS)
#define LEFTOVER_KILL (1000 * MS)
#define STOP_WAITING (600 * MS)
#define SWEEP_EVERY (10 * MS)
/* The timeline is written, and watchers are told, soon after output comes but not for every piece of a flood. */
#define GREW_SOON (1 * MS)
#define GREW_EVERY (10 * MS)

void session_tell(struct session *session, const char *text, size_t length)
{
	channel_send(session->origin, text, length);
	for (unsigned i = 0; i < SESSION_CLIENTS; i++)
		if (session->clients[i].fd >= 0)
			channel_send(&session->clients[i], text, length);
}

/* ---- the end of the tree ---- */

void session_end_tree(struct session *session, int signal, int64_t grace_us)
{
	int64_t now = monotonic_us();
	if (signal == SIGKILL || grace_us == 0) {
		session->kill_at = now;
		return;
	}
	tree_signal(signal);
	if (grace_us > 0 && (session->kill_at == NEVER || now + grace_us < session->kill_at))
		session->kill_at = now + grace_us;
}

/* Killing takes as many passes as it takes: a child forked behind one pass's back is found by the next. */
static void sweep(struct session *session, int64_t now)
{
	tree_signal(SIGKILL);
	session->next_sweep_at = now + SWEEP_EVERY;
	if (session->stop_waiting_at == NEVER)
		session->stop_waiting_at = now + STOP_WAITING;
}

static void main_ended(struct session *session, int status)
{
	session->main_alive = false;
	session->record.wait_status = status;
	session->record.ended_us = monotonic_us();
	session->record.ended_unix_us = unix_us();
}

static void reap(struct session *session)
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
		if (seen.si_pid == 0)
			return;
		struct rusage usage;
		int status;
		record_add_io(&session->record, seen.si_pid);
		if (wait4(seen.si_pid, &status, 0, &usage) != seen.si_pid)
			continue;
		struct record *record = &session->record;
		record->user_us += (int64_t)usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec;
		record->system_us += (int64_t)usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec;
		if (usage.ru_maxrss > record->max_rss_kib)
			record->max_rss_kib = usage.ru_maxrss;
		if (seen.si_pid == record->pid)
			main_ended(session, status);
	}
}

/* ---- telling ---- */

static void report(struct session *session)
{
	char text[RECORD_MAX];
	struct record *record = &session->record;
	bool again = session->reported;
	for (unsigned i = 0; i < session->capture.count; i++)
		if (session->capture.streams[i].lost > 0)
			timeline_publish(&session->capture.timeline, session->dirfd, session->capture.streams,
					 session->capture.count);
	size_t length = record_format(record, again ? "ended" : "exited", session->capture.streams,
				      session->capture.count, text);
	/* Durable before anyone is told (promise 4). */
	if (session->reserved >= 0) {
		record_write(session->dirfd, session->reserved, text, length, session->flags & RUN_FSYNC);
		close(session->reserved);
	}
	session->reserved = record->final ? -1 : record_reserve(session->dirfd);
	session->reported = true;
	session_tell(session, text, length);
}

static void announce(struct session *session)
{
	char text[128];
	session->announced = true;
	session->announce_at = NEVER;
	int n = snprintf(text, sizeof text, "{\"ev\":\"started\",\"pid\":%d,\"startedUs\":%" PRId64 "}\n",
			 (int)session->record.pid, session->record.started_unix_us);
	session_tell(session, text, (size_t)n);
}

static void tell_growth(struct session *session, int64_t now)
{
	char text[128];
	session->grew_at = NEVER;
	session->grew_last = now;
	capture_flush(&session->capture, session->dirfd);
	int n = snprintf(text, sizeof text, "{\"ev\":\"grew\",\"bytes\":[%" PRIu64 ",%" PRIu64 "]}\n",
			 session->capture.streams[0].size, session->capture.streams[1].size);
	if (session->origin->watching)
		channel_send(session->origin, text, (size_t)n);
	for (unsigned i = 0; i < SESSION_CLIENTS; i++)
		if (session->clients[i].fd >= 0 && session->clients[i].watching)
			channel_send(&session->clients[i], text, (size_t)n);
}

static void note_growth(struct session *session, int64_t now)
{
	uint64_t bytes = session->capture.streams[0].size + session->capture.streams[1].size;
	if (bytes == session->grew_bytes)
		return;
	session->grew_bytes = bytes;
	if (session->grew_at == NEVER)
		session->grew_at = now > session->grew_last + GREW_EVERY ? now + GREW_SOON
									  : session->grew_last + GREW_EVERY;
}

/* ---- time ---- */

static bool is_foreground(const struct session *session)
{
	return !(session->flags & RUN_BACKGROUND);
}

static void leave_no_leftovers(struct session *session)
{
	session->record.leftover = tree_count();
	session->leftover_term_at = NEVER;
	session_end_tree(session, SIGTERM, LEFTOVER_KILL);
}

static void fire_timers(struct session *session, int64_t now)
{
	if (now >= session->announce_at)
		announce(session);
	if (now >= session->deadline_at) {
		session->deadline_at = NEVER;
		if (session->main_alive && session->record.reason == END_EXITED)
			session->record.reason = END_TIMEOUT;
		session_end_tree(session, SIGTERM, session->grace_us);
	}
	if (now >= session->leftover_term_at)
		leave_no_leftovers(session);
	if (now >= session->kill_at && now >= session->next_sweep_at)
		sweep(session, now);
	if (now >= session->grew_at)
		tell_growth(session, now);
}

static int64_t next_timer(const struct session *session)
{
	int64_t sweep_at = session->kill_at == NEVER ? NEVER
			   : session->next_sweep_at > session->kill_at ? session->next_sweep_at
								       : session->kill_at;
	const int64_t times[] = {session->announce_at, session->deadline_at, session->leftover_term_at,
				 sweep_at, session->grew_at, session->stop_waiting_at};
	int64_t next = NEVER;
	for (unsigned i = 0; i < sizeof times / sizeof *times; i++)
		if (times[i] < next)
			next = times[i];
	return next;
}

/* ---- the loop ---- */

/* True when there is nothing left to wait for. */
static bool settle(struct session *session, int64_t now)
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
			report(session);
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
		report(session); /* the rest lives on under this keeper */
	}
	return false;
}

static void serve_signals(struct session *session, struct house *house)
{
	struct signalfd_siginfo info;
	while (read(house->signals, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGTERM) { /* a person's `kill` of the keeper means its command */
			if (session->main_alive && session->record.reason == END_EXITED)
				session->record.reason = END_KILLED;
			session_end_tree(session, SIGTERM, session->grace_us);
		} else if (info.ssi_signo == SIGHUP && *house->door >= 0) {
			close(*house->door); /* the zygote is gone: callers must notice and start another */
			*house->door = -1;
		}
	}
	reap(session);
}

static void welcome(struct session *session)
{
	int fd = door_accept(session->listener);
	if (fd < 0)
		return;
	for (unsigned i = 0; i < SESSION_CLIENTS; i++) {
		if (session->clients[i].fd >= 0)
			continue;
		channel_open(&session->clients[i], fd);
		control_greet(&session->clients[i], session->id);
		return;
	}
	close(fd);
}

struct watch {
	struct pollfd fds[8 + SESSION_CLIENTS];
	struct channel *channels[8 + SESSION_CLIENTS];
	unsigned count;
};

static int watch(struct watch *watch, int fd, short events, struct channel *channel)
{
	if (fd < 0)
		return -1;
	watch->channels[watch->count] = channel;
	watch->fds[watch->count] = (struct pollfd){.fd = fd, .events = events};
	return (int)watch->count++;
}

static void watch_channel(struct watch *set, struct channel *channel)
{
	watch(set, channel->fd, (short)(POLLIN | (channel->out_used ? POLLOUT : 0)), channel);
}

static bool ready(const struct watch *watch, int index)
{
	return index >= 0 && watch->fds[index].revents != 0;
}

static void loop(struct session *session, struct house *house)
{
	for (;;) {
		int64_t now = monotonic_us();
		fire_timers(session, now);
		if (settle(session, now))
			return;
		struct watch set = {.count = 0};
		int signals = watch(&set, house->signals, POLLIN, NULL);
		int streams[2] = {watch(&set, session->capture.pipes[0], POLLIN, NULL),
				  watch(&set, session->capture.pipes[1], POLLIN, NULL)};
		int listener = watch(&set, session->listener, POLLIN, NULL);
		/* Without a queue only POLLERR is wanted: the command has closed its stdin. */
		int feed = watch(&set, session->feed.fd, session->feed.queued ? POLLOUT : 0, NULL);
		watch_channel(&set, session->origin);
		for (unsigned i = 0; i < SESSION_CLIENTS; i++)
			watch_channel(&set, &session->clients[i]);

		int64_t next = next_timer(session);
		now = monotonic_us();
		int timeout = -1;
		if (next != NEVER) {
			int64_t ms = next > now ? (next - now + MS - 1) / MS : 0;
			timeout = ms > 3600 * 1000 ? 3600 * 1000 : (int)ms;
		}
		if (poll(set.fds, set.count, timeout) <= 0)
			continue;

		for (unsigned i = 0; i < set.count; i++) {
			if (!set.channels[i] || !set.fds[i].revents || set.channels[i]->fd < 0)
				continue;
			channel_flush(set.channels[i]);
			if (set.fds[i].revents & ~POLLOUT)
				control_serve(session, set.channels[i]);
		}
		for (unsigned i = 0; i < 2; i++)
			if (ready(&set, streams[i]))
				capture_pump(&session->capture, i, session->dirfd);
		if (ready(&set, feed)) {
			if (set.fds[feed].revents & POLLERR)
				feed_close(&session->feed);
			else
				feed_pump(&session->feed);
		}
		if (ready(&set, listener))
			welcome(session);
		if (ready(&set, signals))
			serve_signals(session, house);
		note_growth(session, now);
	}
}

/* ---- the beginning ---- */

static const char *claim_folder(struct session *session, const struct house *house)
{
	/* The folder is the claim: whoever makes it runs the command, so no id ever runs twice (promise 4). */
	if (mkdirat(house->sessions_fd, session->id, 0700) < 0)
		return "claim";
	session->dirfd = openat(house->sessions_fd, session->id, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (session->dirfd < 0)
		return "folder";
	session->reserved = record_reserve(session->dirfd);
	if (session->reserved < 0)
		return "record";
	session->listener = door_open(session->dirfd, "ctl", 8);
	return session->listener < 0 ? "control" : NULL;
}

static const char *begin(struct session *session, const struct house *house, const struct request *request,
			 int stdio[3], struct launch_failure *failure)
{
	const char *step = claim_folder(session, house);
	if (!step)
		step = feed_open(&session->feed, request, stdio);
	if (!step)
		step = capture_open(&session->capture, request, stdio);
	if (step) {
		*failure = (struct launch_failure){step, errno};
		return step;
	}
	session->record.started_us = monotonic_us();
	session->record.started_unix_us = unix_us();
	session->record.pid = launch(request, stdio, failure);
	capture_start_clock(&session->capture, session->record.started_unix_us, session->record.started_us);
	return session->record.pid < 0 ? failure->step : NULL;
}

static void fail(struct session *session, const struct launch_failure *failure)
{
	session->record.reason = END_FAILED;
	session->record.failed_step = failure->step;
	session->record.failed_error = failure->error;
	session->record.pid = 0;
	session->record.ended_us = monotonic_us();
	session->record.ended_unix_us = unix_us();
	session->record.final = true;
	report(session);
}

static void finish(struct session *session)
{
	if (session->listener >= 0) {
		close(session->listener);
		unlinkat(session->dirfd, "ctl", 0);
	}
	for (unsigned i = 0; i < SESSION_CLIENTS; i++)
		channel_close(&session->clients[i]);
	feed_close(&session->feed);
	capture_close(&session->capture);
	if (session->reserved >= 0)
		close(session->reserved);
	if (session->dirfd >= 0)
		close(session->dirfd);
}

void session_run(struct session *session, struct house *house, struct channel *origin, struct request *request)
{
	int stdio[3] = {-1, -1, -1};
	struct launch_failure failure = {0};
	memset(session, 0, sizeof *session);
	snprintf(session->id, sizeof session->id, "%s", request->id);
	session->flags = request->flags;
	session->grace_us = request->grace_ms * MS;
	session->origin = origin;
	session->dirfd = session->listener = session->reserved = session->feed.fd = -1;
	session->capture.pipes[0] = session->capture.pipes[1] = -1;
	session->capture.streams[0].fd = session->capture.streams[1].fd = session->capture.log.fd = -1;
	session->capture.timeline.fd = -1;
	for (unsigned i = 0; i < SESSION_CLIENTS; i++)
		session->clients[i].fd = -1;
	session->announce_at = session->deadline_at = session->kill_at = session->stop_waiting_at = NEVER;
	session->leftover_term_at = session->grew_at = NEVER;

	title_set(request->title);
	const char *failed = begin(session, house, request, stdio, &failure);
	for (int fd = 0; fd < 3; fd++)
		if (stdio[fd] >= 0 && (fd < 2 || stdio[2] != stdio[1]))
			close(stdio[fd]);
	if (failed) {
		fail(session, &failure);
	} else {
		session->main_alive = session->has_children = true;
		session->announce_at = session->record.started_us + (int64_t)request->announce_ms * MS;
		if (request->timeout_ms > 0)
			session->deadline_at = session->record.started_us + request->timeout_ms * MS;
		if (origin->in_used > 0)
			control_serve(session, origin); /* sent right behind the request: no poll would tell of it */
		loop(session, house);
	}
	finish(session);
}
