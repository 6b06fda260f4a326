#ifndef SALLYPORT_FEED_H
#define SALLYPORT_FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "io/pty.h"
#include "ipc/request.h"

/* What the command reads: nothing, a given text, or what gateways write while it runs. */
struct feed {
	int fd; /* write end; -1: closed or never open */
	bool closing;
	bool terminal;     /* never closed: its end of input is a character */
	char *typed;       /* what gateways typed into the terminal since the last end of a line */
	size_t typed_length;
	bool typed_overlong;
	int typed_group;   /* the foreground group it was typed to */
	size_t typed_before; /* so much of it was typed to another: nobody knows who took what of that */
	char *queue;
	size_t queued;
};

#define FEED_QUEUE_MAX (1u << 20)
#define FEED_TYPED_MAX 4096u /* no line a terminal takes is longer */

/* Puts the command's end into STDIO[0]: that of TERMINAL, where there is one. Returns the step that failed, with errno,
 * or NULL. */
const char *feed_open(struct feed *feed, const struct request *request, const struct terminal *terminal,
		      int stdio[3]);

/* Takes as much as there is room for and says how much. -1: the command's stdin is closed. */
long feed_write(struct feed *feed, const char *bytes, size_t length);

/* Types what the terminal itself has to say. As much as there is room for. */
void feed_answer(struct feed *feed, const char *bytes, size_t length);

/* Closes once everything queued is written. Into a terminal the end of input is typed instead. */
void feed_finish(struct feed *feed);

/* Writes what the pipe takes now. */
void feed_pump(struct feed *feed);
void feed_close(struct feed *feed);

#endif
