#ifndef SALLYPORT_OUTPUT_DELTA_H
#define SALLYPORT_OUTPUT_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
void output_delta_add(struct output_delta *delta, const char *bytes, size_t length, int64_t now_us);

/* Writes the members of a JSON object that tell of it, and their terminating NUL, into TEXT; nothing but that where
 * there is nothing to tell. */
#define OUTPUT_DELTA_TEXT_MAX (2u * OUTPUT_DELTA_MAX + 64u)
size_t output_delta_format(const struct output_delta *delta, int64_t unix_ms, char text[OUTPUT_DELTA_TEXT_MAX]);

#endif
