#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "session/session.h"

/* Delay after output until watchers are notified and the timeline is written, and the minimum interval between two such
 * events, in microseconds. They combine many reads of a flood into one event. */
#define OUTPUT_EVENT_DELAY 1000
#define OUTPUT_EVENT_INTERVAL 10000
/* How long the reply to a key press waits for the echo, in microseconds, so that both wake the gateway only once. The
 * delay is longer than a kernel tick, because setting a precise timer costs as much as a wakeup. */
#define REPLY_DELAY 5000
#define IMMEDIATE_REPLIES 32u /* replies that are sent at once after a deferred one got no echo */

static void broadcast(struct session *session, const char *text, size_t length)
{
	channel_send(session->origin, text, length);
	for (unsigned i = 0; i < session->clients_used; i++)
		if (session->clients[i].fd >= 0)
			channel_send(&session->clients[i], text, length);
}

static void log_exit(const struct session *session)
{
	const struct exit_record *record = &session->record;
	for (unsigned i = 0; record->final && i < session->capture.count; i++)
		if (session->capture.streams[i].lost > 0)
			log_warn("events", "session %s: %" PRIu64 " bytes of output could not be stored",
				 session->id, session->capture.streams[i].lost);
	log_debug("events", "session %s: exited, wait status %#x, %u processes left", session->id,
		  (unsigned)record->wait_status, (unsigned)record->leftover);
}

/* Flushes what the exit record refers to, if the exit must survive a power failure: the output, the times and sizes, and
 * the name of the directory. */
static int flush_output(const struct session *session)
{
	const struct capture *capture = &session->capture;
	int result = 0;
	if (!(session->flags & RUN_FSYNC))
		return 0;
	for (unsigned i = 0; i < capture->count; i++)
		result |= stream_file_sync(&capture->streams[i]);
	if (capture->timeline.fd >= 0)
		result |= fdatasync(capture->timeline.fd);
	if (capture->log.fd >= 0)
		result |= fdatasync(capture->log.fd);
	if (session->terminal.sizes >= 0)
		result |= fdatasync(session->terminal.sizes);
	return result | fsync(session->sessions_fd);
}

void session_report_exit(struct session *session)
{
	char text[EXIT_RECORD_MAX];
	struct exit_record *record = &session->record;
	bool already_reported = session->reported;
	session_check_masks(session); /* the command may have ended before the event was read */
	session_find_created_paths(session);
	for (unsigned i = 0; i < session->capture.count; i++)
		if (session->capture.streams[i].lost > 0)
			timeline_publish(&session->capture.timeline, session->dirfd, session->capture.streams,
					 session->capture.count);
	limit_monitor_report_usage(&session->limits, record);
	size_t length = exit_record_format(record, already_reported ? "ended" : "exited", session->capture.streams,
					   session->capture.count, text);
	/* The record is written before any client is notified (invariant 4). */
	if (session->reserved >= 0) {
		if (flush_output(session) < 0)
			log_error("events", "session %s: cannot flush the output: %s", session->id, strerror(errno));
		if (exit_record_write(session->dirfd, session->reserved, text, length, session->label,
				      session->flags & RUN_FSYNC) < 0)
			log_error("events", "session %s: cannot write the exit record: %s", session->id,
				  strerror(errno));
		close(session->reserved);
	}
	session->reserved = record->final ? -1 : exit_record_reserve(session->dirfd, NULL);
	if (!record->final && session->reserved < 0)
		log_error("events", "session %s: cannot reserve the final exit record: %s", session->id,
			  strerror(errno));
	log_exit(session);
	session->reported = true;
	broadcast(session, text, length);
}

void session_send_started(struct session *session)
{
	char text[128 + UNSUPPORTED_TEXT_MAX], unsupported[UNSUPPORTED_TEXT_MAX];
	session->announced = true;
	session->announce_at = NEVER;
	unsupported_format(session->record.unsupported, unsupported);
	int n = snprintf(text, sizeof text, "{\"ev\":\"started\",\"pid\":%d,\"startedUs\":%" PRId64 ",\"gaps\":%s}\n",
			 (int)session->record.pid, session->record.started_unix_us, unsupported);
	broadcast(session, text, (size_t)n);
}

static void send_to_watchers(struct session *session, const char *text, size_t length)
{
	if (session->origin->watching)
		channel_send(session->origin, text, length);
	for (unsigned i = 0; i < session->clients_used; i++)
		if (session->clients[i].fd >= 0 && session->clients[i].watching)
			channel_send(&session->clients[i], text, length);
	session->reply_at = NEVER; /* only replies to watchers are deferred, and this event has flushed them */
}

void session_send_output_event(struct session *session, int64_t now)
{
	struct capture *capture = &session->capture;
	char text[128 + OUTPUT_DELTA_TEXT_MAX], delta[OUTPUT_DELTA_TEXT_MAX] = "";
	bool echo_pending = session->echo_pending;
	session->output_event_at = NEVER;
	session->last_output_event_at = now;
	session->echo_pending = false;
	/* The echo is sent before the timeline is written, because a single stream can be read without it. */
	if (echo_pending)
		output_delta_format(&capture->delta, timeline_unix_ms(&capture->timeline, capture->delta.since_us),
				    delta);
	else
		capture_flush(capture, session->dirfd);
	output_delta_reset(&capture->delta);
	int n = snprintf(text, sizeof text, "{\"ev\":\"grew\",\"bytes\":[%" PRIu64 ",%" PRIu64 "]%s}\n",
			 capture->streams[0].size, capture->streams[1].size, delta);
	send_to_watchers(session, text, (size_t)n);
	if (echo_pending)
		capture_flush(capture, session->dirfd);
}

void session_defer_reply(struct session *session, struct channel *channel, const char *text, size_t length)
{
	if (session->immediate_replies > 0) {
		session->immediate_replies--;
		channel_send(channel, text, length);
		return;
	}
	channel_defer(channel, text, length);
	if (session->reply_at == NEVER)
		session->reply_at = monotonic_us() + REPLY_DELAY;
}

void session_flush_replies(struct session *session)
{
	session->reply_at = NEVER;
	session->immediate_replies = IMMEDIATE_REPLIES;
	if (session->origin->deferred)
		channel_flush(session->origin);
	for (unsigned i = 0; i < session->clients_used; i++)
		if (session->clients[i].deferred)
			channel_flush(&session->clients[i]);
}

void session_note_output(struct session *session, int64_t now)
{
	uint64_t bytes = session->capture.streams[0].size + session->capture.streams[1].size;
	if (bytes == session->output_bytes_seen)
		return;
	session->output_bytes_seen = bytes;
	if (session->expects_echo) {
		session->expects_echo = false;
		session->echo_pending = true;
		session->output_event_at = now;
	}
	if (session->output_event_at == NEVER)
		session->output_event_at = now > session->last_output_event_at + OUTPUT_EVENT_INTERVAL
						   ? now + OUTPUT_EVENT_DELAY
						   : session->last_output_event_at + OUTPUT_EVENT_INTERVAL;
}
