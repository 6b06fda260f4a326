#include "cgroup/user_manager.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "cgroup/cgroup.h"
#include "clock.h"

/* A D-Bus client that makes one call: StartTransientUnit. The manager listens on a socket of its own, and on the
 * message bus of the user, which not every machine has and which requires a greeting. */

#define ANSWER_US (3ll * 1000000)
#define MAX_MESSAGE 4096
#define MIN_PAUSE_US 500
#define MAX_PAUSE_US 16000

/* Types of D-Bus messages, and codes of their header fields. */
enum { METHOD_CALL = 1, METHOD_RETURN = 2, METHOD_ERROR = 3 };
enum { FIELD_PATH = 1, FIELD_INTERFACE = 2, FIELD_MEMBER = 3, FIELD_DESTINATION = 6, FIELD_SIGNATURE = 8 };

#define SYSTEMD "org.freedesktop.systemd1"
#define BUS "org.freedesktop.DBus"

/* ---- writing messages ---- */

struct message {
	uint8_t bytes[MAX_MESSAGE];
	size_t used;
};

static void put_bytes(struct message *message, const void *bytes, size_t length)
{
	if (message->used + length > sizeof message->bytes)
		return; /* all messages have a fixed size far below the limit */
	memcpy(message->bytes + message->used, bytes, length);
	message->used += length;
}

static void align(struct message *message, size_t to)
{
	static const uint8_t zeros[8];
	put_bytes(message, zeros, (to - message->used % to) % to);
}

static void put_byte(struct message *message, uint8_t value)
{
	put_bytes(message, &value, 1);
}

static void put_u32(struct message *message, uint32_t value)
{
	align(message, 4);
	put_bytes(message, &value, sizeof value);
}

static void put_string(struct message *message, const char *text)
{
	put_u32(message, (uint32_t)strlen(text));
	put_bytes(message, text, strlen(text) + 1);
}

static void put_signature(struct message *message, const char *text)
{
	put_byte(message, (uint8_t)strlen(text));
	put_bytes(message, text, strlen(text) + 1);
}

/* Starts an array whose elements are aligned to 8 bytes. Returns the position after the length. */
static size_t open_array(struct message *message)
{
	put_u32(message, 0);
	size_t length_end = message->used;
	align(message, 8);
	return length_end;
}

/* Stores the length of an array, which does not include the padding before its first element. */
static void close_array(struct message *message, size_t length_end)
{
	size_t first = (length_end + 7) / 8 * 8;
	uint32_t length = (uint32_t)(message->used - first);
	memcpy(message->bytes + length_end - sizeof length, &length, sizeof length);
}

static void put_field(struct message *message, uint8_t field, const char *type, const char *value)
{
	align(message, 8);
	put_byte(message, field);
	put_signature(message, type);
	if (*type == 'g')
		put_signature(message, value);
	else
		put_string(message, value);
}

struct call {
	const char *destination, *path, *interface, *member, *signature;
};

static void put_call(struct message *message, uint32_t serial, const struct call *call, const struct message *body)
{
	const uint16_t one = 1;
	put_byte(message, *(const uint8_t *)&one == 1 ? 'l' : 'B'); /* numbers are in the byte order of this machine */
	put_byte(message, METHOD_CALL);
	put_byte(message, 0);
	put_byte(message, 1); /* version of the protocol */
	put_u32(message, (uint32_t)body->used);
	put_u32(message, serial);
	size_t fields = open_array(message);
	put_field(message, FIELD_PATH, "o", call->path);
	put_field(message, FIELD_DESTINATION, "s", call->destination);
	put_field(message, FIELD_INTERFACE, "s", call->interface);
	put_field(message, FIELD_MEMBER, "s", call->member);
	if (*call->signature)
		put_field(message, FIELD_SIGNATURE, "g", call->signature);
	close_array(message, fields);
	align(message, 8);
	put_bytes(message, body->bytes, body->used);
}

static void put_text_property(struct message *body, const char *name, const char *value)
{
	align(body, 8);
	put_string(body, name);
	put_signature(body, "s");
	put_string(body, value);
}

static void put_scope(struct message *body, const char *scope)
{
	put_string(body, scope);
	put_string(body, "fail"); /* what happens if a job for this unit is queued already */
	size_t properties = open_array(body);
	put_text_property(body, "Description", "Commands of Sallyport with resource limits");
	put_text_property(body, "Slice", USER_MANAGER_SLICE);
	put_text_property(body, "CollectMode", "inactive-or-failed");
	align(body, 8);
	put_string(body, "Delegate");
	put_signature(body, "b");
	put_u32(body, 1);
	align(body, 8);
	put_string(body, "PIDs");
	put_signature(body, "au");
	put_u32(body, sizeof(uint32_t));
	put_u32(body, 0); /* the sender: in a container, its pid has another meaning for the manager */
	close_array(body, properties);
	close_array(body, open_array(body)); /* no auxiliary units */
}

/* ---- the connection ---- */

