#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "sandbox/seccomp/program.h"

#define NEW_NAMESPACES 0x7e020000u
#define NEW_TIME_NAMESPACE 0x80u
#define SET_ID_BITS (S_ISUID | S_ISGID)
#define CREATING (O_CREAT | 020000000u) /* O_TMPFILE without its O_DIRECTORY */
#define SCHED_CORE 62u                  /* PR_SCHED_CORE */
#define OWNER_EX 15u                    /* F_SETOWN_EX */
#define IO_PRIORITY_OF_USER 3u
#define SET_LEASE 1024u /* F_SETLEASE */
/* A snapshot of a subvolume in the workspace would contain copies of denied paths. */
#define BTRFS_SNAPSHOT 0x50009401u    /* BTRFS_IOC_SNAP_CREATE */
#define BTRFS_SNAPSHOT_V2 0x50009417u /* BTRFS_IOC_SNAP_CREATE_V2 */
#define BCACHEFS_SUBVOLUME 0x4020bc10u /* BCH_IOCTL_SUBVOLUME_CREATE, which creates snapshots as well */

static void check_bits(struct program *p, unsigned argument, uint32_t bits)
{
	emit_load(p, ARGUMENT(argument));
	emit_return_if(p, BPF_JSET, bits, REFUSE(EPERM));
	emit_return(p, SECCOMP_RET_ALLOW);
}

/* Rejects the creation of set-user-ID and set-group-ID files, which other users would run with the privileges of the
 * command's user. */
static void check_open(struct program *p, unsigned flags)
{
	emit_load(p, ARGUMENT(flags));
	emit(p, BPF_JMP | BPF_JSET | BPF_K, CREATING, 1, 0);
	emit_return(p, SECCOMP_RET_ALLOW);
	check_bits(p, flags + 1, SET_ID_BITS);
}

static void check_mknod(struct program *p, unsigned mode)
{
	emit_load(p, ARGUMENT(mode));
	emit_return_if(p, BPF_JSET, SET_ID_BITS, REFUSE(EPERM));
	emit(p, BPF_ALU | BPF_AND | BPF_K, S_IFMT, 0, 0);
	emit_return_if(p, BPF_JEQ, S_IFCHR, REFUSE(EPERM));
	emit_return_if(p, BPF_JEQ, S_IFBLK, REFUSE(EPERM));
	emit_return(p, SECCOMP_RET_ALLOW);
}

/* FIOSETOWN and SIOCSPGRP name the receiver of SIGIO in memory, which a filter cannot read. */
static void check_ioctl(struct program *p, bool signals)
{
	emit_load(p, ARGUMENT(1));
	emit_return_if(p, BPF_JEQ, TIOCSTI, REFUSE(EPERM));
	emit_return_if(p, BPF_JEQ, TIOCLINUX, REFUSE(EPERM));
	emit_return_if(p, BPF_JEQ, BTRFS_SNAPSHOT, REFUSE(EPERM));
	emit_return_if(p, BPF_JEQ, BTRFS_SNAPSHOT_V2, REFUSE(EPERM));
	emit_return_if(p, BPF_JEQ, BCACHEFS_SUBVOLUME, REFUSE(EPERM));
	if (signals) {
		emit_return_if(p, BPF_JEQ, FIOSETOWN, REFUSE(EPERM));
		emit_return_if(p, BPF_JEQ, SIOCSPGRP, REFUSE(EPERM));
	}
	emit_return(p, SECCOMP_RET_ALLOW);
}

static void check_personality(struct program *p)
{
	/* PER_LINUX, PER_LINUX32, UNAME26, ADDR_NO_RANDOMIZE for debuggers, and the query. */
	static const uint32_t usual[] = {0, 0x8, 0x20000, 0x20008, 0x40000, 0xffffffffu};
	emit_load(p, ARGUMENT(0));
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		emit_return_if(p, BPF_JEQ, usual[i], SECCOMP_RET_ALLOW);
	emit_return(p, REFUSE(EPERM));
}

