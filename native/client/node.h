#ifndef SALLYPORT_CLIENT_NODE_H
#define SALLYPORT_CLIENT_NODE_H

#include <stdbool.h>

#define EXIT_FAILED 125

/* The command line of this process. */
struct command_line {
	int argc;
	char **argv;
	bool only_prints; /* the command starts nothing, so a signal may end this process at any time */
	int failure_code; /* the exit code if nothing can be answered */
};

/* The variable in which a client that cannot finish a command names the session and how much of its output it has printed:
 * the ID, the offsets in the streams, and whether input may be lost. */
#define CONTINUE_VARIABLE "SALLYPORT_CONTINUE"

/* Runs the command line with Node in this process. Does not return. */
__attribute__((noreturn)) void node_run(const struct command_line *line);

/* Replaces this process with a resident gateway for the state folder. Returns if that fails. */
void node_serve(const char *state, const char *build);

#endif