/* Connects to a socket in the runtime directory of the user. */
static int connect_to(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred peer;
	socklen_t length = sizeof peer;
	snprintf(address.sun_path, sizeof address.sun_path, "/run/user/%u/%s", (unsigned)geteuid(), name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* Also limits how long connecting to a manager that hangs may take. */
	const struct timeval timeout = {.tv_sec = ANSWER_US / 1000000};
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) == 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid())
		return fd;
	int error = errno ? errno : EACCES;
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}

static bool send_all(int fd, const void *bytes, size_t length)
{
	return send(fd, bytes, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* Reads LENGTH bytes until DEADLINE. */
static bool receive(int fd, void *bytes, size_t length, int64_t deadline)
{
	uint8_t *at = bytes;
	while (length > 0) {
		struct pollfd readable = {.fd = fd, .events = POLLIN};
		int64_t left = deadline - monotonic_us();
		if (left <= 0 || poll(&readable, 1, (int)(left / 1000) + 1) == 0) {
			errno = ETIMEDOUT;
			return false;
		}
		ssize_t n = recv(fd, at, length, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n < 0 ? errno : ECONNRESET;
			return false;
		}
		at += n;
		length -= (size_t)n;
	}
	return true;
}

/* Authenticates with the credentials of the socket. */
static bool authenticate(int fd, int64_t deadline)
{
	char uid[12], hex[2 * sizeof uid + 1], line[80];
	int digits = snprintf(uid, sizeof uid, "%u", (unsigned)geteuid());
	for (int i = 0; i < digits; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)uid[i]);
	int length = snprintf(line, sizeof line, "%cAUTH EXTERNAL %s\r\n", 0, hex);
	if (!send_all(fd, line, (size_t)length))
		return false;
	for (size_t used = 0; used < sizeof line; used++) {
		if (!receive(fd, line + used, 1, deadline))
			return false;
		if (line[used] != '\n')
			continue;
		errno = EACCES;
		return strncmp(line, "OK", 2) == 0 && send_all(fd, "BEGIN\r\n", 7);
	}
	errno = EPROTO;
	return false;
}

/* Reads messages up to the answer to the only pending call, and skips signals. */
static bool receive_answer(int fd, int64_t deadline)
{
	for (;;) {
		uint8_t head[16], skipped[256];
		uint32_t body, fields;
		if (!receive(fd, head, sizeof head, deadline))
			return false;
		memcpy(&body, head + 4, sizeof body);
		memcpy(&fields, head + 12, sizeof fields);
		if (body > 1 << 20 || fields > 1 << 20) {
			errno = EPROTO;
			return false;
		}
		for (size_t left = (fields + 7) / 8 * 8 + body; left > 0;) {
			size_t part = left < sizeof skipped ? left : sizeof skipped;
			if (!receive(fd, skipped, part, deadline))
				return false;
			left -= part;
		}
		if (head[1] == METHOD_RETURN)
			return true;
		if (head[1] == METHOD_ERROR) {
			errno = EPERM;
			return false;
		}
	}
}

static bool make_call(int fd, uint32_t serial, const struct call *call, const struct message *body, int64_t deadline)
{
	struct message message = {.used = 0};
	put_call(&message, serial, call, body);
	return send_all(fd, message.bytes, message.used) && receive_answer(fd, deadline);
}

static bool start_scope(int fd, bool bus, const char *scope, int64_t deadline)
{
	static const struct call hello = {BUS, "/org/freedesktop/DBus", BUS, "Hello", ""};
	static const struct call start = {SYSTEMD, "/org/freedesktop/systemd1", SYSTEMD ".Manager",
					  "StartTransientUnit", "ssa(sv)a(sa(sv))"};
	struct message body = {.used = 0};
	if (!authenticate(fd, deadline) || (bus && !make_call(fd, 1, &hello, &body, deadline)))
		return false;
	put_scope(&body, scope);
	return make_call(fd, 2, &start, &body, deadline);
}

/* Waits until the job that starts the scope has moved this process. */
static bool wait_for_move(const char *self, const char *scope, int64_t deadline)
{
	char path[CGROUP_PATH], text[4096];
	snprintf(path, sizeof path, "%s/cgroup", self);
	for (useconds_t pause = MIN_PAUSE_US; monotonic_us() < deadline; pause += pause < MAX_PAUSE_US ? pause : 0) {
		if (cgroup_read(-1, path, text, sizeof text) && strstr(text, scope))
			return true;
		usleep(pause);
	}
	errno = ETIMEDOUT;
	return false;
}

bool user_manager_create_scope(const char *self)
{
	static const char *const sockets[] = {"systemd/private", "bus"};
	int64_t deadline = monotonic_us() + ANSWER_US;
	char scope[48];
	snprintf(scope, sizeof scope, "sallyport-%d.scope", (int)getpid());
	for (unsigned i = 0; i < sizeof sockets / sizeof *sockets; i++) {
		int fd = connect_to(sockets[i]);
		if (fd < 0)
			continue;
		bool started = start_scope(fd, i > 0, scope, deadline);
		int error = errno;
		close(fd);
		errno = error;
		if (started)
			return wait_for_move(self, scope, deadline);
	}
	return false;
}
