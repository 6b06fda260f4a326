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
#include "ipc/listener.h"
#include "log.h"
#include "process/launch.h"
#include "process/title.h"
#include "sandbox/namespaces.h"

#define MS 1000

static void serve_signals(struct session *session, struct keeper_env *env)
{
	struct signalfd_siginfo info;
	while (read(env->signals, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGTERM) { /* terminating the keeper terminates its command */
			if (session->main_alive && session->record.reason == END_EXITED)
				session->record.reason = END_KILLED;
			session_terminate_tree(session, SIGTERM, session->grace_us);
		} else if (info.ssi_signo == SIGHUP && *env->listener >= 0) {
			close(*env->listener); /* the zygote has exited, so clients must start another one */
			*env->listener = -1;
		}
	}
	session_reap(session);
}

static void accept_client(struct session *session)
{
	int fd = listener_accept(session->listener);
	if (fd < 0)
		return;
	for (unsigned i = 0; i < SESSION_CLIENTS; i++) {
		if (session->clients[i].fd >= 0)
			continue;
		channel_open(&session->clients[i], fd);
		if (session->clients_used <= i)
			session->clients_used = i + 1;
		control_send_hello(&session->clients[i], session->id);
		return;
	}
	log_warn("session", "session %s: rejected a client: %u clients are connected", session->id, SESSION_CLIENTS);
	close(fd);
}

#define MAX_POLLED (12 + SESSION_CLIENTS)

struct poll_set {
	struct pollfd fds[MAX_POLLED];
	struct channel *channels[MAX_POLLED];
	unsigned count;
};

static int poll_add(struct poll_set *set, int fd, short events, struct channel *channel)
{
	if (fd < 0)
		return -1;
	set->channels[set->count] = channel;
	set->fds[set->count] = (struct pollfd){.fd = fd, .events = events};
	return (int)set->count++;
}

static void poll_add_channel(struct poll_set *poll_set, struct channel *channel)
{
	poll_add(poll_set, channel->fd, (short)(POLLIN | (channel->out_used && !channel->deferred ? POLLOUT : 0)),
		 channel);
}

static bool is_ready(const struct poll_set *set, int index)
{
	return index >= 0 && set->fds[index].revents != 0;
}

static void loop(struct session *session, struct keeper_env *env)
{
	for (;;) {
		int64_t now = monotonic_us();
		session_fire_timers(session, now);
		if (session_try_finish(session, now))
			return;
		struct poll_set poll_set = {.count = 0};
		int signals = poll_add(&poll_set, env->signals, POLLIN, NULL);
		int streams[2] = {poll_add(&poll_set, session->capture.pipes[0], POLLIN, NULL),
				  poll_add(&poll_set, session->capture.pipes[1], POLLIN, NULL)};
		int listener = poll_add(&poll_set, session->listener, POLLIN, NULL);
		struct mask_monitor *monitor = session->sandbox.cached ? &session->sandbox.cached->monitor : NULL;
		int masks[2] = {poll_add(&poll_set, monitor ? monitor->mounts : -1, POLLPRI, NULL),
				poll_add(&poll_set, monitor ? mask_monitor_watches_fd(monitor) : -1, POLLIN, NULL)};
		/* Without queued input, stdin is polled only for POLLERR, which reports that the command has closed it.
		 * A terminal is never closed. */
		bool stdin_queued = session->stdin_pump.queued > 0;
		int stdin_index =
			session->stdin_pump.terminal && !stdin_queued
				? -1
				: poll_add(&poll_set, session->stdin_pump.fd, stdin_queued ? POLLOUT : 0, NULL);
		int broker = poll_add(&poll_set, broker_poll_fd(&session->broker), POLLIN, NULL);
		poll_add_channel(&poll_set, session->origin);
		for (unsigned i = 0; i < session->clients_used; i++)
			poll_add_channel(&poll_set, &session->clients[i]);

		int64_t next = session_next_timer(session);
		now = monotonic_us();
		int64_t us = next > now ? next - now : 0;
		struct timespec timeout = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
		if (ppoll(poll_set.fds, poll_set.count, next == NEVER ? NULL : &timeout, NULL) <= 0)
			continue;

		/* First, because the command waits for the answer. */
		if (is_ready(&poll_set, broker))
			broker_serve(&session->broker, poll_set.fds[broker].revents);
		if (is_ready(&poll_set, masks[0]))
			mask_monitor_mounts_changed(monitor);
		if (is_ready(&poll_set, masks[0]) || is_ready(&poll_set, masks[1]))
			session_check_masks(session);
		for (unsigned i = 0; i < poll_set.count; i++) {
			if (!poll_set.channels[i] || !poll_set.fds[i].revents || poll_set.channels[i]->fd < 0)
				continue;
			channel_flush(poll_set.channels[i]);
			if (poll_set.fds[i].revents & ~POLLOUT)
				control_serve(session, poll_set.channels[i]);
		}
		for (unsigned i = 0; i < 2; i++)
			if (is_ready(&poll_set, streams[i]))
				capture_pump(&session->capture, i, session->dirfd);
		if (session->capture.responder.reply_length > 0) {
			stdin_pump_type(&session->stdin_pump, session->capture.responder.reply,
					session->capture.responder.reply_length);
			session->capture.responder.reply_length = 0;
		}
		if (is_ready(&poll_set, stdin_index)) {
			if (poll_set.fds[stdin_index].revents & (POLLERR | POLLHUP))
				stdin_pump_close(&session->stdin_pump);
			else
				stdin_pump_flush(&session->stdin_pump);
		}
		if (is_ready(&poll_set, listener))
			accept_client(session);
		if (is_ready(&poll_set, signals))
			serve_signals(session, env);
		session_note_output(session, now);
	}
}

