#ifndef SALLYPORT_SECCOMP_H
#define SALLYPORT_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The seccomp filter of sandboxed commands. The program for each combination of options is built once. */
enum seccomp_sockets {
	SOCKETS_ANY,      /* Unix, IPv4, IPv6 and netlink */
	SOCKETS_LOOPBACK, /* IPv4 and IPv6 in a network namespace */
	SOCKETS_NONE,     /* only socket pairs */
	SOCKETS_TCP,
	SOCKETS_TCP_UDP,
	SOCKETS_COUNT,
};

struct seccomp_options {
	enum seccomp_sockets sockets;
	bool tracing; /* allow ptrace and similar calls, which Landlock restricts to the sandbox */
};

/* Reports whether the kernel supports seccomp and the CPU architecture is known. */
bool seccomp_works(void);

/* Returns the program for OPTIONS, or NULL if seccomp is not supported or memory is exhausted. */
const struct sock_fprog *seccomp_program(struct seccomp_options options);

/* Applies PROGRAM to the calling process and its descendants. Requires no_new_privs. Async-signal-safe. */
int seccomp_restrict(const struct sock_fprog *program);

/* ---- seccomp_rules.c ---- */

/* The check that a system call must pass. */
enum check {
	CHECK_REFUSED, /* always fails with EPERM */
	CHECK_UNKNOWN, /* fails with ENOSYS, so that libraries fall back: a filter cannot read arguments in memory */
	CHECK_TRACING,
	CHECK_CLONE,
	CHECK_UNSHARE,
	CHECK_IOCTL,
	CHECK_PERSONALITY,
	CHECK_PRLIMIT,
	CHECK_OWN,         /* the first argument is a pid and must be 0, the caller */
	CHECK_MODE_SECOND, /* the second argument is a file mode */
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

/* A range of consecutive system call numbers with the same check. */
struct syscall_rule {
	uint32_t first, last;
	enum check check;
};

/* Returns the rules of all checked system calls, sorted by number and without overlap. All other calls are allowed. */
const struct syscall_rule *syscall_rules(size_t *count);

#endif
