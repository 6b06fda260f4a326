#ifndef SALLYPORT_TERMINAL_RESPONDER_H
#define SALLYPORT_TERMINAL_RESPONDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/cursor.h"

#define RESPONDER_MAX_PARAMETERS 16u
#define RESPONDER_MAX_STRING 96u  /* longer than any query that is answered */
#define RESPONDER_MAX_REPLY 4096u /* size of the reply buffer; queries whose reply does not fit are ignored */

/* Replies to terminal queries. Programs query their terminal for its type, cursor position and colors, and may wait
 * forever for the reply. A session may run without any client, so the keeper replies like a plain xterm. */
struct terminal_responder {
	int state;
	char mark, intermediate; /* private marker and intermediate byte of the current sequence */
	unsigned parameters[RESPONDER_MAX_PARAMETERS], count;
	bool digits, overlong;
	char string[RESPONDER_MAX_STRING], string_kind;
	unsigned string_length;
	uint32_t character; /* incomplete UTF-8 character */
	unsigned rest;      /* number of its missing bytes */
	struct cursor cursor;
	bool application_cursor, bracketed_paste;
	char reply[RESPONDER_MAX_REPLY]; /* replies, which the caller types and then clears */
	size_t reply_length;
};

void terminal_responder_init(struct terminal_responder *responder, unsigned columns, unsigned rows);

/* Scans output of the command and appends replies to `reply`. */
void terminal_responder_scan(struct terminal_responder *responder, const char *bytes, size_t reply_length);

#endif
