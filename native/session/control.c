#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "io/pty.h"
#include "log.h"
#include "process/keeper.h"
#include "process/process_tree.h"
#include "session/session.h"

#define MAX_KEY_BYTES 64 /* longer input is not a key press */

/* Sends the `re` reply of a frame. Every frame gets exactly one, in order. */
static void reply(struct channel *channel, bool ok)
{
	channel_print(channel, "{\"ev\":\"re\",\"ok\":%s}\n", ok ? "true" : "false");
}

static void reply_error(struct channel *channel, const char *why)
{
	channel_print(channel, "{\"ev\":\"re\",\"ok\":false,\"why\":\"%s\"}\n", why);
}

static void reply_malformed(const struct session *session, struct channel *channel, const struct frame *frame)
{
	log_warn("control", "session %s: malformed frame of type %u with %zu bytes", session->id, frame->type,
		 frame->length);
	reply_error(channel, "malformed");
}

static int64_t read_le(const char *bytes, size_t length)
{
	uint64_t value = 0;
	for (size_t i = 0; i < length; i++)
		value |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
	return (int64_t)value;
}

/* Handles FRAME_SIGNAL. The payload is a u8 signal, a u8 that is set to signal the whole tree, a u8 that is set if the
 * signal should end the command, and an i64 grace period in ms. A negative grace period disables SIGKILL. */
static void handle_signal(struct session *session, struct channel *channel, const struct frame *frame)
{
	if (frame->length != 11) {
		reply_malformed(session, channel, frame);
		return;
	}
	int signal = (unsigned char)frame->payload[0];
	bool tree = frame->payload[1], ends = frame->payload[2];
	int64_t grace_ms = read_le(frame->payload + 3, 8);
	if (signal < 1 || signal > SIGRTMAX || grace_ms > INT64_MAX / 4000) {
		reply_error(channel, "no such signal");
		return;
	}
	if (!session->main_alive && !session->has_children) {
		reply_error(channel, "ended");
		return;
	}
	if (ends && session->main_alive && session->record.reason == END_EXITED)
		session->record.reason = END_KILLED;
	if (ends || (tree && signal == SIGKILL)) {
		session_terminate_tree(session, signal, grace_ms < 0 ? -1 : grace_ms * 1000);
		reply(channel, true);
	} else if (tree) {
		process_tree_signal(signal);
		reply(channel, true);
	} else if (!session->main_alive) {
		reply_error(channel, "ended");
	} else {
		reply(channel, kill(session->record.pid, signal) == 0);
	}
}

/* Handles FRAME_DEADLINE. The payload is an i64 deadline in ms from now; 0 removes the deadline. */
static void handle_deadline(struct session *session, struct channel *channel, const struct frame *frame)
{
	int64_t ms = frame->length == 8 ? read_le(frame->payload, 8) : -1;
	if (ms < 0 || ms > INT64_MAX / 4000) {
		reply_malformed(session, channel, frame);
	} else if (session->record.reason == END_TIMEOUT) {
		reply_error(channel, "too late");
	} else {
		session->deadline_at = ms ? monotonic_us() + ms * 1000 : NEVER;
		reply(channel, true);
	}
}

static void handle_write(struct session *session, struct channel *channel, const struct frame *frame)
{
	/* True for a password prompt, which reads a line without echo. */
	bool hidden = terminal_hides_input(&session->terminal);
	/* The total output size, so that a client can distinguish output that follows its input. */
	uint64_t before = session->capture.streams[0].size + session->capture.streams[1].size;
	long accepted = stdin_pump_write(&session->stdin_pump, frame->payload, frame->length);
	session->expects_echo = session->terminal.master >= 0;
	if (accepted < 0) {
		reply_error(channel, "closed");
		return;
	}
	char text[128];
	int n = snprintf(text, sizeof text,
			 "{\"ev\":\"re\",\"ok\":true,\"taken\":%ld,\"hidden\":%s,\"before\":%" PRIu64 "}\n", accepted,
			 hidden ? "true" : "false", before);
	if (session->expects_echo && channel->watching && frame->length <= MAX_KEY_BYTES &&
	    (size_t)accepted == frame->length)
		session_defer_reply(session, channel, text, (size_t)n);
	else
		channel_send(channel, text, (size_t)n);
}

/* Handles FRAME_RESIZE. The payload is a u16 number of columns and a u16 number of rows. */
static void handle_resize(struct session *session, struct channel *channel, const struct frame *frame)
{
	if (frame->length != 4) {
		reply_malformed(session, channel, frame);
		return;
	}
	/* Store the output that was drawn for the previous size first. */
	capture_pump(&session->capture, 0, session->dirfd);
	uint16_t columns = (uint16_t)read_le(frame->payload, 2), rows = (uint16_t)read_le(frame->payload + 2, 2);
	if (!terminal_resize(&session->terminal, columns, rows, session->capture.streams[0].size)) {
		reply_error(channel, session->terminal.master < 0 ? "no terminal" : "invalid size");
		return;
	}
	cursor_resize(&session->capture.responder.cursor, columns, rows);
	reply(channel, true);
}

