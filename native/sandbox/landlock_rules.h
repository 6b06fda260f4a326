#ifndef SALLYPORT_LANDLOCK_RULES_H
#define SALLYPORT_LANDLOCK_RULES_H

#include "sandbox/path_fingerprints.h"
#include "sandbox/spec.h"

/* Makes the Landlock rules of SPEC: what it may read is found by looking through the folders that lead to denied ones,
 * so that those stay denied when they appear later. Notes in STAMPS what it looked at. Returns the ruleset, or -1 with
 * errno. */
int landlock_rules_build(const struct sandbox_spec *spec, int abi, struct path_fingerprints *fingerprints);

/* What only the command's own view holds: FD is a folder to read, or one of terminals. 0, or -1 with errno.
 * Async-signal-safe. */
int landlock_rules_add_read(int ruleset, int abi, int fd);
int landlock_rules_add_devpts(int ruleset, int abi, int fd);

#endif
