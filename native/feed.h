#ifndef SALLYPORT_FEED_H
#define SALLYPORT_FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "request.h"

/* What the command reads: nothing, a given text, or what gateways write while it runs. */
struct feed {
	int fd; /* write end; -1: closed or never open */
	bool closing;
	char *queue;
	size_t queued;
};

#define FEED_QUEUE_MAX (1u << 20)

/* Puts the command's end into STDIO[0]. Returns the step that failed, with errno, or NULL. */
const char *feed_open(struct feed *feed, const struct request *request, int stdio[3]);

/* Takes as much as there is room for and says how much. -1: the command's stdin is closed. */
long feed_write(struct feed *feed, const char *bytes, size_t length);

/* Closes once everything queued is written. */
void feed_finish(struct feed *feed);

/* Writes what the pipe takes now. */
void feed_pump(struct feed *feed);
void feed_close(struct feed *feed);

#endif
