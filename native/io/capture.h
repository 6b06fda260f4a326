#ifndef SALLYPORT_CAPTURE_H
#define SALLYPORT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/log_file.h"
#include "io/pty.h"
#include "io/stream_file.h"
#include "io/terminal_responder.h"
#include "io/timeline.h"
#include "ipc/request.h"

#define OUTPUT_DELTA_MAX 1024u

/* Output since the last event, as long as it is small. It is included in the next event, so that a watcher that is up
 * to date does not have to read the file. It is stored in the file before any watcher is notified. */
struct output_delta {
	bool disabled; /* there are two streams or a write failed, so watchers must read the timeline */
	bool overflowed;
	int64_t since_us;
	size_t length;
	char bytes[OUTPUT_DELTA_MAX];
};

void output_delta_reset(struct output_delta *delta);

/* Formats the delta as members of a JSON object. The text is NUL-terminated, and empty if there is no usable delta. */
#define OUTPUT_DELTA_TEXT_MAX (2u * OUTPUT_DELTA_MAX + 64u)
size_t output_delta_format(const struct output_delta *delta, int64_t unix_ms, char text[OUTPUT_DELTA_TEXT_MAX]);

/* Copies output from the pipes or the terminal of a command to the files of its session: one stream each for stdout and
 * stderr, or one stream for both. */
struct capture {
	unsigned count;
	int pipes[2]; /* read ends, or -1 after the end of file */
	bool widened[2];
	bool from_terminal;
	const char *names[2];
	struct stream_file streams[2];
	struct log_file log; /* the log file named in the request, with the output of both streams */
	struct timeline timeline;
	struct output_delta delta;
	struct terminal_responder responder; /* replies to terminal queries */
};

/* Creates pipes, unless there is a TERMINAL, and stores the command's ends in STDIO[1] and STDIO[2]. Returns NULL, or
 * the step that failed with errno set. */
const char *capture_open(struct capture *capture, const struct request *request, const struct terminal *terminal,
			 int stdio[3]);

void capture_start_clock(struct capture *capture, int64_t start_unix_us, int64_t start_us);

/* Copies available output to the file, up to PUMP_MAX bytes. */
void capture_pump(struct capture *capture, unsigned stream, int dirfd);

/* Copies all output that is in the pipes at the time of the call. Output written during the call does not prolong it.
 * */
void capture_drain(struct capture *capture, int dirfd);

void capture_flush(struct capture *capture, int dirfd);
void capture_close(struct capture *capture);

#endif
