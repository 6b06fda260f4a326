#include "io/fresh.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void fresh_reset(struct fresh *fresh)
{
	fresh->too_much = false;
	fresh->length = 0;
}

void fresh_add(struct fresh *fresh, const char *bytes, size_t length, int64_t now_us)
{
	if (fresh->off || fresh->too_much)
		return;
	if (length > FRESH_MAX - fresh->length) {
		fresh->too_much = true;
		return;
	}
	if (fresh->length == 0)
		fresh->since_us = now_us;
	memcpy(fresh->bytes + fresh->length, bytes, length);
	fresh->length += length;
}

size_t fresh_format(const struct fresh *fresh, int64_t unix_ms, char text[FRESH_TEXT_MAX])
{
	static const char digits[] = "0123456789abcdef";
	text[0] = '\0';
	if (fresh->off || fresh->too_much || fresh->length == 0)
		return 0;
	size_t at = (size_t)snprintf(text, FRESH_TEXT_MAX, ",\"ms\":%" PRId64 ",\"fresh\":\"", unix_ms);
	for (size_t i = 0; i < fresh->length; i++) {
		unsigned char byte = (unsigned char)fresh->bytes[i];
		text[at++] = digits[byte >> 4];
		text[at++] = digits[byte & 15];
	}
	text[at++] = '"';
	text[at] = '\0';
	return at;
}
