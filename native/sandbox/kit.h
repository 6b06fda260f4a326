#ifndef SALLYPORT_KIT_H
#define SALLYPORT_KIT_H

#include "process/launch.h"
#include "sandbox/gaps.h"
#include "sandbox/namespaces.h"
#include "sandbox/spec.h"
#include "sandbox/stamps.h"

/* What commands of one kind are confined with. Making it takes longer than most commands, so a keeper keeps it for the
 * next one of the same kind, and looks whether everything it was made from is still the same. */
struct kit {
	char *key;
	size_t key_length;
	int abi;
	int ruleset; /* -1: no Landlock */
	unsigned uses;
	bool reused;
	struct namespaces namespaces;
	gaps_t gaps;
	struct stamps stamps;
	unsigned long last_used;
};

/* NULL with FAILURE filled in. It stays valid until the next call. */
struct kit *kit_for(const struct spec *spec, struct launch_failure *failure);

/* Lets go of all. */
void kits_forget(void);

#endif
