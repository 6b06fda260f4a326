#ifndef SALLYPORT_STDIN_PUMP_H
#define SALLYPORT_STDIN_PUMP_H

#include <stdbool.h>
#include <stddef.h>

#include "io/pty.h"
#include "ipc/request.h"

/* The command's standard input: nothing, a text, or what gateways write while it runs. */
struct stdin_pump {
	int fd; /* write end; -1: closed or never open */
	bool closing;
	bool terminal; /* never closed: end of input is a character */
	char *typed;   /* input to the terminal since the last end of a line */
	size_t typed_length;
	bool typed_overlong;
	int typed_group;     /* the foreground group at that time */
	size_t typed_before; /* went to an earlier foreground group; which program read it is unknown */
	char *queue;
	size_t queued;
};

#define STDIN_QUEUE_MAX (1u << 20)
#define STDIN_LINE_MAX 4096u /* terminals accept no longer line */

/* Puts the command's end into STDIO[0]: the terminal, if there is one. Returns the step that failed, with errno, or
 * NULL. */
const char *stdin_pump_open(struct stdin_pump *pump, const struct request *request, const struct terminal *terminal,
			    int stdio[3]);

/* Queues as much as there is room for and returns its length. -1: the command's stdin is closed. */
long stdin_pump_write(struct stdin_pump *pump, const char *bytes, size_t length);

/* Types the terminal's own replies, as much as there is room for. */
void stdin_pump_type(struct stdin_pump *pump, const char *bytes, size_t length);

/* Closes stdin after everything queued is written. On a terminal it types the end-of-file character instead. */
void stdin_pump_finish(struct stdin_pump *pump);

/* Writes as much as the pipe accepts. */
void stdin_pump_flush(struct stdin_pump *pump);
void stdin_pump_close(struct stdin_pump *pump);

#endif
