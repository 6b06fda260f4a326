#ifndef SALLYPORT_READING_H
#define SALLYPORT_READING_H

#include <stdbool.h>
#include <sys/types.h>

#include "io/pty.h"

#define READING_MOST 32u

enum reading { READING_NO, READING_YES, READING_UNKNOWN };

/* What the foreground program of a terminal is doing about input. */
struct input_state {
	enum reading reading;  /* unknown: its processes do not let themselves be looked at */
	bool echo, canonical;
	pid_t group;           /* the foreground group */
	pid_t foreground;      /* the process that waits, else the foreground group's first; 0: none */
	pid_t on[READING_MOST]; /* processes that have the terminal, parents before their children */
	unsigned count;
};

/* Looks at the terminal's modes and at what each thread of its foreground group is blocked in. */
struct input_state reading_state(const struct terminal *terminal);

#endif
