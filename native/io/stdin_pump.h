#ifndef SALLYPORT_STDIN_PUMP_H
#define SALLYPORT_STDIN_PUMP_H

#include <stdbool.h>
#include <stddef.h>

#include "io/pty.h"
#include "ipc/request.h"

/* What the command reads: nothing, a given text, or what gateways write while it runs. */
struct stdin_pump {
	int fd; /* write end; -1: closed or never open */
	bool closing;
	bool terminal; /* never closed: its end of input is a character */
	char *typed;   /* what gateways typed into the terminal since the last end of a line */
	size_t typed_length;
	bool typed_overlong;
	int typed_group;     /* the foreground group it was typed to */
	size_t typed_before; /* so much of it was typed to another: nobody knows who took what of that */
	char *queue;
	size_t queued;
};

#define STDIN_QUEUE_MAX (1u << 20)
#define STDIN_LINE_MAX 4096u /* no line a terminal takes is longer */

/* Puts the command's end into STDIO[0]: that of TERMINAL, where there is one. Returns the step that failed, with errno,
 * or NULL. */
const char *stdin_pump_open(struct stdin_pump *pump, const struct request *request, const struct terminal *terminal,
			    int stdio[3]);

/* Takes as much as there is room for and says how much. -1: the command's stdin is closed. */
long stdin_pump_write(struct stdin_pump *pump, const char *bytes, size_t length);

/* Types what the terminal itself has to say. As much as there is room for. */
void stdin_pump_type(struct stdin_pump *pump, const char *bytes, size_t length);

/* Closes once everything queued is written. Into a terminal the end of input is typed instead. */
void stdin_pump_finish(struct stdin_pump *pump);

/* Writes what the pipe takes now. */
void stdin_pump_flush(struct stdin_pump *pump);
void stdin_pump_close(struct stdin_pump *pump);

#endif
