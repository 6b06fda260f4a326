#include "sandbox/gaps.h"

#include <stdio.h>

static const char *const names[GAP_COUNT] = {
	[GAP_LANDLOCK] = "landlock",
	[GAP_TRUNCATE] = "truncate",
	[GAP_IOCTL_DEV] = "ioctl-dev",
	[GAP_SCOPE_ABSTRACT] = "scope-abstract",
	[GAP_SCOPE_SIGNALS] = "scope-signals",
	[GAP_PORTS] = "ports",
	[GAP_UDP] = "udp",
	[GAP_MOUNTS] = "mounts",
	[GAP_METADATA] = "metadata",
	[GAP_DENIED_LATER] = "denied-later",
	[GAP_NAMESPACES] = "namespaces",
	[GAP_NET_NAMESPACE] = "net-namespace",
	[GAP_SECCOMP] = "seccomp",
};

size_t gaps_format(gaps_t gaps, char text[GAPS_TEXT_MAX])
{
	size_t used = 1;
	text[0] = '[';
	for (unsigned gap = 0; gap < GAP_COUNT; gap++)
		if (gaps & GAP_BIT(gap))
			used += (size_t)snprintf(text + used, GAPS_TEXT_MAX - used, "%s\"%s\"", used > 1 ? "," : "",
						 names[gap]);
	text[used++] = ']';
	text[used] = '\0';
	return used;
}
