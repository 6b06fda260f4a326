#ifndef SALLYPORT_SECCOMP_RULES_H
#define SALLYPORT_SECCOMP_RULES_H

#include <stddef.h>
#include <stdint.h>

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
