#include "client/forward.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/output.h"
#include "client/protocol.h"
#include "clock.h"

#define MS 1000
/* Most commands end within this time, and their output is read then. For others, the keeper reports new output. */
#define WATCH_AFTER (3 * MS)
/* The interval between reads while the keeper cannot be reached. */
#define READ_AGAIN_AFTER (50 * MS)
/* How long the reader of stdout has to read the last output after a signal. */
#define LAST_OUTPUT (2000 * MS)
#define WRITE_SIZE 4096u /* a pipe that is writable has room for this */
#define SIGNAL_BASE 128

/* A descriptor that is written without blocking. */
struct sink {
	int fd;         /* the descriptor to write to */
	bool owned;     /* not shared with other processes, so that it can be non-blocking */
	bool blocks;    /* writes may block, so they are kept small */
	bool is_broken; /* its reader is gone */
};

struct forward {
	struct resident *resident;
	const struct command_line *line;
	int signals;
	struct sink sinks[2];
	bool lost;        /* the connection to the resident gateway has ended */
	bool in_messages; /* the output of the command arrives in messages */
	bool started, merged, done, printed, input_wanted, input_given, input_ended, stopped, output_over;
	unsigned signal_count;
	int first_signal;
	int64_t leave_at; /* when to exit even if the output has not been read, or NEVER */
	int exit_code;
	char *notes, *missing_note;
	size_t notes_length;
	struct output output;
	uint64_t printed_to[2]; /* the positions in the streams up to which messages have been printed */
	int keeper;       /* connection to the keeper of the command, which reports new output */
	int64_t watch_at; /* when to connect to it */
	struct chunk chunk;
	unsigned char queue[1 << 17]; /* a message of the resident gateway that is being printed */
};

static struct forward state;
static int signal_fd = -1;
static sigset_t inherited_mask;

bool forward_take_signals(void)
{
	static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t set;
	sigemptyset(&set);
	for (unsigned i = 0; i < sizeof forwarded / sizeof *forwarded; i++) {
		sigaddset(&set, forwarded[i]);
		signal(forwarded[i], SIG_DFL); /* an ignored signal would not arrive */
	}
	signal(SIGPIPE, SIG_IGN);
	signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return signal_fd >= 0 && sigprocmask(SIG_BLOCK, &set, &inherited_mask) == 0;
}

__attribute__((noreturn)) static void run_with_node(const struct forward *forward)
{
	sigprocmask(SIG_SETMASK, &inherited_mask, NULL);
	node_run(forward->line);
}

/* Continues with Node, which finds the session by its ID. If there is none, Node runs the command line. */
__attribute__((noreturn)) static void continue_with_node(const struct forward *forward)
{
	char text[192];
	uint64_t printed[2];
	for (unsigned stream = 0; stream < 2; stream++)
		printed[stream] = forward->in_messages ? forward->printed_to[stream]
				  : forward->started   ? output_returned(&forward->output, stream)
						       : 0;
	snprintf(text, sizeof text, "%s %" PRIu64 " %" PRIu64 " %d %d", forward->resident->id, printed[0], printed[1],
		 forward->input_given && !forward->input_wanted, forward->input_ended);
	setenv(CONTINUE_VARIABLE, text, 1);
	run_with_node(forward);
}

/* ---- printing ---- */

static void open_sink(struct sink *sink, int fd)
{
	struct stat status;
	char path[32];
	*sink = (struct sink){.fd = fd};
	if (fstat(fd, &status) < 0 || S_ISREG(status.st_mode))
		return;
	sink->blocks = true;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int own = S_ISFIFO(status.st_mode) ? open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1;
	if (own >= 0)
		*sink = (struct sink){.fd = own, .owned = true};
}

/* The reader of stdout is gone. The command is stopped, as SIGPIPE would have done. */
static void on_broken_output(struct forward *forward)
{
	forward->sinks[0].is_broken = true;
	forward->exit_code = SIGNAL_BASE + SIGPIPE;
	if (!forward->stopped && !forward->done)
		resident_send(forward->resident, FROM_CLIENT_STOP, NULL, 0);
	forward->stopped = true;
}

