#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "ipc/door.h"
#include "process/aside.h"
#include "process/launch.h"
#include "process/title.h"
#include "sandbox/isolation.h"

#define MS 1000

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
	session_reap(session);
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
		if (session->clients_used <= i)
			session->clients_used = i + 1;
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
	watch(set, channel->fd, (short)(POLLIN | (channel->out_used && !channel->kept_back ? POLLOUT : 0)), channel);
}

static bool ready(const struct watch *watch, int index)
{
	return index >= 0 && watch->fds[index].revents != 0;
}

static void loop(struct session *session, struct house *house)
{
	for (;;) {
		int64_t now = monotonic_us();
		session_fire_timers(session, now);
		if (session_settle(session, now))
			return;
		struct watch set = {.count = 0};
		int signals = watch(&set, house->signals, POLLIN, NULL);
		int streams[2] = {watch(&set, session->capture.pipes[0], POLLIN, NULL),
				  watch(&set, session->capture.pipes[1], POLLIN, NULL)};
		int listener = watch(&set, session->listener, POLLIN, NULL);
		/* Without a queue only POLLERR is wanted: the command has closed its stdin. A terminal is never closed. */
		bool fed = session->feed.queued > 0;
		int feed = session->feed.terminal && !fed ? -1 : watch(&set, session->feed.fd, fed ? POLLOUT : 0, NULL);
		watch_channel(&set, session->origin);
		for (unsigned i = 0; i < session->clients_used; i++)
			watch_channel(&set, &session->clients[i]);

		int64_t next = session_next_timer(session);
		now = monotonic_us();
		int64_t us = next > now ? next - now : 0;
		struct timespec timeout = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
		if (ppoll(set.fds, set.count, next == NEVER ? NULL : &timeout, NULL) <= 0)
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
		if (session->capture.answers.length > 0) {
			feed_answer(&session->feed, session->capture.answers.text, session->capture.answers.length);
			session->capture.answers.length = 0;
		}
		if (ready(&set, feed)) {
			if (set.fds[feed].revents & (POLLERR | POLLHUP))
				feed_close(&session->feed);
			else
				feed_pump(&session->feed);
		}
		if (ready(&set, listener))
			welcome(session);
		if (ready(&set, signals))
			serve_signals(session, house);
		session_note_growth(session, now);
	}
}

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
	struct sandbox *sandbox = &session->sandbox;
	session->record.started_us = monotonic_us();
	session->record.started_unix_us = unix_us();
	const char *step = claim_folder(session, house);
	if (!step && !sandbox_prepare(sandbox, &request->sandbox, failure)) {
		session->record.gaps = sandbox->gaps;
		return failure->step;
	}
	if (!step)
		terminal_open(&session->terminal, request, session->dirfd, sandbox_terminals(sandbox));
	if (!step)
		step = feed_open(&session->feed, request, &session->terminal, stdio);
	if (!step)
		step = capture_open(&session->capture, request, &session->terminal, stdio);
	if (step) {
		*failure = (struct launch_failure){step, errno};
		return step;
	}
	guard_open(&session->guard, house->cgroups, request, &session->record);
	session->record.gaps = sandbox->gaps;
	session->record.started_us = monotonic_us();
	session->record.started_unix_us = unix_us();
	session->record.pid = launch(request, sandbox, &session->guard, stdio, &session->isolation, failure);
	if (session->isolation)
		aside_put(session->isolation->first);
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
	session_report(session);
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
	terminal_close(&session->terminal);
	guard_close(&session->guard);
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
	terminal_init(&session->terminal);
	session->capture.pipes[0] = session->capture.pipes[1] = -1;
	session->capture.streams[0].fd = session->capture.streams[1].fd = session->capture.log.fd = -1;
	session->capture.timeline.fd = -1;
	for (unsigned i = 0; i < SESSION_CLIENTS; i++)
		session->clients[i].fd = -1;
	session->announce_at = session->deadline_at = session->kill_at = session->stop_waiting_at = NEVER;
	session->leftover_term_at = session->grew_at = session->reply_at = NEVER;
	session->guard.look_at = NEVER;

	title_set(request->title);
	aside_review();
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
		guard_start(&session->guard, session->record.started_us);
		if (origin->in_used > 0)
			control_serve(session, origin); /* sent right behind the request: no poll would tell of it */
		loop(session, house);
	}
	finish(session);
}
