#include "sandbox/unsupported.h"

#include <stdio.h>

static const char *const names[UNSUPPORTED_COUNT] = {
	[UNSUPPORTED_LANDLOCK] = "landlock",
	[UNSUPPORTED_TRUNCATE] = "truncate",
	[UNSUPPORTED_SCOPE_ABSTRACT] = "scope-abstract",
	[UNSUPPORTED_SCOPE_SIGNALS] = "scope-signals",
	[UNSUPPORTED_PORTS] = "ports",
	[UNSUPPORTED_MOUNTS] = "mounts",
	[UNSUPPORTED_METADATA] = "metadata",
	[UNSUPPORTED_IPC] = "ipc",
	[UNSUPPORTED_DENIED_LATER] = "denied-later",
	[UNSUPPORTED_NAMESPACES] = "namespaces",
	[UNSUPPORTED_SECCOMP] = "seccomp",
	[UNSUPPORTED_PROCESSES] = "processes",
	[UNSUPPORTED_MASK_MONITOR] = "mask-monitor",
};

/* Promises about files and processes. */
static unsupported_t find_unprotected(const struct sandbox_spec *spec, const struct mechanisms *mechanisms)
{
	unsupported_t unsupported = 0;
	int abi = mechanisms->landlock_abi;
	if (abi < 1)
		unsupported |= UNSUPPORTED_BIT(UNSUPPORTED_LANDLOCK);
	if (abi < 1 && !mechanisms->pid_namespace)
		unsupported |= UNSUPPORTED_BIT(UNSUPPORTED_PROCESSES);
	if (abi < 3 && !mechanisms->mounts) /* read-only mounts prevent it too */
		unsupported |= UNSUPPORTED_BIT(UNSUPPORTED_TRUNCATE);
	if (abi < 6 && !mechanisms->pid_namespace && !mechanisms->broker)
		unsupported |= UNSUPPORTED_BIT(UNSUPPORTED_SCOPE_SIGNALS);
	/* The filter leaves connections to the broker, or allows no Unix sockets. Without network access, the command
	 * has its own namespace of abstract ones. */
	if (abi < 6 && spec->network == NETWORK_ON && !mechanisms->seccomp)
		unsupported |= UNSUPPORTED_BIT(UNSUPPORTED_SCOPE_ABSTRACT);
	if (!mechanisms->mounts)
		unsupported |= UNSUPPORTED_BIT(UNSUPPORTED_MOUNTS) | UNSUPPORTED_BIT(UNSUPPORTED_METADATA);
	if (!mechanisms->ipc)
		unsupported |= UNSUPPORTED_BIT(UNSUPPORTED_IPC);
	if (spec->isolated && !mechanisms->isolation)
		unsupported |= UNSUPPORTED_BIT(UNSUPPORTED_NAMESPACES);
	return unsupported;
}

unsupported_t unsupported_find(const struct sandbox_spec *spec, const struct mechanisms *mechanisms)
{
	unsupported_t unsupported = sandbox_spec_confines(spec) ? find_unprotected(spec, mechanisms) : 0;
	if (mechanisms->landlock_abi < 4 && spec->network == NETWORK_PORTS)
		unsupported |= UNSUPPORTED_BIT(UNSUPPORTED_PORTS);
	if (!mechanisms->seccomp)
		unsupported |= UNSUPPORTED_BIT(UNSUPPORTED_SECCOMP);
	return unsupported;
}

const char *unsupported_name(unsigned feature)
{
	return names[feature];
}

size_t unsupported_format(unsupported_t unsupported, char text[UNSUPPORTED_TEXT_MAX])
{
	size_t used = 1;
	text[0] = '[';
	for (unsigned feature = 0; feature < UNSUPPORTED_COUNT; feature++)
		if (unsupported & UNSUPPORTED_BIT(feature))
			used += (size_t)snprintf(text + used, UNSUPPORTED_TEXT_MAX - used, "%s\"%s\"",
						 used > 1 ? "," : "", names[feature]);
	text[used++] = ']';
	text[used] = '\0';
	return used;
}
