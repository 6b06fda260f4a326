#ifndef SALLYPORT_SANDBOX_CACHE_H
#define SALLYPORT_SANDBOX_CACHE_H

#include "launch_failure.h"
#include "sandbox/monitor/mask_monitor.h"
#include "sandbox/namespaces.h"
#include "sandbox/path_fingerprints.h"
#include "sandbox/spec.h"
#include "sandbox/unsupported.h"

/* Prepared namespaces and rules for one sandbox specification. Preparing them takes longer than most commands run, so a
 * keeper caches them and checks before each use that the paths they depend on have not changed. */
struct cached_sandbox {
	char *key;
	size_t key_length;
	int abi;
	int ruleset; /* -1 without Landlock */
	unsigned uses; /* by commands with their own pid namespace */
	bool reused;
	struct namespaces namespaces;
	unsupported_t unsupported;
	struct path_fingerprints fingerprints;
	struct mask_monitor monitor;
	unsigned long last_used;
};

/* Returns the entry for SPEC, which is valid until the next call. On failure it returns NULL and fills in FAILURE. */
struct cached_sandbox *sandbox_cache_get(const struct sandbox_spec *spec, struct launch_failure *failure);

/* Evicts all entries. */
void sandbox_cache_clear(void);

#endif
