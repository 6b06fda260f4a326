#include "broker/broker.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

/* How often running socket calls are checked for signals. Most calls end before the first check. */
#define CHECK_INTERVAL_US 20000
/* How soon the broker looks for a free thread when all of them are used. */
#define FULL_INTERVAL_US 2000
#define MAX_CALLS_PER_ROUND 32

void broker_open(struct broker *broker, int listener, const struct sandbox_spec *spec)
{
	*broker = (struct broker){listener, spec, NEVER};
}

int broker_poll_fd(const struct broker *broker)
{
	return broker->listener >= 0 && socket_calls_have_room() ? broker->listener : -1;
}

static bool is_call_waiting(const struct broker *broker)
{
	struct pollfd listener = {.fd = broker->listener, .events = POLLIN};
	return poll(&listener, 1, 0) == 1 && (listener.revents & POLLIN);
}

static void serve_one(struct broker *broker)
{
	struct notification call;
	if (notification_receive(broker->listener, &call) < 0)
		return; /* the caller was interrupted */
	switch (call.data.nr) {
	case SYS_connect:
	case SYS_listen: socket_calls_start(broker, &call); break;
	default: pid_calls_serve(broker, &call); break;
	}
}

void broker_serve(struct broker *broker, short events)
{
	if (!(events & POLLIN)) { /* POLLHUP: no process uses the filter any longer */
		broker_close(broker);
		return;
	}
	for (unsigned i = 0; i < MAX_CALLS_PER_ROUND && socket_calls_have_room() && is_call_waiting(broker); i++)
		serve_one(broker);
	if (broker->check_at == NEVER)
		broker->check_at = monotonic_us() + (socket_calls_have_room() ? CHECK_INTERVAL_US : FULL_INTERVAL_US);
}

void broker_check(struct broker *broker, int64_t now)
{
	unsigned running = socket_calls_check(broker);
	int64_t interval = socket_calls_have_room() ? CHECK_INTERVAL_US : FULL_INTERVAL_US;
	broker->check_at = running == 0 ? NEVER : now + interval;
}

void broker_close(struct broker *broker)
{
	if (broker->listener < 0)
		return;
	socket_calls_end(); /* the threads use the listener */
	close(broker->listener);
	broker->listener = -1;
	broker->check_at = NEVER;
}