static const char *claim_directory(struct session *session, const struct keeper_env *env)
{
	/* Creating the directory claims the ID, so that no ID is run twice (invariant 4). */
	if (mkdirat(env->sessions_fd, session->id, 0700) < 0)
		return "claim";
	session->dirfd = openat(env->sessions_fd, session->id, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (session->dirfd < 0)
		return "folder";
	session->reserved = exit_record_reserve(session->dirfd, session->label);
	if (session->reserved < 0)
		return "record";
	session->listener = listener_open(session->dirfd, "ctl", 8);
	return session->listener < 0 ? "control" : NULL;
}

static void log_unsupported(unsupported_t unsupported)
{
	for (unsigned feature = 0; feature < UNSUPPORTED_COUNT; feature++)
		if ((unsupported & UNSUPPORTED_BIT(feature)) && log_first(LOG_UNSUPPORTED + feature))
			log_warn("sandbox", "feature not supported on this machine: %s",
				 unsupported_name(feature));
}

static const char *start_command(struct session *session, const struct keeper_env *env, const struct request *request,
				 int stdio[3], struct launch_failure *failure)
{
	struct sandbox *sandbox = &session->sandbox;
	session->record.started_us = monotonic_us();
	session->record.started_unix_us = unix_us();
	const char *step = claim_directory(session, env);
	if (!step && !sandbox_prepare(sandbox, &request->sandbox, failure)) {
		session->record.unsupported = sandbox->unsupported;
		return failure->step;
	}
	if (!step)
		terminal_open(&session->terminal, request, session->dirfd, sandbox_devpts(sandbox));
	if (!step)
		step = stdin_pump_open(&session->stdin_pump, request, &session->terminal, stdio);
	if (!step)
		step = capture_open(&session->capture, request, &session->terminal, stdio);
	if (step) {
		*failure = (struct launch_failure){step, errno};
		return step;
	}
	limit_monitor_open(&session->limits, env->cgroups, request, &session->record);
	session->record.unsupported = sandbox->unsupported;
	session->record.started_us = monotonic_us();
	session->record.started_unix_us = unix_us();
	struct launched launched;
	session->record.pid = launch(request, sandbox, &session->limits, stdio, &launched, failure);
	session->pid_ns = launched.pid_ns;
	broker_open(&session->broker, launched.listener, &request->sandbox);
	if (session->pid_ns)
		ns_init_pids_add(session->pid_ns->init);
	capture_start_clock(&session->capture, session->record.started_unix_us, session->record.started_us);
	return session->record.pid < 0 ? failure->step : NULL;
}

/* Reports whether a step fails because of the request, such as a missing program, and not because of the machine. */
static bool is_callers_mistake(const char *step)
{
	static const char *const steps[] = {"execve", "chdir", "scope", "log", "scope-log"};
	for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++)
		if (strcmp(step, steps[i]) == 0)
			return true;
	return false;
}