static void handle_input_state(struct session *session, struct channel *channel)
{
	static const char *const words[] = {"false", "true", "null"};
	if (session->terminal.master < 0) {
		reply_error(channel, "no terminal");
		return;
	}
	char text[1024 + 16 * INPUT_STATE_MAX_PROCESSES + 2 * STDIN_LINE_MAX];
	const struct stdin_pump *pump = &session->stdin_pump;
	const struct terminal_responder *responder = &session->capture.responder;
	struct input_state state = input_state_query(&session->terminal);
	/* Output that the program wrote before it began to wait must be stored before a client learns that it waits. */
	capture_pump(&session->capture, 0, session->dirfd);
	if (pump->queued > 0)
		state.reading = READING_NO;
	size_t before = pump->typed_group == (int)state.group ? pump->typed_before : pump->typed_length;
	int n = snprintf(text, sizeof text,
			 "{\"ev\":\"re\",\"ok\":true,\"reading\":%s,\"echo\":%s,\"canonical\":%s,\"foreground\":%d"
			 ",\"bytes\":%" PRIu64
			 ",\"applicationCursor\":%s,\"bracketedPaste\":%s,\"overlong\":%s,\"before\":%zu,\"on\":[",
			 words[state.reading], words[state.echo], words[state.canonical], (int)state.foreground,
			 session->capture.streams[0].size, words[responder->application_cursor],
			 words[responder->bracketed_paste], words[pump->typed_overlong], before);
	for (unsigned i = 0; i < state.count; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", i ? "," : "", (int)state.processes[i]);
	n += snprintf(text + n, sizeof text - (size_t)n, "],\"typed\":\"");
	for (size_t i = 0; i < pump->typed_length; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "%02x", (unsigned char)pump->typed[i]);
	n += snprintf(text + n, sizeof text - (size_t)n, "\"}\n");
	channel_send(channel, text, (size_t)n);
}

static void handle_input_wait(struct session *session, struct channel *channel)
{
	char input[INPUT_WAIT_TEXT_MAX];
	struct input_wait wait = session_input_wait(session);
	/* The prompt must be stored before a client learns that a program waits. */
	for (unsigned i = 0; i < session->capture.count; i++)
		capture_pump(&session->capture, i, session->dirfd);
	input_wait_format(&wait, input);
	channel_print(channel, "{\"ev\":\"re\",\"ok\":true,\"input\":%s}\n", input);
}

static void handle_stat(struct session *session, struct channel *channel)
{
	int64_t left = session->deadline_at == NEVER ? -1 : (session->deadline_at - monotonic_us()) / 1000;
	channel_print(channel,
		      "{\"ev\":\"re\",\"ok\":true,\"pid\":%d,\"alive\":%s,\"deadlineMs\":%" PRId64
		      ",\"stdinOpen\":%s,\"bytes\":[%" PRIu64 ",%" PRIu64 "]}\n",
		      (int)session->record.pid, session->main_alive ? "true" : "false", left,
		      session->stdin_pump.fd >= 0 && !session->stdin_pump.closing ? "true" : "false",
		      session->capture.streams[0].size, session->capture.streams[1].size);
}

static void handle_frame(struct session *session, struct channel *channel, const struct frame *frame)
{
	switch (frame->type) {
	case FRAME_WRITE: handle_write(session, channel, frame); break;
	case FRAME_CLOSE_STDIN:
		if (session->stdin_pump.fd >= 0)
			stdin_pump_finish(&session->stdin_pump);
		reply(channel, true);
		break;
	case FRAME_SIGNAL: handle_signal(session, channel, frame); break;
	case FRAME_DEADLINE: handle_deadline(session, channel, frame); break;
	case FRAME_WATCH:
		channel->watching = true;
		reply(channel, true);
		break;
	case FRAME_DETACH:
		session->flags |= RUN_BACKGROUND;
		reply(channel, true);
		break;
	case FRAME_STAT: handle_stat(session, channel); break;
	case FRAME_RESIZE: handle_resize(session, channel, frame); break;
	case FRAME_INPUT_STATE: handle_input_state(session, channel); break;
	case FRAME_INPUT_WAIT: handle_input_wait(session, channel); break;
	case FRAME_RUN: reply_error(channel, "busy"); break;
	default:
		log_warn("control", "session %s: unknown frame type %u", session->id, frame->type);
		reply_error(channel, "unknown frame");
		break;
	}
}

void control_serve(struct session *session, struct channel *channel)
{
	struct frame frame;
	/* Process buffered frames first, because the peer may have closed the connection after sending them. */
	if (!channel_peek_frame(channel, &frame) && !channel_read(channel))
		return;
	while (channel_peek_frame(channel, &frame)) {
		handle_frame(session, channel, &frame);
		if (channel->fd < 0)
			return;
		channel_pop_frame(channel, &frame);
	}
}

void control_send_hello(struct channel *channel, const char *id)
{
	channel_print(channel, "{\"ev\":\"hello\",\"v\":1,\"build\":\"%s\",\"pid\":%d,\"id\":\"%s\"}\n", KEEPER_BUILD,
		      (int)getpid(), id);
}
