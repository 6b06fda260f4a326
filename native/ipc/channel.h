#ifndef SALLYPORT_CHANNEL_H
#define SALLYPORT_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A connection to a gateway: frames come in, lines of JSON go out. Never blocks; a peer that does not read is dropped
 * rather than waited for, since nothing a gateway does may hold a command up. */
struct channel {
	int fd;        /* -1: closed */
	bool watching; /* wants to hear of output */
	char *in;
	size_t in_used, in_room;
	char *out;
	size_t out_used;
	bool deferred; /* what is in `out` waits for something to go with it */
};

struct frame {
	uint8_t type;
	char *payload; /* valid until the next channel_read or channel_pop_frame */
	size_t length;
};

void channel_open(struct channel *channel, int fd);
void channel_close(struct channel *channel);

/* Takes in what has arrived. False: the peer is gone or broke the protocol, and the channel is closed. */
bool channel_read(struct channel *channel);

/* The oldest whole frame, if there is one; channel_pop_frame removes it. */
bool channel_peek_frame(struct channel *channel, struct frame *frame);
void channel_pop_frame(struct channel *channel, const struct frame *frame);

/* Takes the frame off the channel for good, what has arrived behind it excepted: free the result when done with FRAME.
 * NULL: out of memory, and the channel is closed. */
char *channel_detach_frame(struct channel *channel, const struct frame *frame);

void channel_send(struct channel *channel, const char *text, size_t length);
void channel_print(struct channel *channel, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* To be sent with whatever is sent next, or by channel_flush: two wakings of the peer made one. */
void channel_defer(struct channel *channel, const char *text, size_t length);

/* Writes what could not go out at once, or was kept back. */
void channel_flush(struct channel *channel);

#endif
