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

#include "sandbox/syscalls.h"

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

#define ROOM 1024
#define NR offsetof(struct seccomp_data, nr)
#define ARCH offsetof(struct seccomp_data, arch)
/* The lower half: none of the arguments looked at is wider than 32 bits to the kernel. */
#define ARGUMENT(i) ((uint32_t)(offsetof(struct seccomp_data, args) + 8 * (i)))
#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))
#define NEW_NAMESPACES 0x7e020000u
#define NEW_TIME_NAMESPACE 0x80u
#define SET_ID_BITS (S_ISUID | S_ISGID)
#define CREATING (O_CREAT | 020000000u) /* O_TMPFILE without its O_DIRECTORY */
#define TYPE_MASK 0xfu                  /* SOCK_CLOEXEC and SOCK_NONBLOCK are above */
#define FAST_OPEN 0x20000000u

/* Jumps of the search that lead to no check. */
#define ALLOWED 254u
#define ON 253u

struct program {
	struct sock_filter code[ROOM];
	unsigned short length;
	unsigned short blocks[CHECK_COUNT]; /* where each check begins */
	unsigned short allowed;
};

static void put(struct program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	if (p->length < ROOM)
		p->code[p->length++] = (struct sock_filter){code, yes, no, k};
}

static void load(struct program *p, uint32_t offset)
{
	put(p, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void give(struct program *p, uint32_t verdict)
{
	put(p, BPF_RET | BPF_K, verdict, 0, 0);
}

/* If the loaded value passes the TEST, the verdict is this; else on. */
static void give_if(struct program *p, uint16_t test, uint32_t value, uint32_t verdict)
{
	put(p, BPF_JMP | test | BPF_K, value, 0, 1);
	give(p, verdict);
}

static void check_bits(struct program *p, unsigned argument, uint32_t bits)
{
	load(p, ARGUMENT(argument));
	give_if(p, BPF_JSET, bits, REFUSE(EPERM));
	give(p, SECCOMP_RET_ALLOW);
}

/* A program that is left behind with these bits would be run by others with our rights. */
static void check_open(struct program *p, unsigned flags)
{
	load(p, ARGUMENT(flags));
	put(p, BPF_JMP | BPF_JSET | BPF_K, CREATING, 1, 0);
	give(p, SECCOMP_RET_ALLOW);
	check_bits(p, flags + 1, SET_ID_BITS);
}

static void check_mknod(struct program *p, unsigned mode)
{
	load(p, ARGUMENT(mode));
	give_if(p, BPF_JSET, SET_ID_BITS, REFUSE(EPERM));
	put(p, BPF_ALU | BPF_AND | BPF_K, S_IFMT, 0, 0);
	give_if(p, BPF_JEQ, S_IFCHR, REFUSE(EPERM));
	give_if(p, BPF_JEQ, S_IFBLK, REFUSE(EPERM));
	give(p, SECCOMP_RET_ALLOW);
}

static void check_ioctl(struct program *p)
{
	load(p, ARGUMENT(1));
	give_if(p, BPF_JEQ, TIOCSTI, REFUSE(EPERM));
	give_if(p, BPF_JEQ, TIOCLINUX, REFUSE(EPERM));
	give(p, SECCOMP_RET_ALLOW);
}

static void check_personality(struct program *p)
{
	/* Plain Linux, its 32-bit name, unhashed addresses for debuggers, and the question. */
	static const uint32_t usual[] = {0, 0x8, 0x20000, 0x20008, 0x40000, 0xffffffffu};
	load(p, ARGUMENT(0));
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		give_if(p, BPF_JEQ, usual[i], SECCOMP_RET_ALLOW);
	give(p, REFUSE(EPERM));
}

static void check_own(struct program *p, unsigned argument)
{
	load(p, ARGUMENT(argument));
	give_if(p, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
	give(p, REFUSE(EPERM));
}

/* Whoever is given no time by somebody else's limit dies of it: of others, limits may be read but not set. */
static void check_prlimit(struct program *p)
{
	load(p, ARGUMENT(0));
	give_if(p, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
	load(p, ARGUMENT(2));
	put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
	load(p, ARGUMENT(2) + 4); /* a pointer: both halves */
	give_if(p, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
	give(p, REFUSE(EPERM));
}

static void allow_families(struct program *p, const uint32_t *families, size_t count)
{
	load(p, ARGUMENT(0));
	for (size_t i = 0; i < count; i++)
		give_if(p, BPF_JEQ, families[i], SECCOMP_RET_ALLOW);
}

/* Only what Landlock can hold to its ports: its hooks know plain TCP, not what is built on it. */
static void allow_transport(struct program *p, uint32_t type, uint32_t protocol)
{
	load(p, ARGUMENT(1));
	put(p, BPF_ALU | BPF_AND | BPF_K, TYPE_MASK, 0, 0);
	put(p, BPF_JMP | BPF_JEQ | BPF_K, type, 0, 5);
	load(p, ARGUMENT(2));
	give_if(p, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
	give_if(p, BPF_JEQ, protocol, SECCOMP_RET_ALLOW);
}

static void check_socket(struct program *p, enum filter_sockets sockets)
{
	static const uint32_t any[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK}, inet[] = {AF_INET, AF_INET6};
	if (sockets == SOCKETS_ANY) {
		allow_families(p, any, 4);
		give(p, REFUSE(EAFNOSUPPORT));
	} else if (sockets == SOCKETS_LOOPBACK) {
		allow_families(p, inet, 2);
		give_if(p, BPF_JEQ, AF_NETLINK, SECCOMP_RET_ALLOW); /* it shows the network of its own */
		give(p, REFUSE(EPERM));
	} else if (sockets == SOCKETS_NONE) {
		give(p, REFUSE(EPERM));
	} else {
		load(p, ARGUMENT(0));
		put(p, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 6, 0);
		put(p, BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 5, 0);
		put(p, BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 3); /* routes: resolving names asks for them */
		load(p, ARGUMENT(2));
		put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
		give(p, SECCOMP_RET_ALLOW);
		give(p, REFUSE(EPERM));
		allow_transport(p, SOCK_STREAM, IPPROTO_TCP);
		if (sockets == SOCKETS_TCP_UDP)
			allow_transport(p, SOCK_DGRAM, IPPROTO_UDP);
		give(p, REFUSE(EPERM));
	}
}

/* A datagram pair can be connected anew, to a socket outside. */
static void check_pair(struct program *p, enum filter_sockets sockets)
{
	if (sockets == SOCKETS_ANY) {
		give(p, SECCOMP_RET_ALLOW);
		return;
	}
	load(p, ARGUMENT(1));
	put(p, BPF_ALU | BPF_AND | BPF_K, TYPE_MASK, 0, 0);
	give_if(p, BPF_JEQ, SOCK_STREAM, SECCOMP_RET_ALLOW);
	give_if(p, BPF_JEQ, SOCK_SEQPACKET, SECCOMP_RET_ALLOW);
	give(p, REFUSE(EPERM));
}

/* Opening a connection by sending is not seen by Landlock. */
static void check_send(struct program *p, enum filter_sockets sockets, unsigned flags)
{
	if (sockets == SOCKETS_TCP || sockets == SOCKETS_TCP_UDP)
		check_bits(p, flags, FAST_OPEN);
	else
		give(p, SECCOMP_RET_ALLOW);
}

static void put_check(struct program *p, enum check check, struct filter_choice choice)
{
	p->blocks[check] = p->length;
	switch (check) {
	case CHECK_REFUSED: give(p, REFUSE(EPERM)); break;
	case CHECK_UNKNOWN: give(p, REFUSE(ENOSYS)); break;
	case CHECK_TRACING: give(p, choice.tracing ? SECCOMP_RET_ALLOW : REFUSE(EPERM)); break;
	case CHECK_CLONE: check_bits(p, 0, NEW_NAMESPACES); break;
	case CHECK_UNSHARE: check_bits(p, 0, NEW_NAMESPACES | NEW_TIME_NAMESPACE); break;
	case CHECK_IOCTL: check_ioctl(p); break;
	case CHECK_PERSONALITY: check_personality(p); break;
	case CHECK_PRLIMIT: check_prlimit(p); break;
	case CHECK_OWN: check_own(p, 0); break;
	case CHECK_MODE_SECOND: check_bits(p, 1, SET_ID_BITS); break;
	case CHECK_MODE_THIRD: check_bits(p, 2, SET_ID_BITS); break;
	case CHECK_OPEN: check_open(p, 1); break;
	case CHECK_OPENAT: check_open(p, 2); break;
	case CHECK_MKNOD: check_mknod(p, 1); break;
	case CHECK_MKNODAT: check_mknod(p, 2); break;
	case CHECK_SOCKET: check_socket(p, choice.sockets); break;
	case CHECK_SOCKETPAIR: check_pair(p, choice.sockets); break;
	case CHECK_SENDTO: check_send(p, choice.sockets, 3); break;
	case CHECK_SENDMSG: check_send(p, choice.sockets, 2); break;
	case CHECK_COUNT: break;
	}
}

/* Where a jump of the search leads is filled in when the checks have their places: until then it names one. */
static void aim(struct program *p, unsigned short at, uint8_t *jump, unsigned short target)
{
	if (target - at - 1 > UINT8_MAX)
		p->length = ROOM; /* too far: the program is not used */
	*jump = (uint8_t)(target - at - 1);
}

/* A search tree, since the kernel tries every number when the filter is set, and each call when it is made. */
static void put_search(struct program *p, const struct checked_calls *calls, size_t count)
{
	unsigned short at = p->length;
	if (count > 1) {
		size_t half = count / 2;
		put(p, BPF_JMP | BPF_JGE | BPF_K, calls[half].first, 0, 0);
		put_search(p, calls, half);
		aim(p, at, &p->code[at].jt, p->length);
		put_search(p, calls + half, count - half);
		return;
	}
	bool single = calls->first == calls->last;
	if (!single)
		put(p, BPF_JMP | BPF_JGT | BPF_K, calls->last, ALLOWED, ON);
	put(p, BPF_JMP | (single ? BPF_JEQ : BPF_JGE) | BPF_K, calls->first, (uint8_t)calls->check, ALLOWED);
}

static void aim_jump(struct program *p, unsigned short at, uint8_t *jump)
{
	if (*jump == ON)
		*jump = 0;
	else
		aim(p, at, jump, *jump == ALLOWED ? p->allowed : p->blocks[*jump]);
}

/* The leaves of the search: what is not between two nodes of it. */
static void aim_leaves(struct program *p, unsigned short from, unsigned short to)
{
	for (unsigned short at = from; at < to; at++) {
		uint16_t test = p->code[at].code & 0xf0;
		bool node = test == BPF_JGE && p->code[at].jf == 0;
		if (node)
			continue;
		aim_jump(p, at, &p->code[at].jt);
		aim_jump(p, at, &p->code[at].jf);
	}
}

const struct sock_fprog *seccomp_program(struct filter_choice choice)
{
	static struct sock_fprog known[SOCKETS_COUNT][2];
	struct sock_fprog *made = &known[choice.sockets][choice.tracing];
	if (made->filter)
		return made;
	if (!seccomp_works())
		return NULL;
	struct program *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	size_t count;
	const struct checked_calls *calls = checked_calls(&count);
	load(p, ARCH);
	put(p, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	give(p, SECCOMP_RET_KILL_PROCESS);
	load(p, NR);
	give_if(p, BPF_JGE, FOREIGN_FROM, REFUSE(ENOSYS));
	unsigned short from = p->length;
	put_search(p, calls, count);
	unsigned short to = p->length;
	p->allowed = p->length;
	give(p, SECCOMP_RET_ALLOW);
	for (unsigned check = 0; check < CHECK_COUNT; check++)
		put_check(p, check, choice);
	aim_leaves(p, from, to);
	made->len = p->length;
	made->filter = p->length < ROOM ? p->code : NULL;
	return made->filter ? made : NULL;
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
