#include "process/keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/listener.h"
#include "ipc/request.h"
#include "log.h"
#include "process/launch.h"
#include "process/title.h"
#include "sandbox/namespaces.h"
#include "sandbox/sandbox_cache.h"
#include "session/session.h"

/* The current session; a keeper has one at a time. The pages are not touched, and so not allocated, while it is idle.
 * */
static struct session session;

/* Blocks or unblocks the signals that a session reads from its signalfd. SIGHUP means that the zygote has exited. The
 * signal kills an idle keeper, while a busy one first finishes its command. The kernel reaps the children of an idle
 * keeper. */
static void mask_signals(int how)
{
	sigset_t set;
	signal(SIGCHLD, how == SIG_BLOCK ? SIG_DFL : SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(how, &set, NULL);
	if (how == SIG_UNBLOCK)
		ns_init_pids_reap(); /* reap inits that exited before SIGCHLD was ignored */
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

static bool is_idle(const struct channel *channel)
{
	struct pollfd peer = {.fd = channel->fd, .events = POLLIN};
	return channel->fd >= 0 && channel->in_used == 0 && poll(&peer, 1, 0) == 0;
}

static void serve_run(struct keeper_env *env, struct channel *channel, struct frame *frame)
{
	struct request request;
	/* The strings of the request point into the frame, which must stay allocated until the command has ended. */
	char *buffer = channel_detach_frame(channel, frame);
	if (!buffer)
		return;
	mask_signals(SIG_BLOCK);
	const char *error = request_parse(&request, frame->payload, frame->length);
	if (error) {
		log_warn("keeper", "rejected a request: %s", error);
		channel_print(channel, "{\"ev\":\"refused\",\"why\":\"%s\"}\n", error);
	} else {
		session_run(&session, env, channel, &request);
	}
	title_set("idle");
	if (!error && is_idle(channel))
		prefork_prepare(&session.sandbox);
	request_free(&request);
	free(buffer);
	mask_signals(SIG_UNBLOCK);
}

/* Serves one connection until it is closed. The keeper runs its commands one after another, because forking a keeper
 * for each command would cost more than most commands do. */
static void serve_connection(struct keeper_env *env, struct channel *channel)
{
	struct frame frame;
	control_send_hello(channel, "");
	while (channel->fd >= 0 && *env->listener >= 0) {
		if (!channel_peek_frame(channel, &frame)) {
			/* Messages of the last command may still be queued for a peer that reads slowly. */
			short events = (short)(POLLIN | (channel->out_used ? POLLOUT : 0));
			struct pollfd peer = {.fd = channel->fd, .events = events};
			poll(&peer, 1, -1);
			channel_flush(channel);
			if (peer.revents & ~POLLOUT)
				channel_read(channel);
			continue;
		}
		if (frame.type == FRAME_RUN) {
			serve_run(env, channel, &frame);
			continue;
		}
		channel_print(channel, "{\"ev\":\"re\",\"ok\":false,\"why\":\"ended\"}\n");
		if (channel->fd >= 0)
			channel_pop_frame(channel, &frame);
	}
	channel_close(channel);
	mask_signals(SIG_BLOCK);
	sandbox_cache_clear();
	mask_signals(SIG_UNBLOCK);
}

void keeper_main(struct keeper_pool *pool, struct keeper_slot *slot, int listener, int sessions_fd, int wake_fd,
		 pid_t zygote, struct cgroup_host *cgroups)
{
	struct keeper_env env = {
		.sessions_fd = sessions_fd, .cgroups = cgroups, .signals = open_signals(), .listener = &listener};
	struct channel channel;

	log_adopt();
	if (env.signals < 0)
		log_error("keeper", "cannot start: signalfd: %s", strerror(errno));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGHUP);
	if (getppid() != zygote || env.signals < 0)
		_exit(1);
	title_set("idle");
	for (;;) {
		int fd = listener_accept(listener);
		if (fd < 0) {
			if (errno != EINTR && errno != EACCES) {
				log_warn("keeper", "cannot accept a connection: %s", strerror(errno));
				usleep(2000);
			}
			continue;
		}
		atomic_store(&slot->state, KEEPER_BUSY);
		if (keeper_pool_count(pool, KEEPER_IDLE) < MIN_IDLE_KEEPERS)
			(void)!write(wake_fd, "", 1);
		channel_open(&channel, fd);
		serve_connection(&env, &channel);
		if (listener < 0 || keeper_pool_count(pool, KEEPER_IDLE) >= MAX_IDLE_KEEPERS)
			_exit(0);
		atomic_store(&slot->state, KEEPER_IDLE);
	}
}
