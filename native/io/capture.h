#ifndef SALLYPORT_CAPTURE_H
#define SALLYPORT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/pty.h"
#include "io/stream_file.h"
#include "io/terminal_responder.h"
#include "io/timeline.h"
#include "ipc/request.h"

#define OUTPUT_DELTA_MAX 1024u

/* Output since the last event, while it is small: a watcher that is up to date needs no file to continue. It is in the
 * file before any watcher is notified. */
struct output_delta {
	bool disabled; /* two streams, or a write failed: the timeline must be read */
	bool overflowed;
	int64_t since_us;
	size_t length;
	char bytes[OUTPUT_DELTA_MAX];
};

void output_delta_reset(struct output_delta *delta);

/* Formats the delta as members of a JSON object, NUL-terminated; empty if there is no usable delta. */
#define OUTPUT_DELTA_TEXT_MAX (2u * OUTPUT_DELTA_MAX + 64u)
size_t output_delta_format(const struct output_delta *delta, int64_t unix_ms, char text[OUTPUT_DELTA_TEXT_MAX]);

/* Copies output from the command's pipes or terminal to the session's files: one stream each for stdout and stderr, or
 * one for both. */
struct capture {
	unsigned count;
	int pipes[2]; /* read ends; -1: end of file */
	bool widened[2];
	bool from_terminal;
	const char *names[2];
	struct stream_file streams[2];
	struct stream_file log; /* the merged log file of the request */
	bool has_log;
	struct timeline timeline;
	struct output_delta delta;
	struct terminal_responder responder; /* answers queries to the terminal */
};

/* Creates the pipes, unless there is a TERMINAL, and puts the command's ends into STDIO[1] and STDIO[2]. Returns the
 * step that failed, with errno, or NULL. */
const char *capture_open(struct capture *capture, const struct request *request, const struct terminal *terminal,
			 int stdio[3]);

void capture_start_clock(struct capture *capture, int64_t start_unix_us, int64_t start_us);

/* Copies what is readable to the file, up to PUMP_MAX. */
void capture_pump(struct capture *capture, unsigned stream, int dirfd);

/* Copies everything that was in the pipes at the time of the call. Output written meanwhile does not delay it. */
void capture_drain(struct capture *capture, int dirfd);

void capture_flush(struct capture *capture, int dirfd);
void capture_close(struct capture *capture);

#endif
