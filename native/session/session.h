#ifndef SALLYPORT_SESSION_H
#define SALLYPORT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "cgroup/guard.h"
#include "io/capture.h"
#include "io/feed.h"
#include "io/pty.h"
#include "ipc/channel.h"
#include "ipc/request.h"
#include "sandbox/sandbox.h"
#include "session/record.h"

#define SESSION_CLIENTS 64 /* every open gateway holds one on every running session */

/* One command from its request to its last descendant. A keeper has one at a time. */
struct session {
	char id[72];
	uint32_t flags;
	int64_t grace_us;
	int dirfd;
	int listener;             /* sessions/<id>/ctl: where any gateway reaches this command */
	int reserved;             /* the exit record's room */
	struct channel *origin;   /* the connection that brought the request */
	struct channel clients[SESSION_CLIENTS];
	unsigned clients_used;    /* those from here on were never open: every key passes by */
	struct terminal terminal;
	struct capture capture;
	struct feed feed;
	struct record record;
	struct guard guard;
	struct sandbox sandbox;
	struct isolation *isolation; /* its pid namespace; NULL: it has none of its own, or that is gone */
	bool main_alive, has_children, announced, reported;
	int64_t announce_at, deadline_at, kill_at, stop_waiting_at, next_sweep_at;
	int64_t leftover_term_at;
	int64_t grew_at;          /* when watchers may be told again; NEVER: nothing new */
	int64_t grew_last;
	uint64_t grew_bytes;
	unsigned reply_at_once;   /* so many that follow are not kept back */
	bool eager;               /* somebody typed: what comes next is told at once, with its bytes */
	bool answers_key;         /* that has come */
	int64_t reply_at;         /* when answers to keys go out that were kept back for what those keys bring */
};

/* The folder the zygote serves, and its signal descriptor. */
struct house {
	int sessions_fd;
	const struct cgroup_host *cgroups;
	int signals;              /* SIGCHLD, SIGTERM, SIGHUP (the zygote is gone) */
	int *door;                /* the shared listening socket; closed when the zygote is gone */
};

/* Runs REQUEST to its end, whatever happens to the connection that brought it. */
void session_run(struct session *session, struct house *house, struct channel *origin, struct request *request);

/* ending.c: how a command and its tree come to their end. */

/* Ends the tree: SIGNAL now, SIGKILL after GRACE_US (negative: never). */
void session_end_tree(struct session *session, int signal, int64_t grace_us);

/* Ends the tree because of the limit that the record names. */
void session_over_limit(struct session *session);

/* Waits for every child that has ended and adds up what they used. */
void session_reap(struct session *session);

void session_fire_timers(struct session *session, int64_t now);
int64_t session_next_timer(const struct session *session);

/* Reports the end when it has come. True when there is nothing left to wait for. */
bool session_settle(struct session *session, int64_t now);

/* news.c: what gateways are told. */

/* Sends TEXT to every connection of this session. */
void session_tell(struct session *session, const char *text, size_t length);
void session_announce(struct session *session);

/* Writes the exit record, then tells everybody. */
void session_report(struct session *session);

/* Keeps the answer to a key back for the output it brings, but not for long, and only as long as keys bring some. Of a
 * CHANNEL that watches. */
void session_keep_reply(struct session *session, struct channel *channel, const char *text, size_t length);

/* Sends what was kept back in vain. */
void session_release_replies(struct session *session);

/* Watchers hear of output, and the timeline is written, a little later and for many pieces at once; at once what comes
 * for a key. */
void session_note_growth(struct session *session, int64_t now);
void session_tell_growth(struct session *session, int64_t now);

/* control.c: what gateways say. */

/* What has arrived on CHANNEL after the request: signals, input, deadlines. */
void control_serve(struct session *session, struct channel *channel);

/* Introduces the keeper to a new connection. */
void control_greet(struct channel *channel, const char *id);

#endif
