#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "io/reading.h"
#include "process/keeper.h"
#include "process/tree.h"
#include "session/session.h"

#define KEYS 64 /* more than that at once is no key */

/* Every frame below is answered by exactly one `re` line, in order. */
static void answer(struct channel *channel, bool ok)
{
	channel_print(channel, "{\"ev\":\"re\",\"ok\":%s}\n", ok ? "true" : "false");
}

static void refuse(struct channel *channel, const char *why)
{
	channel_print(channel, "{\"ev\":\"re\",\"ok\":false,\"why\":\"%s\"}\n", why);
}

static int64_t number(const char *bytes, size_t length)
{
	uint64_t value = 0;
	for (size_t i = 0; i < length; i++)
		value |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
	return (int64_t)value;
}

/* Payload: u8 signal, u8 whole tree, u8 this is meant to end it, i64 grace in ms (negative: no escalation). */
static void serve_signal(struct session *session, struct channel *channel, const struct frame *frame)
{
	if (frame->length != 11) {
		refuse(channel, "malformed");
		return;
	}
	int signal = (unsigned char)frame->payload[0];
	bool tree = frame->payload[1], ends = frame->payload[2];
	int64_t grace_ms = number(frame->payload + 3, 8);
	if (signal < 1 || signal > SIGRTMAX || grace_ms > INT64_MAX / 4000) {
		refuse(channel, "no such signal");
		return;
	}
	if (!session->main_alive && !session->has_children) {
		refuse(channel, "ended");
		return;
	}
	if (ends && session->main_alive && session->record.reason == END_EXITED)
		session->record.reason = END_KILLED;
	if (ends || (tree && signal == SIGKILL)) {
		session_end_tree(session, signal, grace_ms < 0 ? -1 : grace_ms * 1000);
		answer(channel, true);
	} else if (tree) {
		tree_signal(signal);
		answer(channel, true);
	} else if (!session->main_alive) {
		refuse(channel, "ended");
	} else {
		answer(channel, child_signal(session->record.pid, signal) == 0);
	}
}

/* Payload: i64 ms from now; 0 lifts the deadline. */
static void serve_deadline(struct session *session, struct channel *channel, const struct frame *frame)
{
	int64_t ms = frame->length == 8 ? number(frame->payload, 8) : -1;
	if (ms < 0 || ms > INT64_MAX / 4000) {
		refuse(channel, "malformed");
	} else if (session->record.reason == END_TIMEOUT) {
		refuse(channel, "too late");
	} else {
		session->deadline_at = ms ? monotonic_us() + ms * 1000 : NEVER;
		answer(channel, true);
	}
}

static void serve_write(struct session *session, struct channel *channel, const struct frame *frame)
{
	/* Whether what is typed is kept from view, as a password is: not shown, but taken by the line. */
	bool hidden = terminal_hides(&session->terminal);
	/* Where output ended, both streams together, as whoever waits for an answer counts it. */
	uint64_t before = session->capture.streams[0].size + session->capture.streams[1].size;
	long taken = feed_write(&session->feed, frame->payload, frame->length);
	session->eager = session->terminal.master >= 0;
	if (taken < 0) {
		refuse(channel, "closed");
		return;
	}
	char text[128];
	int n = snprintf(text, sizeof text,
			 "{\"ev\":\"re\",\"ok\":true,\"taken\":%ld,\"hidden\":%s,\"before\":%" PRIu64 "}\n", taken,
			 hidden ? "true" : "false", before);
	if (session->eager && channel->watching && frame->length <= KEYS && (size_t)taken == frame->length)
		session_keep_reply(session, channel, text, (size_t)n);
	else
		channel_send(channel, text, (size_t)n);
}

/* Payload: u16 columns, u16 rows. */
static void serve_resize(struct session *session, struct channel *channel, const struct frame *frame)
{
	if (frame->length != 4) {
		refuse(channel, "malformed");
		return;
	}
	/* What was written so far was drawn for the size of so far. */
	capture_pump(&session->capture, 0, session->dirfd);
	uint16_t columns = (uint16_t)number(frame->payload, 2), rows = (uint16_t)number(frame->payload + 2, 2);
	if (!terminal_resize(&session->terminal, columns, rows, session->capture.streams[0].size)) {
		refuse(channel, session->terminal.master < 0 ? "no terminal" : "no such size");
		return;
	}
	cursor_resize(&session->capture.answers.cursor, columns, rows);
	answer(channel, true);
}

