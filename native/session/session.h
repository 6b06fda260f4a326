#ifndef SALLYPORT_SESSION_H
#define SALLYPORT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/broker.h"
#include "cgroup/limit_monitor.h"
#include "io/capture.h"
#include "io/pty.h"
#include "io/stdin_pump.h"
#include "ipc/channel.h"
#include "ipc/request.h"
#include "sandbox/sandbox.h"
#include "session/exit_record.h"

#define SESSION_CLIENTS 64 /* each open gateway has one connection per running session */

/* One command, from its request until its last descendant has exited. A keeper has one session at a time. */
struct session {
	char id[72];
	const char *label; /* from the request; see exit_record_write */
	uint32_t flags;
	int64_t grace_us;
	int dirfd;
	int listener;           /* socket sessions/<id>/ctl, to which any gateway can connect */
	int sessions_fd;        /* the directory with the directories of all sessions */
	int reserved;           /* file reserved for the exit record */
	struct channel *origin; /* the connection that sent the request */
	struct channel clients[SESSION_CLIENTS];
	unsigned clients_used; /* number of leading entries that have ever been open */
	struct terminal terminal;
	struct capture capture;
	struct stdin_pump stdin_pump;
	struct exit_record record;
	struct limit_monitor limits;
	struct sandbox sandbox;
	struct broker broker;
	struct pid_namespace *pid_ns; /* NULL if the command has no pid namespace, or it has ended */
	bool main_alive, has_children, announced, reported;
	int64_t announce_at, deadline_at, kill_at, give_up_at, next_kill_pass_at;
	int64_t leftover_term_at;
	int64_t input_check_at; /* when to check for a program that can never get the input that it waits for */
	int64_t input_check_interval;
	pid_t starved; /* the program that the last check found */
	int64_t output_event_at; /* when watchers are notified of new output, or NEVER */
	int64_t last_output_event_at;
	uint64_t output_bytes_seen;
	unsigned immediate_replies; /* number of replies that will not be deferred */
	bool expects_echo;          /* after terminal input: the next output is sent at once, with its bytes */
	bool echo_pending;          /* the expected output has arrived */
	int64_t reply_at;           /* when deferred replies are sent even without an echo */
};

/* The resources of a keeper that its sessions use. */
struct keeper_env {
	int sessions_fd;
	struct cgroup_host *cgroups;
	int signals;   /* signalfd for SIGCHLD, SIGTERM and SIGHUP (the zygote has exited) */
	int *listener; /* shared with the other keepers; closed and set to -1 when the zygote has exited */
};

/* Runs the command of REQUEST until it has ended, even if the connection is closed. */
void session_run(struct session *session, struct keeper_env *env, struct channel *origin, struct request *request);

/* ---- shutdown.c: ending a command and its process tree ---- */

/* Sends SIGNAL to the tree now, and SIGKILL after GRACE_US. A negative GRACE_US disables SIGKILL. */
void session_terminate_tree(struct session *session, int signal, int64_t grace_us);

/* Reaps all exited children and adds their resource usage to the record. */
void session_reap(struct session *session);

/* Kills the tree at once. REASON is why the main process ends, if it is still running. */
void session_kill_now(struct session *session, enum end_reason reason);

/* Returns the process of the command that waits for input, if any. */
struct input_wait session_input_wait(const struct session *session);

void session_fire_timers(struct session *session, int64_t now);
int64_t session_next_timer(const struct session *session);

/* Reports the exit if the command has ended. Returns true when no process is left to wait for. */
bool session_try_finish(struct session *session, int64_t now);

/* ---- masks.c: masks that break while the command runs ---- */

/* Records masks that have broken since the last call, and kills the command unless its specification says otherwise. */
void session_check_masks(struct session *session);

/* Records protected paths that were created while the command ran. */
void session_find_created_paths(struct session *session);

/* ---- events.c: messages to gateways ---- */

void session_send_started(struct session *session);

/* Writes the exit record, then notifies all connections. */
void session_report_exit(struct session *session);

/* Defers the reply to a key press for a short time until its echo arrives. Replies are sent at once while key presses
 * cause no output. CHANNEL must be a watcher. */
void session_defer_reply(struct session *session, struct channel *channel, const char *text, size_t length);

/* Sends deferred replies for which no echo has arrived in time. */
void session_flush_replies(struct session *session);

/* Schedules the event for new output. Watchers are notified and the timeline is written after a short delay, which
 * combines many reads, but without delay for an echo. */
void session_note_output(struct session *session, int64_t now);
void session_send_output_event(struct session *session, int64_t now);

/* ---- control.c: frames from gateways ---- */

/* Handles frames that have arrived on CHANNEL after the request, such as signals, input and deadlines. */
void control_serve(struct session *session, struct channel *channel);

/* Sends the keeper's first message on a new connection. */
void control_send_hello(struct channel *channel, const char *id);

#endif
