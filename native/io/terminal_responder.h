#ifndef SALLYPORT_TERMINAL_RESPONDER_H
#define SALLYPORT_TERMINAL_RESPONDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/cursor.h"

#define RESPONDER_MAX_PARAMETERS 16u
#define RESPONDER_MAX_STRING 96u  /* the longest question is far shorter */
#define RESPONDER_MAX_REPLY 4096u /* a flood of questions is answered as far as this at a time */

/* Programs ask their terminal what it is, where the cursor stands, which colours it has, and may wait for the answer for
 * ever. Nobody need be attached for a session to go on, so the keeper answers, as a plain xterm would. */
struct terminal_responder {
	int state;
	char mark, intermediate; /* of the sequence being read */
	unsigned parameters[RESPONDER_MAX_PARAMETERS], count;
	bool digits, overlong;
	char string[RESPONDER_MAX_STRING], string_kind;
	unsigned string_length;
	uint32_t character; /* a character of several bytes, and how many are to come */
	unsigned rest;
	struct cursor cursor;
	bool application_cursor, bracketed_paste;
	char reply[RESPONDER_MAX_REPLY]; /* to be typed, once */
	size_t reply_length;
};

void terminal_responder_init(struct terminal_responder *responder, unsigned columns, unsigned rows);

/* Looks through what the command wrote. What there is to say is added to `text`, for the caller to type and clear. */
void terminal_responder_scan(struct terminal_responder *responder, const char *bytes, size_t reply_length);

#endif
