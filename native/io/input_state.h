#ifndef SALLYPORT_INPUT_STATE_H
#define SALLYPORT_INPUT_STATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "io/pty.h"

#define INPUT_STATE_MAX_PROCESSES 32u

enum reading { READING_NO, READING_YES, READING_UNKNOWN };

/* What the foreground program of a terminal is doing about input. */
struct input_state {
	enum reading reading; /* unknown: its processes do not let themselves be looked at */
	bool echo, canonical;
	pid_t group;      /* the foreground group */
	pid_t foreground; /* the process that waits, else the foreground group's first; 0: none */
	pid_t processes
		[INPUT_STATE_MAX_PROCESSES]; /* processes that have the terminal, parents before their children */
	unsigned count;
};

/* Looks at the terminal's modes and at what each thread of its foreground group is blocked in. */
struct input_state input_state_query(const struct terminal *terminal);

#endif
