#include "sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define FOREIGN_FROM 0x40000000u /* x32 */
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define FOREIGN_FROM 0xffffffffu
#else
#define ARCHITECTURE 0
#define FOREIGN_FROM 0xffffffffu
#endif

#define MAX_INSTRUCTIONS 1024
#define NR offsetof(struct seccomp_data, nr)
#define ARCH offsetof(struct seccomp_data, arch)
/* The lower half of an argument. The kernel uses only 32 bits of the arguments that are checked. */
#define ARGUMENT(i) ((uint32_t)(offsetof(struct seccomp_data, args) + 8 * (i)))
#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))
#define NEW_NAMESPACES 0x7e020000u
#define NEW_TIME_NAMESPACE 0x80u
#define SET_ID_BITS (S_ISUID | S_ISGID)
#define CREATING (O_CREAT | 020000000u) /* O_TMPFILE without its O_DIRECTORY */
#define TYPE_MASK 0xfu                  /* SOCK_CLOEXEC and SOCK_NONBLOCK are higher bits */
#define FAST_OPEN 0x20000000u

/* Placeholders for jump targets of the search that are not checks. */
#define ALLOWED 254u
#define NEXT 253u

struct program {
	struct sock_filter code[MAX_INSTRUCTIONS];
	unsigned short length;
	unsigned short blocks[CHECK_COUNT]; /* start of each check */
	unsigned short allowed;
};

static void emit(struct program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	if (p->length < MAX_INSTRUCTIONS)
		p->code[p->length++] = (struct sock_filter){code, yes, no, k};
}

