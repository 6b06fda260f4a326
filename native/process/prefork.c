#include "process/launch.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker/broker.h"
#include "process/process_tree.h"
#include "sandbox/namespaces.h"

#define STACK_SIZE 65536
/* The child shares memory and descriptors with the keeper, so that it can use the request without copying. */
#define SHARE_WITH_KEEPER (CLONE_VM | CLONE_FILES)

/* Which of the two processes may run. Keeper and child share errno, so they never run at the same time. The kernel
 * writes TURN_NONE when the child calls exec or exits (CLONE_CHILD_CLEARTID). */
enum turn { TURN_NONE, TURN_CHILD, TURN_KEEPER };

static struct {
	pid_t pid; /* 0 when there is no child */
	const struct cached_sandbox *cached;
	const struct launch_context *context; /* the command to run; the child sets it to NULL when it starts */
	int listener;                         /* what the child has handed off to the broker, or -1 */
	atomic_int turn;                      /* enum turn, used as a futex */
} prefork;

static char stack[STACK_SIZE] __attribute__((aligned(16)));

static void wait_while(enum turn whose)
{
	while (atomic_load(&prefork.turn) == (int)whose)
		syscall(SYS_futex, &prefork.turn, FUTEX_WAIT, whose, NULL, NULL, 0);
}

static void pass_turn(enum turn whose)
{
	atomic_store(&prefork.turn, whose);
	syscall(SYS_futex, &prefork.turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- in the child ---- */

static int wait_for_command(void *argument)
{
	child_prepare(argument);
	pass_turn(TURN_KEEPER);
	wait_while(TURN_KEEPER);
	const struct launch_context *context = prefork.context;
	prefork.context = NULL;
	child_exec(context);
}

/* Runs the intermediate process that a pid namespace requires. It starts the child and exits. */
static int child_entry(void *argument)
{
	const struct launch_context *context = argument;
	struct pid_namespace *pid_ns = &child_report_get()->pid_ns;
	if (pid_namespace_start(pid_ns, &context->sandbox->cached->namespaces, wait_for_command, argument,
				&prefork.turn) < 0)
		child_fail("sandbox-namespace");
	_exit(0);
}

/* ---- in the keeper ---- */

static pid_t fork_child(struct launch_context *context, struct child_report *report)
{
	char *top = stack + sizeof stack;
	if (!context->sandbox->own_pid_namespace)
		return clone(wait_for_command, top, SHARE_WITH_KEEPER | CLONE_CHILD_CLEARTID | SIGCHLD, context, NULL,
			     NULL, &prefork.turn);
	if (pid_namespace_prepare() < 0)
		return -1;
	process_reap(clone(child_entry, top, SHARE_WITH_KEEPER | CLONE_VFORK | SIGCHLD, context));
	return report->pid_ns.command;
}

/* Kills a child that is still running. One that was killed while the keeper was idle has been reaped, and its pid may
 * belong to another process. */
static bool kill_child(pid_t pid)
{
	return pid > 0 && waitpid(pid, NULL, WNOHANG) == 0 && kill(pid, SIGKILL) == 0;
}

static void discard(void)
{
	pid_t first = child_report_get()->pid_ns.init;
	if (kill_child(prefork.pid))
		process_reap(prefork.pid);
	if (kill_child(first) && !ns_init_pids_add(first))
		process_reap(first);
	prefork.pid = 0;
	if (prefork.listener >= 0)
		close(prefork.listener);
	prefork.listener = -1;
}

/* Reports whether a child may be preforked for SANDBOX. A child that runs as another user may not: it shares the
 * keeper's memory, and kernel settings determine whether that user could read it. */
static bool can_wait(const struct sandbox *sandbox)
{
#ifdef KEEPER_NO_PREFORK /* for memory checkers, which do not support children that share memory */
	(void)sandbox;
	return false;
#else
	return !sandbox->spec->has_user && child_can_unshare_descriptors();
#endif
}

void prefork_prepare(const struct sandbox *sandbox)
{
	static const struct cached_sandbox *last;
	bool again = sandbox->cached && sandbox->cached == last && sandbox->cached->reused;
	struct child_report *report = child_report_get();
	last = sandbox->cached;
	if (!again || !report || !can_wait(sandbox))
		return;
	/* The last command failed before it used the child, so the child is still waiting. A second one would compete
	 * with it for the next command. */
	if (prefork.pid && prefork.cached == sandbox->cached && prefork.turn == TURN_KEEPER)
		return;
	if (prefork.pid)
		discard();
	if (sandbox->brokered && broker_handoff_open() < 0)
		return;
	struct launch_context context = {.sandbox = sandbox, .keeper = getpid()};
	child_report_clear(report);
	prefork.turn = TURN_CHILD;
	prefork.listener = -1;
	prefork.cached = sandbox->cached;
	prefork.pid = fork_child(&context, report);
	if (prefork.pid > 0)
		wait_while(TURN_CHILD);
	prefork.listener = broker_handoff_receive();
	/* If preparing the child failed, the next launch will report the error. */
	if (prefork.pid <= 0 || prefork.turn != TURN_KEEPER)
		discard();
}

pid_t prefork_launch(struct launch_context *context)
{
	if (!prefork.pid)
		return 0;
	/* A command with a cgroup is forked into it, which is faster than moving the child there. */
	bool fits = context->sandbox->cached == prefork.cached && can_wait(context->sandbox) &&
		    context->limits->cgroup.count == 0;
	if (!fits || prefork.turn != TURN_KEEPER) {
		discard();
		return 0;
	}
	pid_t pid = prefork.pid;
	prefork.context = context;
	pass_turn(TURN_CHILD);
	wait_while(TURN_CHILD);
	if (prefork.context) { /* the child was killed before it started */
		discard();
		return 0;
	}
	context->listener = prefork.listener;
	prefork.listener = -1;
	prefork.pid = 0;
	return pid;
}

void prefork_discard(const struct cached_sandbox *cached)
{
	if (prefork.pid && prefork.cached == cached)
		discard();
}
