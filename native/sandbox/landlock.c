#include "sandbox/landlock.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/landlock.h, which is outdated or missing on many systems. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#define CREATE_RULESET_VERSION 1u
#define RULE_PATH_BENEATH 1
#define RULE_NET_PORT 2
#define NET_BIND_TCP 1ull
#define NET_CONNECT_TCP 2ull
#define SCOPE_ABSTRACT_UNIX_SOCKET 1ull
#define SCOPE_SIGNAL 2ull

struct ruleset_attr {
	uint64_t access_fs, access_net, scoped;
};
struct path_beneath_attr {
	uint64_t access;
	int32_t parent_fd;
} __attribute__((packed));
struct net_port_attr {
	uint64_t access, port;
};

int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
	return abi < 0 ? 0 : (int)abi;
}

static uint64_t supported_access(int abi)
{
	uint64_t access = (FS_MAKE_SYM << 1) - 1;
	if (abi >= 2)
		access |= FS_REFER;
	if (abi >= 3)
		access |= FS_TRUNCATE;
	if (abi >= 5)
		access |= FS_IOCTL_DEV;
	if (abi >= 9)
		access |= FS_RESOLVE_UNIX;
	return access;
}

static int add_port(int ruleset, uint16_t port)
{
	struct net_port_attr rule = {NET_BIND_TCP | NET_CONNECT_TCP, port};
	return (int)syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &rule, 0);
}

int landlock_create(const struct sandbox_spec *spec, int abi)
{
	bool ports = spec->network == NETWORK_PORTS && abi >= 4;
	struct ruleset_attr attr = {.access_fs = supported_access(abi)};
	if (ports)
		attr.access_net = NET_BIND_TCP | NET_CONNECT_TCP;
	if (abi >= 6)
		attr.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
	/* Older kernels accept the longer struct if the part that they do not know is zero. */
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
	for (size_t i = 0; ruleset >= 0 && ports && i < spec->port_count; i++) {
		if (add_port(ruleset, sandbox_spec_port(spec, i)) == 0)
			continue;
		int error = errno;
		close(ruleset);
		errno = error;
		return -1;
	}
	return ruleset;
}

int landlock_add_path(int ruleset, int abi, int fd, uint64_t access)
{
	struct path_beneath_attr rule = {access & supported_access(abi), fd};
	return (int)syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0);
}

int landlock_restrict(int ruleset)
{
	return (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
}
