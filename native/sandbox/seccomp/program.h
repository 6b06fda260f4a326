#ifndef SALLYPORT_SECCOMP_PROGRAM_H
#define SALLYPORT_SECCOMP_PROGRAM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/seccomp/seccomp.h"

/* The parts from which a filter program is built. */

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
	CHECK_PID,         /* the first argument is a pid of the command */
	CHECK_PRIORITY,    /* the second argument is the pid or process group of which the first is the kind */
	CHECK_IO_PRIORITY, /* the same with other kinds */
	CHECK_SCHED_CORE,  /* prctl, which can change the scheduling of other processes */
	CHECK_KILL,        /* the first argument is a pid, a process group or 0, the own process group */
	CHECK_SIGNAL,      /* other ways to send a signal */
	CHECK_FCNTL,       /* can name the process that receives SIGIO */
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
	CHECK_CONNECT,
	CHECK_LISTEN,
	CHECK_COUNT,
};

/* A range of consecutive system call numbers with the same check. */
struct syscall_rule {
	uint32_t first, last;
	enum check check;
};

/* ---- rules.c ---- */

/* Returns the rules of all checked system calls, sorted by number and without overlap. All other calls are allowed. */
const struct syscall_rule *syscall_rules(size_t *count);

/* ---- instructions ---- */

#define MAX_INSTRUCTIONS 1024

struct program {
	struct sock_filter code[MAX_INSTRUCTIONS];
	unsigned short length;
	unsigned short blocks[CHECK_COUNT]; /* the jump to each check */
	unsigned short allowed;
};

/* The lower half of an argument. The kernel uses only 32 bits of the arguments that are checked. */
#define ARGUMENT(i) ((uint32_t)(offsetof(struct seccomp_data, args) + 8 * (i)))
#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))
#define RET_USER_NOTIF 0x7fc00000u /* linux/seccomp.h is outdated on some systems */

static inline void emit(struct program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	if (p->length < MAX_INSTRUCTIONS)
		p->code[p->length++] = (struct sock_filter){code, yes, no, k};
}

static inline void emit_load(struct program *p, uint32_t offset)
{
	emit(p, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static inline void emit_return(struct program *p, uint32_t action)
{
	emit(p, BPF_RET | BPF_K, action, 0, 0);
}

/* Emits code that returns ACTION if the loaded value passes TEST, and continues otherwise. */
static inline void emit_return_if(struct program *p, uint16_t test, uint32_t value, uint32_t action)
{
	emit(p, BPF_JMP | test | BPF_K, value, 0, 1);
	emit_return(p, action);
}

/* ---- checks.c and socket_checks.c ---- */

/* Emits the code of CHECK, which returns an action. */
void emit_check(struct program *p, enum check check, struct seccomp_options options);
void emit_socket_check(struct program *p, enum check check, struct seccomp_options options);

#endif
