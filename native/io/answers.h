#ifndef SALLYPORT_ANSWERS_H
#define SALLYPORT_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/cursor.h"

#define ANSWERS_PARAMETERS 16u
#define ANSWERS_STRING 96u /* the longest question is far shorter */
#define ANSWERS_MAX 4096u  /* a flood of questions is answered as far as this at a time */

/* Programs ask their terminal what it is, where the cursor stands, which colours it has, and may wait for the answer for
 * ever. Nobody need be attached for a session to go on, so the keeper answers, as a plain xterm would. */
struct answers {
	int state;
	char mark, intermediate;      /* of the sequence being read */
	unsigned parameters[ANSWERS_PARAMETERS], count;
	bool digits, overlong;
	char string[ANSWERS_STRING], string_kind;
	unsigned string_length;
	uint32_t character;           /* a character of several bytes, and how many are to come */
	unsigned rest;
	struct cursor cursor;
	bool application_cursor, bracketed_paste;
	char text[ANSWERS_MAX];       /* to be typed, once */
	size_t length;
};

void answers_init(struct answers *answers, unsigned columns, unsigned rows);

/* Looks through what the command wrote. What there is to say is added to `text`, for the caller to type and clear. */
void answers_read(struct answers *answers, const char *bytes, size_t length);

#endif
