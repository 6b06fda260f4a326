#include "io/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "io/open_beneath.h"

void output_delta_reset(struct output_delta *delta)
{
	delta->overflowed = false;
	delta->length = 0;
}

static void output_delta_add(struct output_delta *delta, const char *bytes, size_t length, int64_t now_us)
{
	if (delta->disabled || delta->overflowed)
		return;
	if (length > OUTPUT_DELTA_MAX - delta->length) {
		delta->overflowed = true;
		return;
	}
	if (delta->length == 0)
		delta->since_us = now_us;
	memcpy(delta->bytes + delta->length, bytes, length);
	delta->length += length;
}

size_t output_delta_format(const struct output_delta *delta, int64_t unix_ms, char text[OUTPUT_DELTA_TEXT_MAX])
{
	static const char digits[] = "0123456789abcdef";
	text[0] = '\0';
	if (delta->disabled || delta->overflowed || delta->length == 0)
		return 0;
	size_t at = (size_t)snprintf(text, OUTPUT_DELTA_TEXT_MAX, ",\"ms\":%" PRId64 ",\"fresh\":\"", unix_ms);
	for (size_t i = 0; i < delta->length; i++) {
		unsigned char byte = (unsigned char)delta->bytes[i];
		text[at++] = digits[byte >> 4];
		text[at++] = digits[byte & 15];
	}
	text[at++] = '"';
	text[at] = '\0';
	return at;
}

#define BUFFER (256u << 10)
#define WIDE_PIPE (1 << 20)
#define SMALL_READ 512
#define READ_TARGET (128u << 10)
#define PUMP_MAX (512u << 10) /* bytes per call, so that the other stream and the gateways are served in between */

/* Pages that are not touched are not allocated, so the keeper of a session with little output stays small. */
static char buffer[BUFFER];

static const char *open_log(struct capture *capture, const struct request *request)
{
	log_file_init(&capture->log, -1, request->disk_cap);
	if (!request->log_path)
		return NULL;
	/* The file is truncated after the checks and not by O_TRUNC, so that a hard link to another file does not empty
	 * that file. */
	int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	struct stat status;
	/* The keeper's own umask is stricter: the user of the command reads this file. */
	mode_t before = umask((mode_t)request->umask);
	capture->log.fd = request->root ? open_beneath(request->root, request->log_path, flags, 0666)
					: open(request->log_path, flags, 0666);
	int error = errno;
	umask(before);
	errno = error;
	if (capture->log.fd < 0)
		return request->root && open_beneath_escaped(errno) ? "scope-log" : "log";
	if (fstat(capture->log.fd, &status) < 0)
		return "log";
	if (!S_ISREG(status.st_mode)) {
		errno = EINVAL; /* a device or a pipe could block the keeper */
		return "log";
	}
	if (request->root && status.st_nlink > 1) {
		errno = EMLINK;
		return "scope-log";
	}
	return ftruncate(capture->log.fd, 0) < 0 ? "log" : NULL;
}

static const char *open_pipe(int *ours, int *theirs)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return "pipe";
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*ours = ends[0];
	*theirs = ends[1];
	return NULL;
}

static const char *open_terminal(const struct terminal *terminal, int *ours, int *theirs)
{
	*ours = fcntl(terminal->master, F_DUPFD_CLOEXEC, 3);
	*theirs = terminal_stdio(terminal);
	return *ours < 0 || *theirs < 0 ? "terminal" : NULL;
}

const char *capture_open(struct capture *capture, const struct request *request, const struct terminal *terminal,
			 int stdio[3])
{
	static const char *const apart[2] = {"stdout", "stderr"};
	capture->count = request->capture == CAPTURE_MERGED ? 1 : 2;
	capture->from_terminal = terminal->master >= 0;
	if (capture->from_terminal)
		terminal_responder_init(&capture->responder, terminal->columns, terminal->rows);
	timeline_init(&capture->timeline, 0, 0);
	capture->delta.disabled = capture->count > 1;
	output_delta_reset(&capture->delta);
	capture->log.fd = -1;
	for (unsigned i = 0; i < 2; i++) {
		capture->pipes[i] = -1;
		capture->widened[i] = false;
		capture->names[i] = capture->count == 1 ? "output" : apart[i];
		stream_file_init(&capture->streams[i], request->disk_cap);
	}
	for (unsigned i = 0; i < capture->count; i++) {
		const char *failed = capture->from_terminal ? open_terminal(terminal, &capture->pipes[i], &stdio[1 + i])
							    : open_pipe(&capture->pipes[i], &stdio[1 + i]);
		if (failed)
			return failed;
	}
	if (capture->count == 1)
		stdio[2] = stdio[1];
	return open_log(capture, request);
}

