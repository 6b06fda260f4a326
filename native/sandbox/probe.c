#include "sandbox/probe.h"

#include <stdio.h>

#include "sandbox/isolation.h"
#include "sandbox/landlock.h"
#include "sandbox/namespaces.h"
#include "sandbox/seccomp.h"

int probe(void)
{
	static const struct spec plain = {.given = true, .network = NETWORK_OFF};
	static const struct spec isolated = {.given = true, .isolated = true};
	struct namespaces namespaces;
	struct launch_failure failure;
	gaps_t gaps = 0;
	const char *mounts = "none";
	bool network = false, isolation = false;
	if (namespaces_make(&namespaces, &plain, &gaps, &failure)) {
		mounts = namespaces.mount < 0 ? "none" : namespaces.user < 0 ? "root" : "user";
		network = namespaces.network >= 0;
		namespaces_close(&namespaces);
	}
	if (namespaces_make(&namespaces, &isolated, &gaps, &failure)) {
		isolation = isolation_works(&namespaces);
		namespaces_close(&namespaces);
	}
	printf("{\"landlock\":%d,\"mounts\":\"%s\",\"isolation\":%s,\"networkNamespace\":%s,\"seccomp\":%s}\n",
	       landlock_abi(), mounts, isolation ? "true" : "false", network ? "true" : "false", seccomp_works() ? "true" : "false");
	return 0;
}
