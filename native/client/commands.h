#ifndef SALLYPORT_CLIENT_COMMANDS_H
#define SALLYPORT_CLIENT_COMMANDS_H

/* The commands that are sent to the resident gateway. All others run with Node. src/cli/resident/commands.ts has the same
 * list. */
static const char *const resident_commands[] = {"check", "hook", "run", "sh"};

#endif
