#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "broker/broker.h"
#include "broker/target.h"
#include "broker/unix_address.h"

/* Every call has its own thread, because connect can block for minutes, even on a socket that was non-blocking when it
 * was checked, and the keeper must enforce deadlines in the meantime. */
#define MAX_CALLS 64
#define STACK_SIZE (64 << 10)
#define INTERRUPT SIGUSR1
#define END_PAUSE_NS 200000
#define LOST_RESULTS 16
/* Number of checks after which a signal that may be meant for another thread interrupts a call. */
#define PATIENCE 5

struct socket_call {
	atomic_bool running;
	atomic_int thread; /* 0 until it has started */
	int listener;
	const struct sandbox_spec *spec;
	struct notification call;
	unsigned checks_with_signal;
};

static struct socket_call calls[MAX_CALLS];
static atomic_bool ending;

/* Results that could not be delivered because a signal had interrupted the caller. The kernel may restart the call, and
 * a second connect of the same socket would fail. */
static struct lost_result {
	pid_t tid;
	ino_t socket;
	int error;
} lost[LOST_RESULTS];
static unsigned next_lost;
static pthread_mutex_t lost_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep_lost_result(pid_t tid, ino_t socket, int error)
{
	pthread_mutex_lock(&lost_lock);
	lost[next_lost++ % LOST_RESULTS] = (struct lost_result){tid, socket, error};
	pthread_mutex_unlock(&lost_lock);
}

/* Removes the lost result of TID. Returns whether it was for SOCKET, and stores it in ERROR. */
static bool take_lost_result(pid_t tid, ino_t socket, int *error)
{
	bool found = false;
	pthread_mutex_lock(&lost_lock);
	for (unsigned i = 0; i < LOST_RESULTS; i++) {
		if (lost[i].tid != tid)
			continue;
		found = lost[i].socket == socket;
		*error = lost[i].error;
		lost[i].tid = 0;
	}
	pthread_mutex_unlock(&lost_lock);
	return found;
}

/* Returns the errno of the last call, or 0. */
static int error_of(int result)
{
	return result < 0 ? errno : 0;
}

/* Netlink checks the privileges of the process that connects, which here is the keeper. */
static int check_netlink(const struct sockaddr_storage *address, socklen_t length)
{
	static const char unset[10];
	const size_t from = sizeof(sa_family_t); /* padding, port ID and groups */
	return length >= from + sizeof unset && memcmp((const char *)address + from, unset, sizeof unset) == 0 ? 0
													       : EPERM;
}

/* Connects SOCKET for the caller of CALL. Returns 0 or an errno. */
static int connect_socket(const struct socket_call *call, int socket, int domain)
{
	const struct seccomp_data *data = &call->call.data;
	struct target target = {call->listener, call->call.id, (pid_t)call->call.pid};
	struct sockaddr_storage address = {0};
	int length = (int)data->args[2];
	if (length < 0 || (size_t)length > sizeof address)
		return EINVAL;
	int error = target_read(&target, data->args[1], &address, (size_t)length);
	if (error)
		return error;
	switch (domain) {
	case AF_UNIX: return unix_connect(call->spec, &target, socket, (struct sockaddr_un *)&address, (socklen_t)length);
	case AF_NETLINK: error = check_netlink(&address, (socklen_t)length); break;
	case AF_INET:
	case AF_INET6: break;
	default: error = EPERM;
	}
	return error ? error : error_of(connect(socket, (struct sockaddr *)&address, (socklen_t)length));
}

static bool is_listed(const struct sandbox_spec *spec, uint16_t port)
{
	for (size_t i = 0; i < spec->port_count; i++)
		if (sandbox_spec_port(spec, i) == port)
			return true;
	return false;
}

/* Listens on SOCKET if it is bound to a listed port. The kernel binds an unbound one to a port of its choice. */
static int listen_on_socket(const struct socket_call *call, int socket)
{
	union {
		struct sockaddr_storage any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} address = {0};
	socklen_t length = sizeof address;
	if (getsockname(socket, (struct sockaddr *)&address, &length) < 0)
		return errno;
	in_port_t port = address.any.ss_family == AF_INET6 ? address.six.sin6_port : address.four.sin_port;
	bool inet = address.any.ss_family == AF_INET || address.any.ss_family == AF_INET6;
	if (!inet || port == 0 || !is_listed(call->spec, ntohs(port)))
		return EACCES;
	return error_of(listen(socket, (int)call->call.data.args[1]));
}