static void serve_input_state(struct session *session, struct channel *channel)
{
	static const char *const words[] = {"false", "true", "null"};
	if (session->terminal.master < 0) {
		refuse(channel, "no terminal");
		return;
	}
	char text[1024 + 16 * READING_MOST + 2 * FEED_TYPED_MAX];
	const struct feed *feed = &session->feed;
	const struct answers *answers = &session->capture.answers;
	struct input_state state = reading_state(&session->terminal);
	/* What it wrote before it began to wait is in the log before anyone hears that it waits. */
	capture_pump(&session->capture, 0, session->dirfd);
	if (feed->queued > 0)
		state.reading = READING_NO;
	size_t before = feed->typed_group == (int)state.group ? feed->typed_before : feed->typed_length;
	int n = snprintf(text, sizeof text,
			 "{\"ev\":\"re\",\"ok\":true,\"reading\":%s,\"echo\":%s,\"canonical\":%s,\"foreground\":%d"
			 ",\"bytes\":%" PRIu64 ",\"applicationCursor\":%s,\"bracketedPaste\":%s,\"overlong\":%s,\"before\":%zu,\"on\":[",
			 words[state.reading], words[state.echo], words[state.canonical], (int)state.foreground,
			 session->capture.streams[0].size, words[answers->application_cursor],
			 words[answers->bracketed_paste], words[feed->typed_overlong], before);
	for (unsigned i = 0; i < state.count; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", i ? "," : "", (int)state.on[i]);
	n += snprintf(text + n, sizeof text - (size_t)n, "],\"typed\":\"");
	for (size_t i = 0; i < feed->typed_length; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "%02x", (unsigned char)feed->typed[i]);
	n += snprintf(text + n, sizeof text - (size_t)n, "\"}\n");
	channel_send(channel, text, (size_t)n);
}

static void serve_stat(struct session *session, struct channel *channel)
{
	int64_t left = session->deadline_at == NEVER ? -1 : (session->deadline_at - monotonic_us()) / 1000;
	channel_print(channel,
		      "{\"ev\":\"re\",\"ok\":true,\"pid\":%d,\"alive\":%s,\"deadlineMs\":%" PRId64
		      ",\"stdinOpen\":%s,\"bytes\":[%" PRIu64 ",%" PRIu64 "]}\n",
		      (int)session->record.pid, session->main_alive ? "true" : "false", left,
		      session->feed.fd >= 0 && !session->feed.closing ? "true" : "false",
		      session->capture.streams[0].size, session->capture.streams[1].size);
}

static void serve_frame(struct session *session, struct channel *channel, const struct frame *frame)
{
	switch (frame->type) {
	case FRAME_WRITE: serve_write(session, channel, frame); break;
	case FRAME_CLOSE_STDIN:
		if (session->feed.fd >= 0)
			feed_finish(&session->feed);
		answer(channel, true);
		break;
	case FRAME_SIGNAL: serve_signal(session, channel, frame); break;
	case FRAME_DEADLINE: serve_deadline(session, channel, frame); break;
	case FRAME_WATCH:
		channel->watching = true;
		answer(channel, true);
		break;
	case FRAME_DETACH:
		session->flags |= RUN_BACKGROUND;
		answer(channel, true);
		break;
	case FRAME_STAT: serve_stat(session, channel); break;
	case FRAME_RESIZE: serve_resize(session, channel, frame); break;
	case FRAME_INPUT_STATE: serve_input_state(session, channel); break;
	case FRAME_RUN: refuse(channel, "busy"); break;
	default: refuse(channel, "unknown frame"); break;
	}
}

void control_serve(struct session *session, struct channel *channel)
{
	struct frame frame;
	/* What is here already goes first: the peer may have hung up since, and meant it all the same. */
	if (!channel_frame(channel, &frame) && !channel_read(channel))
		return;
	while (channel_frame(channel, &frame)) {
		serve_frame(session, channel, &frame);
		if (channel->fd < 0)
			return;
		channel_done(channel, &frame);
	}
}

void control_greet(struct channel *channel, const char *id)
{
	channel_print(channel, "{\"ev\":\"hello\",\"v\":1,\"build\":\"%s\",\"pid\":%d,\"id\":\"%s\"}\n", KEEPER_BUILD,
		      (int)getpid(), id);
}
