#ifndef SALLYPORT_TERMINAL_RESPONDER_H
#define SALLYPORT_TERMINAL_RESPONDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/cursor.h"

#define RESPONDER_MAX_PARAMETERS 16u
#define RESPONDER_MAX_STRING 96u  /* queries are far shorter */
#define RESPONDER_MAX_REPLY 4096u /* replies that fit at a time; further queries get none */

/* Programs query their terminal for its type, cursor position and colours, and may wait for the reply forever. A
 * session may run without any client, so the keeper replies like a plain xterm. */
struct terminal_responder {
	int state;
	char mark, intermediate; /* of the sequence being read */
	unsigned parameters[RESPONDER_MAX_PARAMETERS], count;
	bool digits, overlong;
	char string[RESPONDER_MAX_STRING], string_kind;
	unsigned string_length;
	uint32_t character; /* an incomplete UTF-8 character and its missing bytes */
	unsigned rest;
	struct cursor cursor;
	bool application_cursor, bracketed_paste;
	char reply[RESPONDER_MAX_REPLY]; /* for the caller to type and clear */
	size_t reply_length;
};

void terminal_responder_init(struct terminal_responder *responder, unsigned columns, unsigned rows);

/* Scans output of the command and appends replies to `reply`, for the caller to type and clear. */
void terminal_responder_scan(struct terminal_responder *responder, const char *bytes, size_t reply_length);

#endif
