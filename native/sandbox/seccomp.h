#ifndef SALLYPORT_SECCOMP_H
#define SALLYPORT_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which system calls a confined command may not make. Built once per choice and used again and again. */
enum seccomp_sockets {
	SOCKETS_ANY,      /* unix, IPv4, IPv6 and netlink */
	SOCKETS_LOOPBACK, /* IPv4 and IPv6, of a network of its own */
	SOCKETS_NONE,     /* only pairs */
	SOCKETS_TCP,
	SOCKETS_TCP_UDP,
	SOCKETS_COUNT,
};

struct seccomp_options {
	enum seccomp_sockets sockets;
	bool tracing; /* something else keeps ptrace and its like from reaching outside */
};

/* Whether this kernel and processor have it. */
bool seccomp_works(void);

/* The program for CHOICE; NULL where the processor is not known or there is no memory. */
const struct sock_fprog *seccomp_program(struct seccomp_options options);

/* Holds for the calling process and all it starts; it must have no_new_privs. Async-signal-safe. */
int seccomp_restrict(const struct sock_fprog *program);

/* ---- seccomp_rules.c ---- */

/* What is looked at before a system call is let through. */
enum check {
	CHECK_REFUSED, /* EPERM */
	CHECK_UNKNOWN, /* ENOSYS: its arguments lie in memory, where no filter sees them; libraries do without it */
	CHECK_TRACING,
	CHECK_CLONE,
	CHECK_UNSHARE,
	CHECK_IOCTL,
	CHECK_PERSONALITY,
	CHECK_PRLIMIT,
	CHECK_OWN,         /* a process as the first argument: only 0, itself */
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

/* Neighbours with the same check. */
struct syscall_rule {
	uint32_t first, last;
	enum check check;
};

/* All calls that are not simply let through, sorted by number and without overlap. */
const struct syscall_rule *syscall_rule(size_t *count);

#endif
