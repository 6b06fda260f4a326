#ifndef SALLYPORT_CHANNEL_H
#define SALLYPORT_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A connection to a gateway, which sends frames and receives lines of JSON. Operations never block. A peer that does
 * not read is disconnected, because no gateway may delay a command. */
struct channel {
	int fd;        /* -1 when closed */
	bool watching; /* the peer has requested output events */
	char *in;
	size_t in_used, in_room;
	char *out;
	size_t out_used;
	bool deferred; /* `out` is held back until the next message */
};

struct frame {
	uint8_t type;
	char *payload; /* valid until the next channel_read or channel_pop_frame */
	size_t length;
};

void channel_open(struct channel *channel, int fd);
void channel_close(struct channel *channel);

/* Reads the available data. Closes the channel and returns false if the peer has disconnected or violated the protocol.
 * */
bool channel_read(struct channel *channel);

/* Returns the oldest complete frame in FRAME, or false if there is none. channel_pop_frame removes it. */
bool channel_peek_frame(struct channel *channel, struct frame *frame);
void channel_pop_frame(struct channel *channel, const struct frame *frame);

/* Removes FRAME and returns its buffer, which the caller must free when FRAME is no longer used. Later frames stay in
 * the channel. Closes the channel and returns NULL when out of memory. */
char *channel_detach_frame(struct channel *channel, const struct frame *frame);

void channel_send(struct channel *channel, const char *text, size_t length);
void channel_print(struct channel *channel, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sends TEXT together with the next message, or on channel_flush, so that the peer wakes up once instead of twice. */
void channel_defer(struct channel *channel, const char *text, size_t length);

/* Sends queued and deferred text. */
void channel_flush(struct channel *channel);

#endif