void capture_start_clock(struct capture *capture, int64_t start_unix_us, int64_t start_us)
{
	timeline_init(&capture->timeline, start_unix_us, start_us);
}

static void enforce_cap(struct capture *capture, unsigned i, int dirfd)
{
	struct stream_file *stream = &capture->streams[i];
	if (!stream_file_grow_hole(stream))
		return;
	timeline_publish(&capture->timeline, dirfd, capture->streams, capture->count);
	stream_file_punch(stream);
	if (stream->cannot_punch)
		timeline_publish(&capture->timeline, dirfd, capture->streams, capture->count);
}

static void store(struct capture *capture, unsigned i, int dirfd, size_t length)
{
	struct stream_file *stream = &capture->streams[i];
	const uint64_t before[2] = {capture->streams[0].size, capture->streams[1].size};
	int64_t now = monotonic_us();
	if (capture->from_terminal)
		terminal_responder_scan(&capture->responder, buffer, length);
	size_t kept = stream_file_append(stream, dirfd, capture->names[i], buffer, length);
	timeline_add(&capture->timeline, KIND_DATA, i, kept, before, now);
	if (kept < length)
		capture->delta.disabled = true;
	output_delta_add(&capture->delta, buffer, kept, now);
	const uint64_t after[2] = {capture->streams[0].size, capture->streams[1].size};
	timeline_add(&capture->timeline, KIND_LOST, i, length - kept, after, now);
	enforce_cap(capture, i, dirfd);
	log_file_append(&capture->log, buffer, length);
}

/* Reads available output into the buffer. A terminal returns at most 4 KiB per read, so consecutive reads are combined;
 * otherwise a flood would be stored in small chunks. */
static ssize_t read_available(const struct capture *capture, unsigned i)
{
	size_t used = 0;
	for (;;) {
		ssize_t n = read(capture->pipes[i], buffer + used, sizeof buffer - used);
		if (n <= 0)
			return used ? (ssize_t)used : n;
		used += (size_t)n;
		/* A small read may be the echo of a key press, which must not wait for more output. */
		if (!capture->from_terminal || n <= SMALL_READ || used >= READ_TARGET)
			return (ssize_t)used;
	}
}

static size_t pump_once(struct capture *capture, unsigned i, int dirfd)
{
	if (capture->pipes[i] < 0)
		return 0;
	ssize_t n = read_available(capture, i);
	if (n < 0 && errno != EIO)
		return 0;
	if (n <= 0) { /* end of file, or EIO when the terminal was hung up */
		close(capture->pipes[i]);
		capture->pipes[i] = -1;
		return 0;
	}
	/* A full pipe indicates a flood of output. A larger pipe halves the number of context switches, but pipe memory
	 * per user is limited, so only such pipes are enlarged. */
	if (n >= 65536 && !capture->widened[i] && !capture->from_terminal) {
		capture->widened[i] = true;
		(void)fcntl(capture->pipes[i], F_SETPIPE_SZ, WIDE_PIPE);
	}
	store(capture, i, dirfd, (size_t)n);
	return (size_t)n;
}

/* Copies output until MOST bytes have been copied or a read returns at most LEAST bytes. */
static void pump(struct capture *capture, unsigned i, int dirfd, size_t most, size_t least)
{
	size_t moved = 0, n;
	while (moved < most && (n = pump_once(capture, i, dirfd)) > least)
		moved += n;
}

void capture_pump(struct capture *capture, unsigned i, int dirfd)
{
	pump(capture, i, dirfd, PUMP_MAX, SMALL_READ);
}

void capture_drain(struct capture *capture, int dirfd)
{
	for (unsigned i = 0; i < capture->count; i++)
		pump(capture, i, dirfd, 2u * WIDE_PIPE, 0);
	capture_flush(capture, dirfd);
}

void capture_flush(struct capture *capture, int dirfd)
{
	if (capture->timeline.used > capture->timeline.flushed)
		timeline_flush(&capture->timeline, dirfd, capture->streams, capture->count);
}

void capture_close(struct capture *capture)
{
	for (unsigned i = 0; i < 2; i++) {
		if (capture->pipes[i] >= 0)
			close(capture->pipes[i]);
		capture->pipes[i] = -1;
		stream_file_close(&capture->streams[i]);
	}
	log_file_close(&capture->log);
	timeline_close(&capture->timeline);
}
