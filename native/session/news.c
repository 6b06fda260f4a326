#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"
#include "session/session.h"

/* The timeline is written, and watchers are told, soon after output comes but not for every piece of a flood. */
#define GREW_SOON 1000
#define GREW_EVERY 10000
/* So long the answer to a key waits for what the key brings: mostly both are there at once, and wake a gateway once.
 * Longer than the kernel's tick, so that no clock has to be set for it, which takes as long as a waking. */
#define REPLY_WITHIN 5000
#define REPLY_AT_ONCE 32u /* so many answers, after one that waited in vain */

void session_tell(struct session *session, const char *text, size_t length)
{
	channel_send(session->origin, text, length);
	for (unsigned i = 0; i < session->clients_used; i++)
		if (session->clients[i].fd >= 0)
			channel_send(&session->clients[i], text, length);
}

void session_report(struct session *session)
{
	char text[RECORD_MAX];
	struct record *record = &session->record;
	bool again = session->reported;
	for (unsigned i = 0; i < session->capture.count; i++)
		if (session->capture.streams[i].lost > 0)
			timeline_publish(&session->capture.timeline, session->dirfd, session->capture.streams,
					 session->capture.count);
	guard_tell(&session->guard, record);
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

void session_announce(struct session *session)
{
	char text[128 + GAPS_TEXT_MAX], gaps[GAPS_TEXT_MAX];
	session->announced = true;
	session->announce_at = NEVER;
	gaps_format(session->record.gaps, gaps);
	int n = snprintf(text, sizeof text, "{\"ev\":\"started\",\"pid\":%d,\"startedUs\":%" PRId64 ",\"gaps\":%s}\n",
			 (int)session->record.pid, session->record.started_unix_us, gaps);
	session_tell(session, text, (size_t)n);
}

static void tell_watchers(struct session *session, const char *text, size_t length)
{
	if (session->origin->watching)
		channel_send(session->origin, text, length);
	for (unsigned i = 0; i < session->clients_used; i++)
		if (session->clients[i].fd >= 0 && session->clients[i].watching)
			channel_send(&session->clients[i], text, length);
	session->reply_at = NEVER; /* only watchers' answers are kept back, and they went with this */
}

void session_tell_growth(struct session *session, int64_t now)
{
	struct capture *capture = &session->capture;
	char text[128 + FRESH_TEXT_MAX], fresh[FRESH_TEXT_MAX] = "";
	bool answers_key = session->answers_key;
	session->grew_at = NEVER;
	session->grew_last = now;
	session->answers_key = false;
	/* Where there is one stream, nobody needs the timeline to read it; whoever typed is not to wait for that. */
	if (answers_key)
		fresh_format(&capture->fresh, timeline_unix_ms(&capture->timeline, capture->fresh.since_us), fresh);
	else
		capture_flush(capture, session->dirfd);
	fresh_reset(&capture->fresh);
	int n = snprintf(text, sizeof text, "{\"ev\":\"grew\",\"bytes\":[%" PRIu64 ",%" PRIu64 "]%s}\n",
			 capture->streams[0].size, capture->streams[1].size, fresh);
	tell_watchers(session, text, (size_t)n);
	if (answers_key)
		capture_flush(capture, session->dirfd);
}

void session_keep_reply(struct session *session, struct channel *channel, const char *text, size_t length)
{
	if (session->reply_at_once > 0) {
		session->reply_at_once--;
		channel_send(channel, text, length);
		return;
	}
	channel_keep_back(channel, text, length);
	if (session->reply_at == NEVER)
		session->reply_at = monotonic_us() + REPLY_WITHIN;
}

void session_release_replies(struct session *session)
{
	session->reply_at = NEVER;
	session->reply_at_once = REPLY_AT_ONCE;
	if (session->origin->kept_back)
		channel_flush(session->origin);
	for (unsigned i = 0; i < session->clients_used; i++)
		if (session->clients[i].kept_back)
			channel_flush(&session->clients[i]);
}

void session_note_growth(struct session *session, int64_t now)
{
	uint64_t bytes = session->capture.streams[0].size + session->capture.streams[1].size;
	if (bytes == session->grew_bytes)
		return;
	session->grew_bytes = bytes;
	if (session->eager) {
		session->eager = false;
		session->answers_key = true;
		session->grew_at = now;
	}
	if (session->grew_at == NEVER)
		session->grew_at = now > session->grew_last + GREW_EVERY ? now + GREW_SOON
									  : session->grew_last + GREW_EVERY;
}