static void report_launch_failure(struct session *session, const struct launch_failure *failure)
{
	log_line(is_callers_mistake(failure->step) ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN, "session",
		 "session %s: cannot start the command: %s: %s", session->id, failure->step, strerror(failure->error));
	session->record.reason = END_FAILED;
	session->record.failed_step = failure->step;
	session->record.failed_error = failure->error;
	session->record.pid = 0;
	session->record.ended_us = monotonic_us();
	session->record.ended_unix_us = unix_us();
	session->record.final = true;
	session_report_exit(session);
}

static void close_session(struct session *session)
{
	if (session->listener >= 0) {
		close(session->listener);
		unlinkat(session->dirfd, "ctl", 0);
	}
	for (unsigned i = 0; i < SESSION_CLIENTS; i++)
		channel_close(&session->clients[i]);
	broker_close(&session->broker);
	stdin_pump_close(&session->stdin_pump);
	capture_close(&session->capture);
	terminal_close(&session->terminal);
	limit_monitor_close(&session->limits);
	if (session->reserved >= 0)
		close(session->reserved);
	if (session->dirfd >= 0)
		close(session->dirfd);
}

void session_run(struct session *session, struct keeper_env *env, struct channel *origin, struct request *request)
{
	int stdio[3] = {-1, -1, -1};
	struct launch_failure failure = {0};
	memset(session, 0, sizeof *session);
	snprintf(session->id, sizeof session->id, "%s", request->id);
	session->label = request->label;
	session->flags = request->flags;
	session->sessions_fd = env->sessions_fd;
	session->grace_us = request->grace_ms * MS;
	session->origin = origin;
	session->dirfd = session->listener = session->reserved = session->stdin_pump.fd = -1;
	terminal_init(&session->terminal);
	broker_open(&session->broker, -1, NULL);
	session->capture.pipes[0] = session->capture.pipes[1] = -1;
	session->capture.streams[0].fd = session->capture.streams[1].fd = session->capture.log.fd = -1;
	session->capture.timeline.fd = -1;
	for (unsigned i = 0; i < SESSION_CLIENTS; i++)
		session->clients[i].fd = -1;
	session->announce_at = session->deadline_at = session->kill_at = session->give_up_at = NEVER;
	session->leftover_term_at = session->output_event_at = session->reply_at = NEVER;
	session->limits.check_at = session->input_check_at = NEVER;

	title_set(request->title);
	ns_init_pids_reap();
	const char *failed = start_command(session, env, request, stdio, &failure);
	log_unsupported(session->record.unsupported);
	for (int fd = 0; fd < 3; fd++)
		if (stdio[fd] >= 0 && (fd < 2 || stdio[2] != stdio[1]))
			close(stdio[fd]);
	if (failed) {
		report_launch_failure(session, &failure);
	} else {
		log_debug("session", "session %s: started process %d", session->id, (int)session->record.pid);
		session->main_alive = session->has_children = true;
		session->announce_at = session->record.started_us + (int64_t)request->announce_ms * MS;
		if (request->timeout_ms > 0)
			session->deadline_at = session->record.started_us + request->timeout_ms * MS;
		if (session->terminal.master < 0)
			session->input_check_at = session->record.started_us + MS * 1000;
		limit_monitor_start(&session->limits, session->record.started_us);
		if (session->sandbox.cached && session->sandbox.cached->monitor.pending)
			session_check_masks(session); /* one has broken between the set-up and the start */
		if (origin->in_used > 0)
			control_serve(session, origin); /* already buffered, so poll would not report it */
		loop(session, env);
	}
	close_session(session);
}
