#ifndef SALLYPORT_PTY_H
#define SALLYPORT_PTY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/request.h"

/* The terminal of a command, if it requested one and one is available. */
struct terminal {
	int master; /* -1 if the command runs on pipes */
	/* Open for the whole session. Otherwise the master would report a hangup whenever the command has closed its
	 * own descriptors, although it can open /dev/tty again. */
	int slave;
	int sizes; /* the file sessions/<id>/sizes */
	uint16_t columns, rows;
	off_t sizes_used, last_line;
	uint64_t last_offset;
};

void terminal_init(struct terminal *terminal);

/* Opens a terminal with the size in REQUEST, if it has one. If that fails, the reason is written to the file `sizes`
 * and the command runs on pipes. DEVPTS is the command's own /dev/pts, or -1 for the /dev/pts of the host. */
void terminal_open(struct terminal *terminal, const struct request *request, int dirfd, int devpts);

/* Returns a new descriptor of the command's side, or -1 with errno. */
int terminal_stdio(const struct terminal *terminal);

/* Changes the size, which sends SIGWINCH to the foreground program, and records the size with the output offset.
 * Returns false if there is no terminal or the size is invalid. */
bool terminal_resize(struct terminal *terminal, uint16_t columns, uint16_t rows, uint64_t offset);

/* Reports whether the terminal reads lines without echo, as for a password prompt. */
bool terminal_hides_input(const struct terminal *terminal);

void terminal_close(struct terminal *terminal);

/* ---- input_state.c ---- */

#define INPUT_STATE_MAX_PROCESSES 32u

enum reading { READING_NO, READING_YES, READING_UNKNOWN };

/* Whether the foreground program of a terminal is waiting for input, and how. */
struct input_state {
	enum reading reading; /* unknown if its processes cannot be inspected */
	bool echo, canonical;
	bool epoll;       /* the process that waits also waits for other events, as a server does */
	pid_t group;      /* the foreground process group */
	pid_t foreground; /* the process that waits, otherwise the leader of the foreground group, or 0 */
	pid_t processes[INPUT_STATE_MAX_PROCESSES]; /* processes with this controlling terminal, parents first */
	unsigned count;
};

/* Reads the modes of the terminal and the system call in which each thread of its foreground group is blocked. */
struct input_state input_state_query(const struct terminal *terminal);

/* Where a program waits for input. INPUT_OUTPUT is the write end of its own output pipe, on which none ever arrives. */
enum input_source { INPUT_NONE, INPUT_TERMINAL, INPUT_STDIN, INPUT_OUTPUT };

/* A process of a command that is blocked until it gets input. */
struct input_wait {
	enum input_source source;
	pid_t pid;
	bool hidden;      /* the terminal does not show what is typed, as for a password */
	bool lines;       /* it reads lines, and not single keys */
	bool epoll;       /* it also waits for other events, as a server does */
	char program[17]; /* the name of the process; safe for JSON */
};

/* Searches the command's processes for one that waits for input. INPUT is the write end of its stdin and OUTPUTS are the
 * read ends of its output, or -1. */
struct input_wait input_wait_query(const struct terminal *terminal, int input, const int outputs[2]);

#endif
