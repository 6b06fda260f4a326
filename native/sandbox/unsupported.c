#include "sandbox/unsupported.h"

#include <stdio.h>

static const char *const names[UNSUPPORTED_COUNT] = {
	[UNSUPPORTED_LANDLOCK] = "landlock",
	[UNSUPPORTED_TRUNCATE] = "truncate",
	[UNSUPPORTED_IOCTL_DEV] = "ioctl-dev",
	[UNSUPPORTED_SCOPE_ABSTRACT] = "scope-abstract",
	[UNSUPPORTED_SCOPE_SIGNALS] = "scope-signals",
	[UNSUPPORTED_PORTS] = "ports",
	[UNSUPPORTED_UDP] = "udp",
	[UNSUPPORTED_MOUNTS] = "mounts",
	[UNSUPPORTED_METADATA] = "metadata",
	[UNSUPPORTED_DENIED_LATER] = "denied-later",
	[UNSUPPORTED_NAMESPACES] = "namespaces",
	[UNSUPPORTED_NET_NAMESPACE] = "net-namespace",
	[UNSUPPORTED_SECCOMP] = "seccomp",
};

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
