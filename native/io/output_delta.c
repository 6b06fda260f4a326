#include "io/output_delta.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void output_delta_reset(struct output_delta *delta)
{
	delta->overflowed = false;
	delta->length = 0;
}

void output_delta_add(struct output_delta *delta, const char *bytes, size_t length, int64_t now_us)
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
