#ifndef SALLYPORT_CURSOR_H
#define SALLYPORT_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

/* The cursor of a terminal: just enough to answer a program that asks for its position. Positions start at 0. */
struct cursor {
	unsigned columns, rows;
	unsigned column, row;
	unsigned top, bottom; /* the scroll region, both inclusive */
	bool pending_wrap;    /* the last column is filled; the next character wraps */
	bool autowrap;
	unsigned saved_column, saved_row;
	uint32_t last; /* the last printed character, for REP */
};

void cursor_reset(struct cursor *cursor, unsigned columns, unsigned rows);
/* Resets the modes, the scroll region and the saved position. The cursor stays. */
void cursor_soft_reset(struct cursor *cursor);
void cursor_resize(struct cursor *cursor, unsigned columns, unsigned rows);

/* COUNT characters of one column each. */
void cursor_run(struct cursor *cursor, unsigned count);
void cursor_character(struct cursor *cursor, uint32_t character);

/* Backspace, tab, line feed, carriage return; other characters do not move it. */
void cursor_control(struct cursor *cursor, unsigned char control);

/* A plain escape: `7`, `8`, `D`, `E`, `M`. */
void cursor_escape(struct cursor *cursor, char final);

/* A control sequence without a private marker. A missing parameter is 0. */
void cursor_sequence(struct cursor *cursor, char final, const unsigned *parameters, unsigned count);

#endif
