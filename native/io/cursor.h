#ifndef SALLYPORT_CURSOR_H
#define SALLYPORT_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

/* Where the cursor of a terminal stands: as much of a terminal as is needed to answer when a program asks for it.
 * Positions count from 0. */
struct cursor {
	unsigned columns, rows;
	unsigned column, row;
	unsigned top, bottom; /* the region that scrolls, both inclusive */
	bool pending_wrap;    /* the last column is filled, and the next character goes to the next line */
	bool autowrap;
	unsigned saved_column, saved_row;
	uint32_t last; /* the character printed last, for those that repeat it */
};

void cursor_reset(struct cursor *cursor, unsigned columns, unsigned rows);
/* Resets the modes, the scroll region and the saved position. The cursor stays. */
void cursor_soft_reset(struct cursor *cursor);
void cursor_resize(struct cursor *cursor, unsigned columns, unsigned rows);

/* COUNT characters of one column each. */
void cursor_run(struct cursor *cursor, unsigned count);
void cursor_character(struct cursor *cursor, uint32_t character);

/* Backspace, tab, line feed, carriage return; others do not move it. */
void cursor_control(struct cursor *cursor, unsigned char control);

/* A plain escape: `7`, `8`, `D`, `E`, `M`. */
void cursor_escape(struct cursor *cursor, char final);

/* A control sequence without a private mark. A parameter left out is 0. */
void cursor_sequence(struct cursor *cursor, char final, const unsigned *parameters, unsigned count);

#endif
