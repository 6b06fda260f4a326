#ifndef SALLYPORT_GRANTS_H
#define SALLYPORT_GRANTS_H

#include "sandbox/spec.h"
#include "sandbox/stamps.h"

/* Makes the Landlock rules of SPEC: what it may read is found by looking through the folders that lead to denied ones,
 * so that those stay denied when they appear later. Notes in STAMPS what it looked at. Returns the ruleset, or -1 with
 * errno. */
int grants_ruleset(const struct spec *spec, int abi, struct stamps *stamps);

/* What only the command's own view holds: FD is a folder to read, or one of terminals. 0, or -1 with errno.
 * Async-signal-safe. */
int grants_reading(int ruleset, int abi, int fd);
int grants_terminals(int ruleset, int abi, int fd);

#endif
