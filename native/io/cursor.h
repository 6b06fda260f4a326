#ifndef SALLYPORT_CURSOR_H
#define SALLYPORT_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

/* Tracks the cursor of a terminal, to reply to programs that query its position. Positions start at 0. */
struct cursor {
	unsigned columns, rows;
	unsigned column, row;
	unsigned top, bottom; /* the scroll region, both inclusive */
	bool pending_wrap;    /* the last column is filled, so the next character wraps */
	bool autowrap;
	unsigned saved_column, saved_row;
	uint32_t last; /* the last printed character, for REP */
};

void cursor_reset(struct cursor *cursor, unsigned columns, unsigned rows);
/* Resets the modes, the scroll region and the saved position, but not the position of the cursor. */
void cursor_soft_reset(struct cursor *cursor);
void cursor_resize(struct cursor *cursor, unsigned columns, unsigned rows);

/* Prints COUNT characters of one column each. */
void cursor_run(struct cursor *cursor, unsigned count);
void cursor_character(struct cursor *cursor, uint32_t character);

/* Handles backspace, tab, line feed and carriage return. Other control characters do not move the cursor. */
void cursor_control(struct cursor *cursor, unsigned char control);

/* Handles the escape sequences `7`, `8`, `D`, `E` and `M`. */
void cursor_escape(struct cursor *cursor, char final);

/* Handles a control sequence without a private marker. A missing parameter is 0. */
void cursor_sequence(struct cursor *cursor, char final, const unsigned *parameters, unsigned count);

#endif
