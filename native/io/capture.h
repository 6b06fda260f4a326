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

/* What was stored since watchers were last told, as long as it is little: whoever has read up to there needs no file to
 * go on. It is in the file by the time anybody hears of it. */
struct output_delta {
	bool disabled; /* there are two streams, or the disk refused something: the timeline has to be read */
	bool overflowed;
	int64_t since_us;
	size_t length;
	char bytes[OUTPUT_DELTA_MAX];
};

void output_delta_reset(struct output_delta *delta);

/* Writes the members of a JSON object that tell of it, and their terminating NUL, into TEXT; nothing but that where
 * there is nothing to tell. */
#define OUTPUT_DELTA_TEXT_MAX (2u * OUTPUT_DELTA_MAX + 64u)
size_t output_delta_format(const struct output_delta *delta, int64_t unix_ms, char text[OUTPUT_DELTA_TEXT_MAX]);

/* From the command's pipes or its terminal to the session's files: one stream each for stdout and stderr, or one for both. */
struct capture {
	unsigned count;
	int pipes[2]; /* read ends; -1: at its end */
	bool widened[2];
	bool from_terminal;
	const char *names[2];
	struct stream_file streams[2];
	struct stream_file log; /* the plain merged log a caller asked for */
	bool has_log;
	struct timeline timeline;
	struct output_delta delta;
	struct terminal_responder responder; /* to what was asked of the terminal */
};

/* Makes the pipes, unless there is a TERMINAL; the command's ends go into STDIO[1] and STDIO[2]. Returns the step that
 * failed, with errno, or NULL. */
const char *capture_open(struct capture *capture, const struct request *request, const struct terminal *terminal,
			 int stdio[3]);

void capture_start_clock(struct capture *capture, int64_t start_unix_us, int64_t start_us);

/* Moves what a readable pipe holds to its file, up to a fair share. */
void capture_pump(struct capture *capture, unsigned stream, int dirfd);

/* Moves everything that was in the pipes when called. A flood written meanwhile does not hold it up. */
void capture_drain(struct capture *capture, int dirfd);

void capture_flush(struct capture *capture, int dirfd);
void capture_close(struct capture *capture);

#endif
