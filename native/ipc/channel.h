#ifndef SALLYPORT_CHANNEL_H
#define SALLYPORT_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A connection to a gateway: frames come in, lines of JSON go out. Never blocks. A peer that does not read is dropped,
 * since no gateway may delay a command. */
struct channel {
	int fd;        /* -1: closed */
	bool watching; /* wants output events */
	char *in;
	size_t in_used, in_room;
	char *out;
	size_t out_used;
	bool deferred; /* `out` is held until more is sent */
};

struct frame {
	uint8_t type;
	char *payload; /* valid until the next channel_read or channel_pop_frame */
	size_t length;
};

void channel_open(struct channel *channel, int fd);
void channel_close(struct channel *channel);

/* Reads what has arrived. False: the peer has closed or broken the protocol, and the channel is closed. */
bool channel_read(struct channel *channel);

/* The oldest complete frame, if there is one; channel_pop_frame removes it. */
bool channel_peek_frame(struct channel *channel, struct frame *frame);
void channel_pop_frame(struct channel *channel, const struct frame *frame);

/* Removes the frame and returns its buffer, which the caller frees when it is done with FRAME. Later frames stay in the
 * channel. NULL: out of memory, and the channel is closed. */
char *channel_detach_frame(struct channel *channel, const struct frame *frame);

void channel_send(struct channel *channel, const char *text, size_t length);
void channel_print(struct channel *channel, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sends TEXT together with the next message, or at channel_flush: the peer wakes up once instead of twice. */
void channel_defer(struct channel *channel, const char *text, size_t length);

/* Writes what is queued or deferred. */
void channel_flush(struct channel *channel);

#endif
