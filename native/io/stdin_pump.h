#ifndef SALLYPORT_STDIN_PUMP_H
#define SALLYPORT_STDIN_PUMP_H

#include <stdbool.h>
#include <stddef.h>

#include "io/pty.h"
#include "ipc/request.h"

/* The stdin of a command: empty, a text, or data that gateways write while it runs. */
struct stdin_pump {
	int fd; /* write end, or -1 if closed */
	bool closing;
	bool terminal; /* stdin is a terminal, which is never closed: the end of input is a character */
	char *typed;   /* input to the terminal since the last end of line */
	size_t typed_length;
	bool typed_overlong;
	int typed_group;     /* the foreground process group when `typed` was last extended */
	size_t typed_before; /* length of the part typed to an earlier foreground group, whose reader is unknown */
	char *queue;
	size_t queued;
};

#define STDIN_QUEUE_MAX (1u << 20)
#define STDIN_LINE_MAX 4096u /* the longest line that a terminal accepts */

/* Stores the command's end in STDIO[0], which is the terminal if there is one. Returns NULL, or the step that failed
 * with errno set. */
const char *stdin_pump_open(struct stdin_pump *pump, const struct request *request, const struct terminal *terminal,
			    int stdio[3]);

/* Queues as many bytes as fit and returns their number, or -1 if the command's stdin is closed. */
long stdin_pump_write(struct stdin_pump *pump, const char *bytes, size_t length);

/* Types replies of the terminal itself, as many bytes as fit. */
void stdin_pump_type(struct stdin_pump *pump, const char *bytes, size_t length);

/* Closes stdin after all queued bytes are written. On a terminal it types the EOF character instead. */
void stdin_pump_finish(struct stdin_pump *pump);

/* Writes as many queued bytes as the pipe accepts. */
void stdin_pump_flush(struct stdin_pump *pump);
void stdin_pump_close(struct stdin_pump *pump);

#endif
