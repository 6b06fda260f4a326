#ifndef SALLYPORT_CLIENT_FORWARD_H
#define SALLYPORT_CLIENT_FORWARD_H

#include "client/node.h"
#include "client/resident.h"

/* Forwards between the streams of this process and the resident gateway or the log of the session that it has started,
 * until the command line has been answered. Exits with its exit code, or runs the command line with Node. */
__attribute__((noreturn)) void forward_answer(struct resident *resident, const struct command_line *line);

/* Makes the signals that are forwarded to a command arrive on a descriptor. */
bool forward_take_signals(void);

#endif