/* Prints as much of the chunk as possible without blocking. Returns false if the descriptor is not writable. */
static bool print_chunk(struct forward *forward)
{
	struct chunk *chunk = &forward->chunk;
	struct sink *sink = &forward->sinks[chunk->stream];
	while (chunk->length > 0 && !sink->is_broken) {
		size_t length = sink->blocks && chunk->length > WRITE_SIZE ? WRITE_SIZE : chunk->length;
		struct pollfd ready = {.fd = sink->fd, .events = POLLOUT};
		if (sink->blocks && poll(&ready, 1, 0) == 0)
			return false;
		ssize_t n = write(sink->fd, chunk->bytes, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return false;
		if (n < 0 && errno == EPIPE && chunk->stream == 0) {
			on_broken_output(forward);
		} else if (n < 0 && chunk->stream == 0) {
			if (forward->started) /* Node reports the error, and stops the command */
				continue_with_node(forward);
			if (!forward->printed && !forward->input_given)
				run_with_node(forward);
			fprintf(stderr,
				"sallyport: cannot write to stdout: %s\n  Check the file or program that stdout is redirected "
				"to.\n",
				strerror(errno));
			forward->sinks[0].is_broken = true;
			forward->exit_code = EXIT_FAILED;
		} else if (n < 0) {
			sink->is_broken = true; /* there is no other stream on which this could be reported */
		} else {
			chunk->bytes += n;
			chunk->length -= (size_t)n;
			forward->printed = true;
		}
	}
	chunk->length = 0;
	return true;
}

/* ---- messages of the resident gateway ---- */

static void begin_output(struct forward *forward, const struct message *message)
{
	if (message->length < 2 || message->payload[message->length - 1] != '\0')
		continue_with_node(forward);
	forward->started = true;
	forward->merged = message->payload[0] & STARTED_MERGED;
	forward->in_messages = message->payload[0] & STARTED_IN_MESSAGES;
	if (forward->in_messages) {
		forward->output_over = true;
		return;
	}
	forward->watch_at = monotonic_us() + WATCH_AFTER;
	if (!output_open(&forward->output, message->payload + 1, forward->merged))
		forward->output_over = true; /* the command was refused */
}

static uint64_t get64(const char *bytes)
{
	uint64_t value = 0;
	for (unsigned i = 8; i-- > 0;)
		value = value << 8 | (unsigned char)bytes[i];
	return value;
}

static void finish(struct forward *forward, const struct message *message)
{
	forward->done = true;
	const char *end = message->length > 1 ? memchr(message->payload + 1, '\0', message->length - 1) : NULL;
	if (!end)
		return;
	if (!forward->sinks[0].is_broken)
		forward->exit_code = (unsigned char)message->payload[0];
	forward->missing_note = strdup(message->payload + 1);
	forward->notes_length = message->length - (size_t)(end + 1 - message->payload);
	forward->notes = malloc(forward->notes_length + 1);
	if (forward->notes)
		memcpy(forward->notes, end + 1, forward->notes_length);
	if (forward->signal_count > 0)
		forward->leave_at = monotonic_us() + LAST_OUTPUT;
}

static void handle_message(struct forward *forward, const struct message *message)
{
	switch (message->type) {
	case TO_CLIENT_USE_NODE: run_with_node(forward);
	case TO_CLIENT_STARTED: begin_output(forward, message); break;
	case TO_CLIENT_STDOUT:
	case TO_CLIENT_STDERR:
		if (message->length > sizeof forward->queue)
			continue_with_node(forward);
		memcpy(forward->queue, message->payload, message->length);
		forward->chunk = (struct chunk){message->type == TO_CLIENT_STDERR, forward->queue, message->length};
		break;
	case TO_CLIENT_WANT_INPUT: forward->input_wanted = forward->input_given = true; break;
	case TO_CLIENT_PRINTED:
		for (unsigned stream = 0; stream < 2 && message->length == 16; stream++)
			forward->printed_to[stream] = get64(message->payload + 8 * stream);
		break;
	case TO_CLIENT_DONE: finish(forward, message); break;
	default: break;
	}
}

/* The resident gateway was killed. */
__attribute__((noreturn)) static void on_lost_resident(const struct forward *forward)
{
	if (forward->started || (!forward->printed && !forward->input_given))
		continue_with_node(forward);
	fprintf(stderr, "sallyport: the resident gateway was killed while it answered. Run the command again.\n");
	_exit(forward->line->failure_code);
}

/* ---- output ---- */

static void watch(struct forward *forward)
{
	static const char frame[] = {1, 0, 0, 0, 6};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	forward->watch_at = monotonic_us() + READ_AGAIN_AFTER;
	if (fd < 0)
		return;
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/ctl", forward->output.folder);
	if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
	    send(fd, frame, sizeof frame, MSG_NOSIGNAL) != sizeof frame) {
		close(fd);
		return;
	}
	forward->keeper = fd;
	forward->watch_at = NEVER;
}

/* Reads the events of the keeper. They only mean that there may be output, which is read from the log. */
static void read_events(struct forward *forward)
{
	char text[4096];
	ssize_t n;
	while ((n = recv(forward->keeper, text, sizeof text, MSG_DONTWAIT)) > 0)
		;
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return;
	close(forward->keeper);
	forward->keeper = -1;
	forward->watch_at = monotonic_us() + READ_AGAIN_AFTER;
}

/* Prints output until there is no more or stdout does not take it. */
static void print_output(struct forward *forward)
{
	while (print_chunk(forward) && forward->started && !forward->output_over) {
		switch (output_next(&forward->output, forward->done, &forward->chunk)) {
		case OUTPUT_CHUNK_READ: break;
		case OUTPUT_NONE: forward->output_over = forward->done; return;
		}
	}
}

/* ---- input and signals ---- */

