#include "sandbox/probe.h"

#include <stdio.h>

#include "sandbox/landlock.h"
#include "sandbox/namespaces.h"
#include "sandbox/pid_namespace.h"
#include "sandbox/seccomp.h"

int probe(void)
{
	static const struct sandbox_spec plain = {.enabled = true, .network = NETWORK_OFF};
	static const struct sandbox_spec isolated = {.enabled = true, .isolated = true};
	struct namespaces namespaces;
	struct launch_failure failure;
	unsupported_t unsupported = 0;
	const char *mounts = "none";
	bool network = false, isolation = false;
	if (namespaces_make(&namespaces, &plain, &unsupported, &failure)) {
		mounts = namespaces.mount < 0 ? "none" : namespaces.user < 0 ? "root" : "user";
		network = namespaces.network >= 0;
		namespaces_close(&namespaces);
	}
	if (namespaces_make(&namespaces, &isolated, &unsupported, &failure)) {
		isolation = pid_namespace_works(&namespaces);
		namespaces_close(&namespaces);
	}
	printf("{\"landlock\":%d,\"mounts\":\"%s\",\"isolation\":%s,\"networkNamespace\":%s,\"seccomp\":%s}\n",
	       landlock_abi(), mounts, isolation ? "true" : "false", network ? "true" : "false",
	       seccomp_works() ? "true" : "false");
	return 0;
}
