#ifndef SALLYPORT_SECCOMP_H
#define SALLYPORT_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* System calls that a confined command may not make. Each program is built once. */
enum seccomp_sockets {
	SOCKETS_ANY,      /* unix, IPv4, IPv6 and netlink */
	SOCKETS_LOOPBACK, /* IPv4 and IPv6 in a network namespace */
	SOCKETS_NONE,     /* only socket pairs */
	SOCKETS_TCP,
	SOCKETS_TCP_UDP,
	SOCKETS_COUNT,
};

struct seccomp_options {
	enum seccomp_sockets sockets;
	bool tracing; /* another mechanism confines ptrace and similar calls */
};

/* Whether this kernel and CPU support it. */
bool seccomp_works(void);

/* The program for OPTIONS; NULL: the CPU is unknown, or out of memory. */
const struct sock_fprog *seccomp_program(struct seccomp_options options);

/* Applies to the calling process and its descendants. Requires no_new_privs. Async-signal-safe. */
int seccomp_restrict(const struct sock_fprog *program);

/* ---- seccomp_rules.c ---- */

/* The check that a system call has to pass. */
enum check {
	CHECK_REFUSED, /* EPERM */
	CHECK_UNKNOWN, /* ENOSYS: its arguments are in memory, which a filter cannot read; libraries fall back */
	CHECK_TRACING,
	CHECK_CLONE,
	CHECK_UNSHARE,
	CHECK_IOCTL,
	CHECK_PERSONALITY,
	CHECK_PRLIMIT,
	CHECK_OWN,         /* a pid as the first argument: only 0, the caller */
	CHECK_MODE_SECOND, /* a mode as the second argument */
	CHECK_MODE_THIRD,
	CHECK_OPEN,
	CHECK_OPENAT,
	CHECK_MKNOD,
	CHECK_MKNODAT,
	CHECK_SOCKET,
	CHECK_SOCKETPAIR,
	CHECK_SENDTO,
	CHECK_SENDMSG,
	CHECK_COUNT,
};

/* Consecutive system calls with the same check. */
struct syscall_rule {
	uint32_t first, last;
	enum check check;
};

/* All checked system calls, sorted by number without overlap. Calls that are not listed are allowed. */
const struct syscall_rule *syscall_rules(size_t *count);

#endif