static void check_self(struct program *p, unsigned argument)
{
	emit_load(p, ARGUMENT(argument));
	emit_return_if(p, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
	emit_return(p, REFUSE(EPERM));
}

/* Returns the action for a call that names a process by a pid other than 0. */
static uint32_t action_for_pid(struct seccomp_options options)
{
	return options.own_pids ? SECCOMP_RET_ALLOW : options.broker ? RET_USER_NOTIF : REFUSE(EPERM);
}

static void check_pid(struct program *p, struct seccomp_options options)
{
	emit_load(p, ARGUMENT(0));
	emit_return_if(p, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
	emit_return(p, action_for_pid(options));
}

/* Checks setpriority and ioprio_set. USER is the kind that means all processes of a user. */
static void check_priority(struct program *p, struct seccomp_options options, uint32_t user)
{
	if (!options.own_pids) {
		emit_load(p, ARGUMENT(0));
		emit_return_if(p, BPF_JEQ, user, REFUSE(EPERM));
		emit_load(p, ARGUMENT(1));
		emit_return_if(p, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
	}
	emit_return(p, action_for_pid(options));
}

/* Rejects core scheduling across processes, which Landlock restricts like tracing. */
static void check_sched_core(struct program *p, bool tracing)
{
	if (!tracing) {
		emit_load(p, ARGUMENT(0));
		emit_return_if(p, BPF_JEQ, SCHED_CORE, REFUSE(EPERM));
	}
	emit_return(p, SECCOMP_RET_ALLOW);
}

static void check_kill(struct program *p, bool signals)
{
	if (signals) {
		emit_load(p, ARGUMENT(0));
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
		emit_return(p, RET_USER_NOTIF);
	}
	emit_return(p, SECCOMP_RET_ALLOW);
}

/* Checks the receiver of SIGIO, which can be any signal. F_SETOWN_EX names it in memory. A lease on a file that the
 * command can only read would delay every other process that opens it, by 45 s each time. */
static void check_fcntl(struct program *p, bool signals)
{
	emit_load(p, ARGUMENT(1));
	emit_return_if(p, BPF_JEQ, SET_LEASE, REFUSE(EPERM));
	if (signals) {
		emit_return_if(p, BPF_JEQ, OWNER_EX, REFUSE(EPERM));
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, F_SETOWN, 0, 3);
		emit_load(p, ARGUMENT(2));
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
		emit_return(p, RET_USER_NOTIF);
	}
	emit_return(p, SECCOMP_RET_ALLOW);
}

/* Allows reading but not setting limits of other processes, because a process can be killed through its limits. */
static void check_prlimit(struct program *p, struct seccomp_options options)
{
	emit_load(p, ARGUMENT(0));
	emit_return_if(p, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
	emit_load(p, ARGUMENT(2));
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
	emit_load(p, ARGUMENT(2) + 4); /* the upper half of the pointer */
	emit_return_if(p, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
	emit_return(p, action_for_pid(options));
}

void emit_check(struct program *p, enum check check, struct seccomp_options options)
{
	switch (check) {
	case CHECK_REFUSED: emit_return(p, REFUSE(EPERM)); break;
	case CHECK_UNKNOWN: emit_return(p, REFUSE(ENOSYS)); break;
	case CHECK_TRACING: emit_return(p, options.tracing ? SECCOMP_RET_ALLOW : REFUSE(EPERM)); break;
	case CHECK_CLONE: check_bits(p, 0, NEW_NAMESPACES); break;
	case CHECK_UNSHARE: check_bits(p, 0, NEW_NAMESPACES | NEW_TIME_NAMESPACE); break;
	case CHECK_IOCTL: check_ioctl(p, options.signals); break;
	case CHECK_PERSONALITY: check_personality(p); break;
	case CHECK_PRLIMIT: check_prlimit(p, options); break;
	case CHECK_OWN: check_self(p, 0); break;
	case CHECK_PID: check_pid(p, options); break;
	case CHECK_PRIORITY: check_priority(p, options, PRIO_USER); break;
	case CHECK_IO_PRIORITY: check_priority(p, options, IO_PRIORITY_OF_USER); break;
	case CHECK_SCHED_CORE: check_sched_core(p, options.tracing); break;
	case CHECK_KILL: check_kill(p, options.signals); break;
	case CHECK_SIGNAL: emit_return(p, options.signals ? RET_USER_NOTIF : SECCOMP_RET_ALLOW); break;
	case CHECK_FCNTL: check_fcntl(p, options.signals); break;
	case CHECK_MODE_SECOND: check_bits(p, 1, SET_ID_BITS); break;
	case CHECK_MODE_THIRD: check_bits(p, 2, SET_ID_BITS); break;
	case CHECK_OPEN: check_open(p, 1); break;
	case CHECK_OPENAT: check_open(p, 2); break;
	case CHECK_MKNOD: check_mknod(p, 1); break;
	case CHECK_MKNODAT: check_mknod(p, 2); break;
	case CHECK_SOCKET:
	case CHECK_SOCKETPAIR:
	case CHECK_SENDTO:
	case CHECK_SENDMSG:
	case CHECK_CONNECT:
	case CHECK_LISTEN: emit_socket_check(p, check, options); break;
	case CHECK_COUNT: break;
	}
}