static void read_input(struct forward *forward)
{
	static char bytes[64 << 10];
	struct pollfd ready = {.fd = 0, .events = POLLIN};
	size_t used = 0;
	bool ended = false;
	do {
		ssize_t n = read(0, bytes + used, sizeof bytes - used);
		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		ended = n <= 0;
		used += n > 0 ? (size_t)n : 0;
		/* The end of a pipe or a file usually follows, and need not wait for the next request. */
	} while (!ended && used < sizeof bytes && poll(&ready, 1, 0) > 0);
	if (used == 0 && !ended)
		return;
	forward->input_wanted = false;
	forward->input_ended = ended;
	resident_send(forward->resident, ended ? FROM_CLIENT_LAST_INPUT : FROM_CLIENT_INPUT, bytes, used);
}

static void read_signals(struct forward *forward)
{
	struct signalfd_siginfo info;
	while (read(forward->signals, &info, sizeof info) == sizeof info) {
		unsigned char number = (unsigned char)info.ssi_signo;
		if (forward->line->only_prints) {
			raise(number);
			sigprocmask(SIG_SETMASK, &inherited_mask, NULL);
		}
		if (forward->signal_count++ == 0)
			forward->first_signal = number;
		if (number == SIGINT && isatty(2)) /* the terminal has echoed ^C without a line break */
			(void)!write(2, "\n", 1);
		if (forward->signal_count > 2)
			_exit(SIGNAL_BASE + forward->first_signal);
		if (!forward->done)
			resident_send(forward->resident, FROM_CLIENT_SIGNAL, &number, 1);
		if (forward->done || !forward->started)
			forward->leave_at = monotonic_us() + LAST_OUTPUT;
	}
}

static void print_note(const char *text, size_t length)
{
	for (size_t at = 0; at < length;) {
		ssize_t n = write(2, text + at, length - at);
		struct pollfd ready = {.fd = 2, .events = POLLOUT};
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			poll(&ready, 1, -1);
		else if (n <= 0 && errno != EINTR)
			break;
		at += n > 0 ? (size_t)n : 0;
	}
}

__attribute__((noreturn)) static void leave(struct forward *forward)
{
	char count[64];
	if (forward->sinks[0].is_broken)
		_exit(forward->line->only_prints && forward->line->failure_code != EXIT_FAILED
			      ? forward->line->failure_code
			      : forward->exit_code);
	if (forward->notes)
		print_note(forward->notes, forward->notes_length);
	if (forward->output.missing > 0 && forward->missing_note) {
		int n = snprintf(count, sizeof count, "sallyport: %" PRIu64, forward->output.missing);
		print_note(count, (size_t)n);
		print_note(forward->missing_note, strlen(forward->missing_note));
		/* A program that reads the output does not see the note, so the exit code must report it. */
		if (!isatty(1) && forward->exit_code == 0)
			forward->exit_code = EXIT_FAILED;
	}
	_exit(forward->exit_code);
}

static void wait_for_events(struct forward *forward)
{
	bool blocked = forward->chunk.length > 0;
	bool is_listening = !forward->done && !forward->lost && forward->resident->in_used < MESSAGE_MAX;
	int64_t next = forward->leave_at < forward->watch_at ? forward->leave_at : forward->watch_at, now = monotonic_us();
	struct pollfd fds[5] = {
		{.fd = forward->signals, .events = POLLIN},
		{.fd = is_listening ? forward->resident->fd : -1, .events = POLLIN},
		{.fd = forward->done ? -1 : forward->keeper, .events = POLLIN},
		{.fd = forward->input_wanted && !forward->done ? 0 : -1, .events = POLLIN},
		{.fd = blocked ? forward->sinks[forward->chunk.stream].fd : -1, .events = POLLOUT},
	};
	int64_t us = next > now ? next - now : 0;
	struct timespec timeout = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
	if (ppoll(fds, 5, next == NEVER ? NULL : &timeout, NULL) < 0)
		return;
	if (fds[0].revents)
		read_signals(forward);
	if (fds[1].revents)
		forward->lost = !resident_read(forward->resident);
	if (fds[2].revents)
		read_events(forward);
	if (fds[3].revents)
		read_input(forward);
}

void forward_answer(struct resident *resident, const struct command_line *line)
{
	struct forward *forward = &state;
	struct message message;
	forward->resident = resident;
	forward->line = line;
	forward->signals = signal_fd;
	forward->keeper = -1;
	forward->leave_at = forward->watch_at = NEVER;
	open_sink(&forward->sinks[0], 1);
	open_sink(&forward->sinks[1], 2);
	for (;;) {
		/* A message is handled when the output before it has been printed. */
		while ((print_chunk(forward) || (forward->started && !forward->in_messages)) && !forward->done &&
		       resident_next(resident, &message))
			handle_message(forward, &message);
		if (forward->lost && !forward->done && forward->chunk.length == 0)
			on_lost_resident(forward);
		print_output(forward);
		if (forward->done && forward->chunk.length == 0 && (!forward->started || forward->output_over))
			leave(forward);
		int64_t now = monotonic_us();
		if (now >= forward->leave_at)
			_exit(SIGNAL_BASE + forward->first_signal);
		if (now >= forward->watch_at && forward->started && !forward->done)
			watch(forward);
		wait_for_events(forward);
	}
}