static void emit_load(struct program *p, uint32_t offset)
{
	emit(p, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void emit_return(struct program *p, uint32_t action)
{
	emit(p, BPF_RET | BPF_K, action, 0, 0);
}

/* Emits code that returns ACTION if the loaded value passes TEST, and continues otherwise. */
static void emit_return_if(struct program *p, uint16_t test, uint32_t value, uint32_t action)
{
	emit(p, BPF_JMP | test | BPF_K, value, 0, 1);
	emit_return(p, action);
}

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

static void check_ioctl(struct program *p)
{
	emit_load(p, ARGUMENT(1));
	emit_return_if(p, BPF_JEQ, TIOCSTI, REFUSE(EPERM));
	emit_return_if(p, BPF_JEQ, TIOCLINUX, REFUSE(EPERM));
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

/* Allows reading but not setting limits of other processes, because a process can be killed through its limits. */
static void check_prlimit(struct program *p)
{
	emit_load(p, ARGUMENT(0));
	emit_return_if(p, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
	emit_load(p, ARGUMENT(2));
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
	emit_load(p, ARGUMENT(2) + 4); /* the upper half of the pointer */
	emit_return_if(p, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
	emit_return(p, REFUSE(EPERM));
}

static void allow_families(struct program *p, const uint32_t *families, size_t count)
{
	emit_load(p, ARGUMENT(0));
	for (size_t i = 0; i < count; i++)
		emit_return_if(p, BPF_JEQ, families[i], SECCOMP_RET_ALLOW);
}

/* Allows only the transports that Landlock can restrict to ports. Its hooks cover plain TCP but no protocols such as
 * MPTCP. */
static void allow_transport(struct program *p, uint32_t type, uint32_t protocol)
{
	emit_load(p, ARGUMENT(1));
	emit(p, BPF_ALU | BPF_AND | BPF_K, TYPE_MASK, 0, 0);
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, type, 0, 5);
	emit_load(p, ARGUMENT(2));
	emit_return_if(p, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
	emit_return_if(p, BPF_JEQ, protocol, SECCOMP_RET_ALLOW);
}

static void check_socket(struct program *p, enum seccomp_sockets sockets)
{
	static const uint32_t any[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK}, inet[] = {AF_INET, AF_INET6};
	if (sockets == SOCKETS_ANY) {
		allow_families(p, any, 4);
		emit_return(p, REFUSE(EAFNOSUPPORT));
	} else if (sockets == SOCKETS_LOOPBACK) {
		allow_families(p, inet, 2);
		emit_return_if(p, BPF_JEQ, AF_NETLINK, SECCOMP_RET_ALLOW); /* shows only its own network namespace */
		emit_return(p, REFUSE(EPERM));
	} else if (sockets == SOCKETS_NONE) {
		emit_return(p, REFUSE(EPERM));
	} else {
		emit_load(p, ARGUMENT(0));
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 6, 0);
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 5, 0);
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 3); /* name resolution queries routes */
		emit_load(p, ARGUMENT(2));
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
		emit_return(p, SECCOMP_RET_ALLOW);
		emit_return(p, REFUSE(EPERM));
		allow_transport(p, SOCK_STREAM, IPPROTO_TCP);
		if (sockets == SOCKETS_TCP_UDP)
			allow_transport(p, SOCK_DGRAM, IPPROTO_UDP);
		emit_return(p, REFUSE(EPERM));
	}
}

/* Rejects datagram pairs, which can be connected to a socket outside the sandbox. */
static void check_socketpair(struct program *p, enum seccomp_sockets sockets)
{
	if (sockets == SOCKETS_ANY) {
		emit_return(p, SECCOMP_RET_ALLOW);
		return;
	}
	emit_load(p, ARGUMENT(1));
	emit(p, BPF_ALU | BPF_AND | BPF_K, TYPE_MASK, 0, 0);
	emit_return_if(p, BPF_JEQ, SOCK_STREAM, SECCOMP_RET_ALLOW);
	emit_return_if(p, BPF_JEQ, SOCK_SEQPACKET, SECCOMP_RET_ALLOW);
	emit_return(p, REFUSE(EPERM));
}

/* Rejects TCP Fast Open, which opens a connection by sending and bypasses Landlock's check of connect. */
static void check_send(struct program *p, enum seccomp_sockets sockets, unsigned flags)
{
	if (sockets == SOCKETS_TCP || sockets == SOCKETS_TCP_UDP)
		check_bits(p, flags, FAST_OPEN);
	else
		emit_return(p, SECCOMP_RET_ALLOW);
}

static void emit_check(struct program *p, enum check check, struct seccomp_options options)
{
	p->blocks[check] = p->length;
	switch (check) {
	case CHECK_REFUSED: emit_return(p, REFUSE(EPERM)); break;
	case CHECK_UNKNOWN: emit_return(p, REFUSE(ENOSYS)); break;
	case CHECK_TRACING: emit_return(p, options.tracing ? SECCOMP_RET_ALLOW : REFUSE(EPERM)); break;
	case CHECK_CLONE: check_bits(p, 0, NEW_NAMESPACES); break;
	case CHECK_UNSHARE: check_bits(p, 0, NEW_NAMESPACES | NEW_TIME_NAMESPACE); break;
	case CHECK_IOCTL: check_ioctl(p); break;
	case CHECK_PERSONALITY: check_personality(p); break;
	case CHECK_PRLIMIT: check_prlimit(p); break;
	case CHECK_OWN: check_self(p, 0); break;
	case CHECK_MODE_SECOND: check_bits(p, 1, SET_ID_BITS); break;
	case CHECK_MODE_THIRD: check_bits(p, 2, SET_ID_BITS); break;
	case CHECK_OPEN: check_open(p, 1); break;
	case CHECK_OPENAT: check_open(p, 2); break;
	case CHECK_MKNOD: check_mknod(p, 1); break;
	case CHECK_MKNODAT: check_mknod(p, 2); break;
	case CHECK_SOCKET: check_socket(p, options.sockets); break;
	case CHECK_SOCKETPAIR: check_socketpair(p, options.sockets); break;
	case CHECK_SENDTO: check_send(p, options.sockets, 3); break;
	case CHECK_SENDMSG: check_send(p, options.sockets, 2); break;
	case CHECK_COUNT: break;
	}
}

/* Sets a jump offset. Jumps of the search hold the number of a check until the addresses of the checks are known. */
static void patch_jump(struct program *p, unsigned short at, uint8_t *jump, unsigned short target)
{
	if (target - at - 1 > UINT8_MAX)
		p->length = MAX_INSTRUCTIONS; /* too far for a jump, so the program is discarded */
	*jump = (uint8_t)(target - at - 1);
}

/* Emits a binary search over the system call numbers, because the kernel evaluates the filter for each call, and for
 * every number when it is installed. */
static void emit_search(struct program *p, const struct syscall_rule *rules, size_t count)
{
	unsigned short at = p->length;
	if (count > 1) {
		size_t half = count / 2;
		emit(p, BPF_JMP | BPF_JGE | BPF_K, rules[half].first, 0, 0);
		emit_search(p, rules, half);
		patch_jump(p, at, &p->code[at].jt, p->length);
		emit_search(p, rules + half, count - half);
		return;
	}
	bool single = rules->first == rules->last;
	if (!single)
		emit(p, BPF_JMP | BPF_JGT | BPF_K, rules->last, ALLOWED, NEXT);
	emit(p, BPF_JMP | (single ? BPF_JEQ : BPF_JGE) | BPF_K, rules->first, (uint8_t)rules->check, ALLOWED);
}

static void patch_leaf_jump(struct program *p, unsigned short at, uint8_t *jump)
{
	if (*jump == NEXT)
		*jump = 0;
	else
		patch_jump(p, at, jump, *jump == ALLOWED ? p->allowed : p->blocks[*jump]);
}

/* Patches the leaves of the search, which are all jumps except inner nodes. */
static void patch_leaves(struct program *p, unsigned short from, unsigned short to)
{
	for (unsigned short at = from; at < to; at++) {
		uint16_t test = p->code[at].code & 0xf0;
		bool node = test == BPF_JGE && p->code[at].jf == 0;
		if (node)
			continue;
		patch_leaf_jump(p, at, &p->code[at].jt);
		patch_leaf_jump(p, at, &p->code[at].jf);
	}
}

const struct sock_fprog *seccomp_program(struct seccomp_options options)
{
	static struct sock_fprog programs[SOCKETS_COUNT][2];
	struct sock_fprog *program_of = &programs[options.sockets][options.tracing];
	if (program_of->filter)
		return program_of;
	if (!seccomp_works())
		return NULL;
	struct program *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	size_t count;
	const struct syscall_rule *rules = syscall_rules(&count);
	emit_load(p, ARCH);
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	emit_return(p, SECCOMP_RET_KILL_PROCESS);
	emit_load(p, NR);
	emit_return_if(p, BPF_JGE, FOREIGN_FROM, REFUSE(ENOSYS));
	unsigned short from = p->length;
	emit_search(p, rules, count);
	unsigned short to = p->length;
	p->allowed = p->length;
	emit_return(p, SECCOMP_RET_ALLOW);
	for (unsigned check = 0; check < CHECK_COUNT; check++)
		emit_check(p, check, options);
	patch_leaves(p, from, to);
	program_of->len = p->length;
	program_of->filter = p->length < MAX_INSTRUCTIONS ? p->code : NULL;
	return program_of->filter ? program_of : NULL;
}

bool seccomp_works(void)
{
	uint32_t action = SECCOMP_RET_ERRNO;
	return ARCHITECTURE && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int seccomp_restrict(const struct sock_fprog *program)
{
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program);
}
