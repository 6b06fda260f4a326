#include "ipc/channel.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/request.h"
#include "log.h"

#define OUT_MAX (64u << 10)
#define IN_STEP 16384u

void channel_open(struct channel *channel, int fd)
{
	*channel = (struct channel){.fd = fd};
}

void channel_close(struct channel *channel)
{
	if (channel->fd >= 0)
		close(channel->fd);
	free(channel->in);
	free(channel->out);
	*channel = (struct channel){.fd = -1};
}

static uint32_t frame_length(const struct channel *channel)
{
	const unsigned char *in = (const unsigned char *)channel->in;
	return in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

/* Returns the size of the first frame in the buffer including its header, or 0 if its length is invalid. */
static size_t frame_size(const struct channel *channel)
{
	if (channel->in_used < FRAME_HEADER)
		return FRAME_HEADER;
	uint32_t length = frame_length(channel);
	uint32_t most = channel->in[4] == FRAME_RUN ? RUN_FRAME_MAX : CONTROL_FRAME_MAX;
	return length == 0 || length > most ? 0 : 4u + length;
}

static bool reserve_input(struct channel *channel)
{
	size_t size = frame_size(channel);
	if (size == 0) {
		log_warn("channel", "closed a connection: malformed frame of type %u with %u bytes",
			 (unsigned)(unsigned char)channel->in[4], frame_length(channel));
		return false;
	}
	if (size < channel->in_used + 1)
		size = channel->in_used + 1; /* part of the next frame has arrived */
	if (size <= channel->in_room)
		return true;
	size_t room = (size + IN_STEP - 1) / IN_STEP * IN_STEP;
	char *in = realloc(channel->in, room);
	if (!in) {
		log_error("channel", "closed a connection: out of memory for a frame of %zu bytes", size);
		return false;
	}
	channel->in = in;
	channel->in_room = room;
	return true;
}

bool channel_read(struct channel *channel)
{
	while (channel->fd >= 0) {
		if (!reserve_input(channel))
			break;
		ssize_t n = recv(channel->fd, channel->in + channel->in_used, channel->in_room - channel->in_used,
				 MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return true;
		if (n <= 0)
			break;
		channel->in_used += (size_t)n;
		struct frame frame;
		if (channel_peek_frame(channel, &frame))
			return true;
	}
	channel_close(channel);
	return false;
}

bool channel_peek_frame(struct channel *channel, struct frame *frame)
{
	if (channel->fd < 0 || channel->in_used < FRAME_HEADER)
		return false;
	size_t size = frame_size(channel);
	if (size == 0 || channel->in_used < size)
		return false;
	*frame = (struct frame){(uint8_t)channel->in[4], channel->in + FRAME_HEADER, size - FRAME_HEADER};
	return true;
}

void channel_pop_frame(struct channel *channel, const struct frame *frame)
{
	size_t taken = FRAME_HEADER + frame->length;
	channel->in_used -= taken;
	memmove(channel->in, channel->in + taken, channel->in_used);
	if (channel->in_used == 0 && channel->in_room > IN_STEP) {
		free(channel->in);
		channel->in = NULL;
		channel->in_room = 0;
	}
}

char *channel_detach_frame(struct channel *channel, const struct frame *frame)
{
	char *taken = channel->in;
	size_t length = FRAME_HEADER + frame->length, behind = channel->in_used - length;
	channel->in = NULL;
	channel->in_used = channel->in_room = 0;
	if (behind == 0)
		return taken;
	channel->in = malloc(behind);
	if (!channel->in) {
		free(taken);
		channel_close(channel);
		return NULL;
	}
	memcpy(channel->in, taken + length, behind);
	channel->in_used = channel->in_room = behind;
	return taken;
}

void channel_flush(struct channel *channel)
{
	channel->deferred = false;
	while (channel->fd >= 0 && channel->out_used > 0) {
		ssize_t n = send(channel->fd, channel->out, channel->out_used, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			if (errno != EAGAIN && errno != EWOULDBLOCK)
				channel_close(channel);
			return;
		}
		channel->out_used -= (size_t)n;
		memmove(channel->out, channel->out + n, channel->out_used);
	}
}

static void append(struct channel *channel, const char *text, size_t length)
{
	if (!channel->out)
		channel->out = malloc(OUT_MAX);
	if (!channel->out || channel->out_used + length > OUT_MAX) {
		log_info("channel", "closed a connection: the client does not read its messages");
		channel_close(channel);
		return;
	}
	memcpy(channel->out + channel->out_used, text, length);
	channel->out_used += length;
}

void channel_defer(struct channel *channel, const char *text, size_t length)
{
	if (channel->fd < 0)
		return;
	/* Earlier text in the buffer could not be sent yet, or is deferred as well. */
	channel->deferred = channel->deferred || channel->out_used == 0;
	append(channel, text, length);
}

void channel_send(struct channel *channel, const char *text, size_t length)
{
	if (channel->deferred && channel->out_used + length <= OUT_MAX) {
		append(channel, text, length);
		channel_flush(channel);
		return;
	}
	channel_flush(channel);
	if (channel->fd < 0)
		return;
	size_t sent = 0;
	if (channel->out_used == 0) {
		ssize_t n = send(channel->fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
			channel_close(channel);
			return;
		}
		sent = n > 0 ? (size_t)n : 0;
	}
	if (sent < length)
		append(channel, text + sent, length - sent);
}

void channel_print(struct channel *channel, const char *format, ...)
{
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (n > 0 && (size_t)n < sizeof text)
		channel_send(channel, text, (size_t)n);
}
