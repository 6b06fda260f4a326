#ifndef SALLYPORT_BROKER_H
#define SALLYPORT_BROKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "broker/notification.h"
#include "sandbox/spec.h"

/* The broker of one command runs in its keeper. The seccomp filter passes to it the system calls that a filter cannot
 * judge: which socket a command connects to, and whether a pid belongs to the command (invariant 7). A command that is
 * stopped in such a call waits for the answer.
 *
 * The broker connects a duplicate of the command's socket itself, to an address that it has copied. It never lets the
 * kernel execute a connect that it has checked, because another thread of the command could replace the address or the
 * descriptor after the check. The keeper is not sandboxed, so the broker also has to refuse what Landlock or a mount
 * would refuse. */
struct broker {
	int listener; /* -1 if the command has no broker */
	const struct sandbox_spec *spec;
	int64_t check_at; /* when running socket calls are checked, or NEVER */
};

/* The calls that a broker can serve. */
enum broker_calls {
	BROKER_NO_CALLS,
	BROKER_PID_CALLS, /* it cannot take sockets of a command: a container may forbid pidfd_getfd, or Yama tracing */
	BROKER_ALL_CALLS,
};

/* Returns which calls of commands of SPEC a broker can serve on this machine. The test runs once in the zygote, whose
 * keepers inherit the result. */
enum broker_calls broker_calls(const struct sandbox_spec *spec);

/* Starts to serve the calls that arrive on LISTENER, which may be -1. */
void broker_open(struct broker *broker, int listener, const struct sandbox_spec *spec);

/* Returns the descriptor to poll for POLLIN, or -1. */
int broker_poll_fd(const struct broker *broker);

/* Handles what poll has reported. */
void broker_serve(struct broker *broker, short events);

/* Handles socket calls whose command no longer waits for them. Called at `check_at`. */
void broker_check(struct broker *broker, int64_t now);

/* Closes the listener and ends all socket calls. Calls that still wait fail with ENOSYS. */
void broker_close(struct broker *broker);

/* ---- handoff.c: from the child to the keeper ---- */

/* Opens the sockets over which a child sends its listener. Must be called in the keeper before the fork. Returns 0, or
 * -1 with errno. */
int broker_handoff_open(void);

/* Closes the sockets. The zygote must do this before it forks a keeper: keepers that share them would take each other's
 * listeners, and judge a command by the rules of another one (invariant 7). */
void broker_handoff_close(void);

/* Sends LISTENER to the keeper and closes it. Returns 0, or -1 with errno. Async-signal-safe. */
int broker_handoff_send(int listener);

/* Returns the listener that a child has sent, or -1. */
int broker_handoff_receive(void);

/* ---- socket_calls.c: connect and listen, each in a thread of its own ---- */

/* Reports whether another call can be started. */
bool socket_calls_have_room(void);

void socket_calls_start(struct broker *broker, const struct notification *call);

/* Ends calls whose command no longer waits, and interrupts those whose command has a pending signal. Returns the number
 * of calls that are running. */
unsigned socket_calls_check(const struct broker *broker);

/* Ends all calls and waits for their threads. */
void socket_calls_end(void);

/* ---- pid_calls.c: calls that name a process ---- */

/* Answers CALL, which changes the priority, scheduling or limits of a process, or sends a signal. */
void pid_calls_serve(const struct broker *broker, const struct notification *call);

#endif