/* Performs CALL. Returns 0 or an errno, and the inode of its socket, or 0. */
static int perform(const struct socket_call *call, ino_t *inode)
{
	struct target target = {call->listener, call->call.id, (pid_t)call->call.pid};
	struct stat status;
	int domain, error;
	socklen_t length = sizeof domain;
	*inode = 0;
	int socket = target_take_descriptor(&target, (int)call->call.data.args[0]);
	if (socket < 0)
		return errno;
	if (fstat(socket, &status) < 0 || getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &length) < 0) {
		error = errno;
	} else {
		*inode = status.st_ino;
		if (!take_lost_result(target.tid, status.st_ino, &error))
			error = call->call.data.nr == SYS_listen ? listen_on_socket(call, socket)
								 : connect_socket(call, socket, domain);
	}
	close(socket);
	return error;
}

static void perform_and_answer(const struct socket_call *call)
{
	uint64_t id = call->call.id;
	ino_t inode;
	int error;
	/* EINTR means that this thread was interrupted, which is spurious if the caller still waits. */
	do
		error = perform(call, &inode);
	while (error == EINTR && !atomic_load(&ending) && notification_is_waiting(call->listener, id));
	if (error != EINTR && !notification_answer(call->listener, id, error) && inode)
		keep_lost_result((pid_t)call->call.pid, inode, error);
}

static void *run(void *context)
{
	struct socket_call *call = context;
	atomic_store(&call->thread, (int)syscall(SYS_gettid));
	perform_and_answer(call);
	atomic_store(&call->running, false);
	return NULL;
}

static void ignore_interrupt(int signal)
{
	(void)signal;
}

static bool start_thread(struct socket_call *call)
{
	static bool handled;
	pthread_attr_t attributes;
	pthread_t thread;
	if (!handled) { /* without SA_RESTART, so that the signal interrupts connect */
		struct sigaction action = {.sa_handler = ignore_interrupt};
		handled = sigaction(INTERRUPT, &action, NULL) == 0;
	}
	if (pthread_attr_init(&attributes) != 0)
		return false;
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	bool started = handled && pthread_create(&thread, &attributes, run, call) == 0;
	pthread_attr_destroy(&attributes);
	return started;
}

static struct socket_call *find_free(void)
{
	for (unsigned i = 0; i < MAX_CALLS; i++)
		if (!atomic_load(&calls[i].running))
			return &calls[i];
	return NULL;
}

bool socket_calls_have_room(void)
{
	return find_free() != NULL;
}

static void interrupt(const struct socket_call *call)
{
	int thread = atomic_load(&call->thread);
	if (thread)
		syscall(SYS_tgkill, getpid(), thread, INTERRUPT);
}

void socket_calls_start(struct broker *broker, const struct notification *notification)
{
	struct socket_call *call = find_free();
	call->call = *notification;
	call->listener = broker->listener;
	call->spec = broker->spec;
	call->checks_with_signal = 0;
	atomic_store(&call->thread, 0);
	/* A thread makes one call at a time, so an older one was interrupted and restarted. */
	for (unsigned i = 0; i < MAX_CALLS; i++)
		if (atomic_load(&calls[i].running) && calls[i].call.pid == notification->pid)
			interrupt(&calls[i]);
	atomic_store(&call->running, true);
	if (start_thread(call))
		return;
	atomic_store(&call->running, false);
	notification_answer(broker->listener, notification->id, EAGAIN);
}

unsigned socket_calls_check(const struct broker *broker)
{
	unsigned running = 0;
	for (unsigned i = 0; i < MAX_CALLS; i++) {
		struct socket_call *call = &calls[i];
		if (!atomic_load(&call->running))
			continue;
		running++;
		if (!notification_is_waiting(broker->listener, call->call.id)) {
			interrupt(call);
			continue;
		}
		enum target_signal signal = target_pending_signal((pid_t)call->call.pid);
		call->checks_with_signal += signal != SIGNAL_NONE;
		int error = signal == SIGNAL_OWN				? RESTART_AFTER_SIGNAL
			    : signal && call->checks_with_signal >= PATIENCE ? EINTR
									     : 0;
		if (error && notification_answer(broker->listener, call->call.id, error))
			interrupt(call);
	}
	return running;
}

void socket_calls_end(void)
{
	atomic_store(&ending, true);
	for (unsigned i = 0; i < MAX_CALLS; i++) {
		/* The signal is lost if the thread is not in a system call yet, so it is sent again. */
		while (atomic_load(&calls[i].running)) {
			struct timespec pause = {.tv_nsec = END_PAUSE_NS};
			interrupt(&calls[i]);
			nanosleep(&pause, NULL);
		}
	}
	atomic_store(&ending, false);
	memset(lost, 0, sizeof lost);
}
