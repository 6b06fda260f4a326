#include "process/ahead.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/aside.h"

#define STACK 65536
/* Memory and descriptors are the keeper's own: what the request will bring is there for the child as well. */
#define SHARED (CLONE_VM | CLONE_FILES)

/* Whose turn it is. Keeper and child never run at the same time: they share errno. GONE is written by the kernel when
 * the child has become another program or has ended. */
enum turn { GONE, CHILDS, KEEPERS };

static struct {
	pid_t pid; /* 0: there is none */
	const struct kit *kit;
	const struct start *start; /* NULL: none, or the child has taken it up */
	int turn;
} ahead;

static char stack[STACK] __attribute__((aligned(16)));

static int turn(void)
{
	return __atomic_load_n(&ahead.turn, __ATOMIC_SEQ_CST);
}

static void wait_out(enum turn whose)
{
	while (turn() == (int)whose)
		syscall(SYS_futex, &ahead.turn, FUTEX_WAIT, whose, NULL, NULL, 0);
}

static void give_turn(enum turn whose)
{
	__atomic_store_n(&ahead.turn, whose, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &ahead.turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void reap(pid_t pid)
{
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* ---- in the child ---- */

static int wait_for_command(void *context)
{
	child_get_ready(context);
	give_turn(KEEPERS);
	wait_out(KEEPERS);
	const struct start *start = ahead.start;
	ahead.start = NULL;
	child_go(start);
}

/* As for every command with a pid namespace, there is one in between, which goes at once. */
static int begin_isolated(void *context)
{
	const struct start *start = context;
	struct isolation *isolation = &child_report()->isolation;
	if (isolation_start(isolation, &start->sandbox->kit->namespaces, wait_for_command, context, &ahead.turn) < 0)
		child_give_up("sandbox-namespace");
	_exit(0);
}

/* ---- in the keeper ---- */

static pid_t fork_off(struct start *start, struct report *report)
{
	char *top = stack + sizeof stack;
	if (!start->sandbox->own_processes)
		return clone(wait_for_command, top, SHARED | CLONE_CHILD_CLEARTID | SIGCHLD, start, NULL, NULL, &ahead.turn);
	if (isolation_prepare() < 0)
		return -1;
	reap(clone(begin_isolated, top, SHARED | CLONE_VFORK | SIGCHLD, start));
	return report->isolation.command;
}

/* It may have been ended by others while the keeper was idle: then its number is not its own any more. */
static bool end_child(pid_t pid)
{
	return pid > 0 && waitpid(pid, NULL, WNOHANG) == 0 && kill(pid, SIGKILL) == 0;
}

static void end(void)
{
	pid_t first = child_report()->isolation.first;
	if (end_child(ahead.pid))
		reap(ahead.pid);
	if (end_child(first) && !aside_put(first))
		reap(first);
	ahead.pid = 0;
}

/* What a user of its own may see of a process that shares the keeper's memory is for the kernel's settings to say: none
 * of those is left waiting. */
static bool can_wait(const struct sandbox *sandbox)
{
#ifdef KEEPER_NOTHING_AHEAD /* for tools that watch the memory of processes, and know no such children */
	(void)sandbox;
	return false;
#else
	return !sandbox->spec->has_user;
#endif
}

void ahead_prepare(const struct sandbox *sandbox)
{
	static const struct kit *last;
	bool again = sandbox->kit && sandbox->kit == last && sandbox->kit->reused;
	struct report *report = child_report();
	last = sandbox->kit;
	if (!again || !report || !can_wait(sandbox))
		return;
	/* The last command failed before it came to that: its child waits still, and two would both take the next one. */
	if (ahead.pid && ahead.kit == sandbox->kit && turn() == KEEPERS)
		return;
	if (ahead.pid)
		end();
	struct start start = {.sandbox = sandbox, .keeper = getpid()};
	*report = (struct report){0};
	ahead.turn = CHILDS;
	ahead.kit = sandbox->kit;
	ahead.pid = fork_off(&start, report);
	if (ahead.pid > 0)
		wait_out(CHILDS);
	/* Why it cannot be had will be said when it is asked for. */
	if (ahead.pid <= 0 || turn() != KEEPERS)
		end();
}

pid_t ahead_go(const struct start *start)
{
	if (!ahead.pid)
		return 0;
	/* Joining a group takes longer than being born in it. */
	bool fits = start->sandbox->kit == ahead.kit && can_wait(start->sandbox) && start->guard->cgroup.count == 0;
	if (!fits || turn() != KEEPERS) {
		end();
		return 0;
	}
	pid_t pid = ahead.pid;
	ahead.start = start;
	give_turn(CHILDS);
	wait_out(CHILDS);
	if (ahead.start) { /* ended by others before it had begun */
		end();
		return 0;
	}
	ahead.pid = 0;
	return pid;
}

void ahead_forget(const struct kit *kit)
{
	if (ahead.pid && ahead.kit == kit)
		end();
}
