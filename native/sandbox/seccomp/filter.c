#include <errno.h>
#include <linux/audit.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/seccomp/program.h"

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

#define NR offsetof(struct seccomp_data, nr)
#define ARCH offsetof(struct seccomp_data, arch)

/* From linux/seccomp.h, which is outdated on some systems. */
#define NEW_LISTENER (1u << 3)
#define WAIT_KILLABLE (1u << 5)

/* Placeholders for jump targets of the search that are not checks. */
#define ALLOWED 254u
#define NEXT 253u

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

static unsigned options_index(struct seccomp_options options)
{
	return options.tracing | options.broker << 1 | options.signals << 2 | options.own_pids << 3 |
	       options.listeners << 4;
}

const struct sock_fprog *seccomp_program(struct seccomp_options options)
{
	static struct sock_fprog programs[SOCKETS_COUNT][32];
	struct sock_fprog *program_of = &programs[options.sockets][options_index(options)];
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
	/* A conditional jump reaches 255 instructions, which is too short for the checks, so each has a long jump. */
	for (unsigned check = 0; check < CHECK_COUNT; check++) {
		p->blocks[check] = p->length;
		emit(p, BPF_JMP | BPF_JA, 0, 0, 0);
	}
	for (unsigned check = 0; check < CHECK_COUNT; check++) {
		p->code[p->blocks[check]].k = (uint32_t)(p->length - p->blocks[check] - 1);
		emit_check(p, check, options);
	}
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

int seccomp_restrict_brokered(const struct sock_fprog *program)
{
	/* Once the broker has received a call, only fatal signals interrupt it. Otherwise a restarted call would repeat
	 * what the broker has already done. */
	int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, NEW_LISTENER | WAIT_KILLABLE, program);
	if (listener < 0 && errno == EINVAL) /* Linux < 5.19 */
		listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, NEW_LISTENER, program);
	return listener;
}
