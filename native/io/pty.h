#ifndef SALLYPORT_PTY_H
#define SALLYPORT_PTY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/request.h"

/* The terminal a command runs on, where it asked for one and one could be had. */
struct terminal {
	int master; /* -1: it runs on pipes */
	/* Kept open as long as the session lives: without it the master reports a hang-up whenever the command happens
	 * to have closed its own, although it can open /dev/tty again. */
	int slave;
	int sizes; /* sessions/<id>/sizes */
	uint16_t columns, rows;
	off_t sizes_used, last_line;
	uint64_t last_offset;
};

void terminal_init(struct terminal *terminal);

/* Opens a terminal of the size REQUEST asks for, if it does. Where none is to be had, the file `sizes` says why, and
 * the command runs on pipes. TERMINALS: the folder of its own /dev/pts; -1: everybody's. */
void terminal_open(struct terminal *terminal, const struct request *request, int dirfd, int devpts);

/* A descriptor of the command's side for one of its three. -1 with errno. */
int terminal_stdio(const struct terminal *terminal);

/* Gives it another size, which the foreground program is told of, and notes at which byte of the output that was.
 * False: there is no terminal, or no such size. */
bool terminal_resize(struct terminal *terminal, uint16_t columns, uint16_t rows, uint64_t offset);

/* Whether it shows nothing of what is typed, but takes it by the line: so passwords are asked for. */
bool terminal_hides_input(const struct terminal *terminal);

void terminal_close(struct terminal *terminal);

/* ---- input_state.c ---- */

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
