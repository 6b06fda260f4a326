#ifndef SALLYPORT_PREFORK_H
#define SALLYPORT_PREFORK_H

#include <sys/types.h>

#include "process/child.h"
#include "sandbox/sandbox_cache.h"

/* A child that is forked and confined before its command is known, while the gateway is busy with the answer to the
 * last one. It waits to be told what to become. There is one at most, and only between two commands: while one runs,
 * nothing of its kind is there for it to meddle with. */

/* After a command that was confined by SANDBOX, for the next one. That this will be of the same kind is only likely, so
 * there must have been two in a row that could use the same kit. */
void prefork_prepare(const struct sandbox *sandbox);

/* Sends it off as START says. Returns its pid when it has become its command, or has failed and said so in the report;
 * 0: there is none that fits, and none at all any more. */
pid_t prefork_launch(const struct launch_context *context);

/* KIT is about to go, and with it whoever was made ready in it. */
void prefork_discard(const struct cached_sandbox *cached);

#endif
