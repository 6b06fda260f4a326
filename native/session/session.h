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

#define SESSION_CLIENTS 64 /* every open gateway holds one on every running session */

/* One command from its request to its last descendant. A keeper has one at a time. */
struct session {
	char id[72];
	uint32_t flags;
	int64_t grace_us;
	int dirfd;
	int listener;           /* sessions/<id>/ctl: where any gateway reaches this command */
	int reserved;           /* the exit record's room */
	struct channel *origin; /* the connection that brought the request */
	struct channel clients[SESSION_CLIENTS];
	unsigned clients_used; /* those from here on were never open: every key passes by */
	struct terminal terminal;
	struct capture capture;
	struct stdin_pump stdin_pump;
	struct exit_record record;
	struct limit_monitor limits;
	struct sandbox sandbox;
	struct pid_namespace *pid_ns; /* its pid namespace; NULL: it has none of its own, or that is gone */
	bool main_alive, has_children, announced, reported;
	int64_t announce_at, deadline_at, kill_at, give_up_at, next_kill_pass_at;
	int64_t leftover_term_at;
	int64_t output_event_at; /* when watchers may be told again; NEVER: nothing new */
	int64_t last_output_event_at;
	uint64_t output_bytes_seen;
	unsigned immediate_replies; /* so many that follow are not kept back */
	bool expects_echo;          /* somebody typed: what comes next is told at once, with its bytes */
	bool echo_pending;          /* that has come */
	int64_t reply_at;           /* when answers to keys go out that were kept back for what those keys bring */
};

/* The folder the zygote serves, and its signal descriptor. */
struct keeper_env {
	int sessions_fd;
	const struct cgroup_host *cgroups;
	int signals;   /* SIGCHLD, SIGTERM, SIGHUP (the zygote is gone) */
	int *listener; /* the shared listening socket; closed when the zygote is gone */
};

/* Runs REQUEST to its end, whatever happens to the connection that brought it. */
void session_run(struct session *session, struct keeper_env *env, struct channel *origin, struct request *request);

/* shutdown.c: how a command and its tree come to their end. */

/* Ends the tree: SIGNAL now, SIGKILL after GRACE_US (negative: never). */
void session_terminate_tree(struct session *session, int signal, int64_t grace_us);

/* Waits for every child that has ended and adds up what they used. */
void session_reap(struct session *session);

void session_fire_timers(struct session *session, int64_t now);
int64_t session_next_timer(const struct session *session);

/* Reports the end when it has come. True when there is nothing left to wait for. */
bool session_try_finish(struct session *session, int64_t now);

/* events.c: what gateways are told. */

void session_send_started(struct session *session);

/* Writes the exit record, then tells everybody. */
void session_report_exit(struct session *session);

/* Keeps the answer to a key back for the output it brings, but not for long, and only as long as keys bring some. Of a
 * CHANNEL that watches. */
void session_defer_reply(struct session *session, struct channel *channel, const char *text, size_t length);

/* Sends what was kept back in vain. */
void session_flush_replies(struct session *session);

/* Watchers hear of output, and the timeline is written, a little later and for many pieces at once; at once what comes
 * for a key. */
void session_note_output(struct session *session, int64_t now);
void session_send_output_event(struct session *session, int64_t now);

/* control.c: what gateways say. */

/* What has arrived on CHANNEL after the request: signals, input, deadlines. */
void control_serve(struct session *session, struct channel *channel);

/* Introduces the keeper to a new connection. */
void control_send_hello(struct channel *channel, const char *id);

#endif
