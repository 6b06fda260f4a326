#ifndef SALLYPORT_PTY_H
#define SALLYPORT_PTY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/request.h"

/* The terminal of a command, if it asked for one and one is available. */
struct terminal {
	int master; /* -1: the command runs on pipes */
	/* Open for the whole session: without it the master reports a hang-up whenever the command has closed its own
	 * descriptors, although it can open /dev/tty again. */
	int slave;
	int sizes; /* sessions/<id>/sizes */
	uint16_t columns, rows;
	off_t sizes_used, last_line;
	uint64_t last_offset;
};

void terminal_init(struct terminal *terminal);

/* Opens a terminal of the size in REQUEST, if there is one. If that fails, the file `sizes` states why and the command
 * runs on pipes. DEVPTS: the command's own /dev/pts; -1: the host's. */
void terminal_open(struct terminal *terminal, const struct request *request, int dirfd, int devpts);

/* A descriptor of the command's side. -1 with errno. */
int terminal_stdio(const struct terminal *terminal);

/* Changes the size, which signals the foreground program, and records the output offset. False: there is no terminal,
 * or the size is invalid. */
bool terminal_resize(struct terminal *terminal, uint16_t columns, uint16_t rows, uint64_t offset);

/* Whether it reads lines without echo, as a password prompt does. */
bool terminal_hides_input(const struct terminal *terminal);

void terminal_close(struct terminal *terminal);

/* ---- input_state.c ---- */

#define INPUT_STATE_MAX_PROCESSES 32u

enum reading { READING_NO, READING_YES, READING_UNKNOWN };

/* What the foreground program of a terminal does about input. */
struct input_state {
	enum reading reading; /* unknown: its processes cannot be inspected */
	bool echo, canonical;
	pid_t group;      /* the foreground group */
	pid_t foreground; /* the process that waits, else the leader of the foreground group; 0: none */
	pid_t processes[INPUT_STATE_MAX_PROCESSES]; /* that have the terminal, parents first */
	unsigned count;
};

/* Reads the terminal's modes, and what each thread of its foreground group is blocked in. */
struct input_state input_state_query(const struct terminal *terminal);

#endif
