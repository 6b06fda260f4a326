#ifndef SALLYPORT_SANDBOX_CACHE_H
#define SALLYPORT_SANDBOX_CACHE_H

#include "launch_failure.h"
#include "sandbox/namespaces.h"
#include "sandbox/path_fingerprints.h"
#include "sandbox/spec.h"
#include "sandbox/unsupported.h"

/* What commands of one kind are confined with. Making it takes longer than most commands, so a keeper keeps it for the
 * next one of the same kind, and looks whether everything it was made from is still the same. */
struct cached_sandbox {
	char *key;
	size_t key_length;
	int abi;
	int ruleset; /* -1: no Landlock */
	unsigned uses;
	bool reused;
	struct namespaces namespaces;
	unsupported_t unsupported;
	struct path_fingerprints fingerprints;
	unsigned long last_used;
};

/* NULL with FAILURE filled in. It stays valid until the next call. */
struct cached_sandbox *sandbox_cache_get(const struct sandbox_spec *spec, struct launch_failure *failure);

/* Lets go of all. */
void sandbox_cache_clear(void);

#endif
