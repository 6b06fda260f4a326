#include "process/keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/door.h"
#include "ipc/request.h"
#include "process/ahead.h"
#include "process/aside.h"
#include "process/title.h"
#include "sandbox/kit.h"
#include "session/session.h"

/* One at a time, so one place for it: idle keepers never touch these pages. */
static struct session session;

/* SIGHUP says that the zygote is gone. An idle keeper simply dies of it; a busy one takes note and finishes first.
 * Children that end while it idles are of no interest: the kernel does not keep them. */
static void hold_signals(int how)
{
	sigset_t set;
	signal(SIGCHLD, how == SIG_BLOCK ? SIG_DFL : SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(how, &set, NULL);
	if (how == SIG_UNBLOCK)
		aside_review(); /* who ended before that */
}

static int open_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool is_quiet(const struct channel *channel)
{
	struct pollfd peer = {.fd = channel->fd, .events = POLLIN};
	return channel->fd >= 0 && channel->in_used == 0 && poll(&peer, 1, 0) == 0;
}

static void serve_run(struct house *house, struct channel *channel, struct frame *frame)
{
	struct request request;
	/* The frame's bytes are the request's texts: they stay until the command has ended. */
	char *whole = channel_take(channel, frame);
	if (!whole)
		return;
	hold_signals(SIG_BLOCK);
	const char *wrong = request_parse(&request, frame->payload, frame->length);
	if (wrong)
		channel_print(channel, "{\"ev\":\"refused\",\"why\":\"%s\"}\n", wrong);
	else
		session_run(&session, house, channel, &request);
	title_set("idle");
	if (!wrong && is_quiet(channel))
		ahead_prepare(&session.sandbox);
	request_free(&request);
	free(whole);
	hold_signals(SIG_UNBLOCK);
}

/* Serves one connection until it is closed. Commands come one after the other: starting a keeper for each would cost
 * more than most commands do, and a keeper that has seen its last descendant end is as good as new. */
static void serve_connection(struct house *house, struct channel *channel)
{
	struct frame frame;
	control_greet(channel, "");
	while (channel->fd >= 0 && *house->door >= 0) {
		if (!channel_frame(channel, &frame)) {
			/* A peer that did not read may still be owed the end of its last command. */
			short events = (short)(POLLIN | (channel->out_used ? POLLOUT : 0));
			struct pollfd peer = {.fd = channel->fd, .events = events};
			poll(&peer, 1, -1);
			channel_flush(channel);
			if (peer.revents & ~POLLOUT)
				channel_read(channel);
			continue;
		}
		if (frame.type == FRAME_RUN) {
			serve_run(house, channel, &frame);
			continue;
		}
		channel_print(channel, "{\"ev\":\"re\",\"ok\":false,\"why\":\"ended\"}\n");
		if (channel->fd >= 0)
			channel_done(channel, &frame);
	}
	channel_close(channel);
	hold_signals(SIG_BLOCK);
	kits_forget();
	hold_signals(SIG_UNBLOCK);
}

void keeper_live(struct pool *pool, struct keeper_slot *slot, int door, int sessions_fd, int bell, pid_t zygote,
		 const struct cgroup_host *cgroups)
{
	struct house house = {.sessions_fd = sessions_fd, .cgroups = cgroups, .signals = open_signals(), .door = &door};
	struct channel channel;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGHUP);
	if (getppid() != zygote || house.signals < 0)
		_exit(1);
	title_set("idle");
	for (;;) {
		int fd = door_accept(door);
		if (fd < 0) {
			if (errno != EINTR && errno != EACCES)
				usleep(2000);
			continue;
		}
		slot->state = KEEPER_BUSY;
		if (__atomic_sub_fetch(&pool->idle, 1, __ATOMIC_SEQ_CST) < KEEPERS_AHEAD)
			(void)!write(bell, "", 1);
		channel_open(&channel, fd);
		serve_connection(&house, &channel);
		if (door < 0 || pool->idle >= KEEPERS_IDLE_MOST)
			_exit(0);
		slot->state = KEEPER_IDLE;
		__atomic_add_fetch(&pool->idle, 1, __ATOMIC_SEQ_CST);
	}
}
