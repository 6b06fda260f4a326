#ifndef SALLYPORT_FRESH_H
#define SALLYPORT_FRESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRESH_MAX 1024u

/* What was stored since watchers were last told, as long as it is little: whoever has read up to there needs no file to
 * go on. It is in the file by the time anybody hears of it. */
struct fresh {
	bool off;      /* there are two streams, or the disk refused something: the timeline has to be read */
	bool too_much;
	int64_t since_us;
	size_t length;
	char bytes[FRESH_MAX];
};

void fresh_reset(struct fresh *fresh);
void fresh_add(struct fresh *fresh, const char *bytes, size_t length, int64_t now_us);

/* Writes the members of a JSON object that tell of it, and their terminating NUL, into TEXT; nothing but that where
 * there is nothing to tell. */
#define FRESH_TEXT_MAX (2u * FRESH_MAX + 64u)
size_t fresh_format(const struct fresh *fresh, int64_t unix_ms, char text[FRESH_TEXT_MAX]);

#endif
