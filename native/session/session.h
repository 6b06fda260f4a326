#ifndef SALLYPORT_SESSION_H
#define SALLYPORT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "cgroup/limit_monitor.h"
#include "io/capture.h"
#include "io/pty.h"
#include "io/stdin_pump.h"
#include "ipc/channel.h"
#include "ipc/request.h"
#include "sandbox/sandbox.h"
#include "session/exit_record.h"

#define SESSION_CLIENTS 64 /* every open gateway has one per running session */

/* One command, from its request to the end of its last descendant. A keeper has one at a time. */
struct session {
	char id[72];
	uint32_t flags;
	int64_t grace_us;
	int dirfd;
	int listener;           /* sessions/<id>/ctl: any gateway can connect here */
	int reserved;           /* descriptor of the reserved exit record */
	struct channel *origin; /* the connection that sent the request */
	struct channel clients[SESSION_CLIENTS];
	unsigned clients_used; /* later entries were never open and are skipped */
	struct terminal terminal;
	struct capture capture;
	struct stdin_pump stdin_pump;
	struct exit_record record;
	struct limit_monitor limits;
	struct sandbox sandbox;
	struct pid_namespace *pid_ns; /* NULL: none, or it has ended */
	bool main_alive, has_children, announced, reported;
	int64_t announce_at, deadline_at, kill_at, give_up_at, next_kill_pass_at;
	int64_t leftover_term_at;
	int64_t output_event_at; /* when watchers may be notified; NEVER: no new output */
	int64_t last_output_event_at;
	uint64_t output_bytes_seen;
	unsigned immediate_replies; /* replies that will not be deferred */
	bool expects_echo;          /* after input to a terminal: the next output is sent at once, with its bytes */
	bool echo_pending;          /* that output has arrived */
	int64_t reply_at;           /* when deferred replies are sent without an echo */
};

/* What a keeper passes to its sessions. */
struct keeper_env {
	int sessions_fd;
	const struct cgroup_host *cgroups;
	int signals;   /* SIGCHLD, SIGTERM, SIGHUP (the zygote has exited) */
	int *listener; /* shared with the other keepers; closed when the zygote has exited */
};

/* Runs REQUEST to its end, whether or not the connection lasts. */
void session_run(struct session *session, struct keeper_env *env, struct channel *origin, struct request *request);

/* ---- shutdown.c: ending a command and its process tree ---- */

/* Sends SIGNAL to the tree now and SIGKILL after GRACE_US (negative: never). */
void session_terminate_tree(struct session *session, int signal, int64_t grace_us);

/* Waits for all exited children and adds up their usage. */
void session_reap(struct session *session);

void session_fire_timers(struct session *session, int64_t now);
int64_t session_next_timer(const struct session *session);

/* Reports the exit once the command has ended. True: nothing is left to wait for. */
bool session_try_finish(struct session *session, int64_t now);

/* ---- events.c: messages to gateways ---- */

void session_send_started(struct session *session);

/* Writes the exit record, then notifies all connections. */
void session_report_exit(struct session *session);

/* Defers the reply to a key press until its echo arrives, for a short time, and only while key presses cause output.
 * CHANNEL must be a watcher. */
void session_defer_reply(struct session *session, struct channel *channel, const char *text, size_t length);

/* Sends replies that waited in vain. */
void session_flush_replies(struct session *session);

/* Watchers are notified and the timeline is written after a short delay, for many reads at once; without delay for an
 * echo. */
void session_note_output(struct session *session, int64_t now);
void session_send_output_event(struct session *session, int64_t now);

/* ---- control.c: frames from gateways ---- */

/* Handles the frames that have arrived on CHANNEL after the request: signals, input, deadlines. */
void control_serve(struct session *session, struct channel *channel);

/* Sends the keeper's first message on a new connection. */
void control_send_hello(struct channel *channel, const char *id);

#endif
