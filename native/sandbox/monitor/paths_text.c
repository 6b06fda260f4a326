#include "sandbox/monitor/paths_text.h"

#include <stdio.h>
#include <string.h>

#define PATH_SHOWN_MAX 1024u

void paths_text_add(struct paths_text *paths, const char *path)
{
	char quoted[6 * PATH_SHOWN_MAX + 8];
	size_t length = 0, all = strlen(path);
	if (paths->length > 0)
		quoted[length++] = ',';
	quoted[length++] = '"';
	if (all > PATH_SHOWN_MAX) {
		path += all - PATH_SHOWN_MAX;
		while ((*path & 0xc0) == 0x80) /* a part of a UTF-8 character */
			path++;
		length += (size_t)snprintf(quoted + length, 4, "...");
	}
	for (; *path; path++) {
		unsigned char each = (unsigned char)*path;
		if (each < 0x20 || each == '"' || each == '\\' || each == 0x7f)
			length += (size_t)snprintf(quoted + length, 7, "\\u%04x", each);
		else
			quoted[length++] = (char)each;
	}
	quoted[length++] = '"';
	paths->count++;
	if (paths->length + length > sizeof paths->text)
		return;
	memcpy(paths->text + paths->length, quoted, length);
	paths->length += length;
}
