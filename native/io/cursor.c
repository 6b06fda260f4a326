#include "io/cursor.h"

#include <stddef.h>

#define TAB_WIDTH 8u
#define MAX_REPEATS 65535u

struct range {
	uint32_t first, last;
};

/* The Unicode blocks that are relevant for prompts and for programs that print a character to measure its width. */
static const struct range zero_width[] = {
	{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},   {0x0900, 0x0902},
	{0x093a, 0x093a}, {0x093c, 0x093c}, {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e31, 0x0e31},   {0x0e34, 0x0e3a},
	{0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e},   {0x2060, 0x2064},
	{0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
};
static const struct range double_width[] = {
	{0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},   {0x23f0, 0x23f0},
	{0x23f3, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},
	{0x2693, 0x2693},   {0x26a1, 0x26a1},   {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},
	{0x26ce, 0x26ce},   {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},
	{0x26fa, 0x26fa},   {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},
	{0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
	{0x27b0, 0x27b0},   {0x27bf, 0x27bf},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},
	{0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97f},
	{0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
	{0xffe0, 0xffe6},   {0x16fe0, 0x18cff}, {0x1b000, 0x1b2ff}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
	{0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c},
	{0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4},
	{0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e},
	{0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f},
	{0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6d7}, {0x1f6dc, 0x1f6df},
	{0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945},
	{0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};

static bool is_in(uint32_t character, const struct range *ranges, size_t count)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (character > ranges[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && character >= ranges[low].first;
}

static unsigned width_of(uint32_t character)
{
	if (character < 0x300)
		return 1;
	if (is_in(character, zero_width, sizeof zero_width / sizeof *zero_width))
		return 0;
	return is_in(character, double_width, sizeof double_width / sizeof *double_width) ? 2 : 1;
}

static unsigned min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

void cursor_reset(struct cursor *cursor, unsigned columns, unsigned rows)
{
	*cursor = (struct cursor){.columns = columns, .rows = rows, .bottom = rows - 1, .autowrap = true};
}

void cursor_soft_reset(struct cursor *cursor)
{
	unsigned column = cursor->column, row = cursor->row;
	cursor_reset(cursor, cursor->columns, cursor->rows);
	cursor->column = column;
	cursor->row = row;
}

void cursor_resize(struct cursor *cursor, unsigned columns, unsigned rows)
{
	cursor->columns = columns;
	cursor->rows = rows;
	cursor->top = 0;
	cursor->bottom = rows - 1;
	cursor->column = min(cursor->column, columns - 1);
	cursor->row = min(cursor->row, rows - 1);
	cursor->pending_wrap = false;
}

static void move_down(struct cursor *cursor, unsigned count)
{
	/* A cursor in or above the scroll region stops at the end of the region, one below it at the last row. */
	unsigned last = cursor->row <= cursor->bottom ? cursor->bottom : cursor->rows - 1;
	cursor->row = count < last - cursor->row ? cursor->row + count : last;
	cursor->pending_wrap = false;
}

static void move_up(struct cursor *cursor, unsigned count)
{
	unsigned first = cursor->row >= cursor->top ? cursor->top : 0;
	cursor->row = count < cursor->row - first ? cursor->row - count : first;
	cursor->pending_wrap = false;
}

static void move_to(struct cursor *cursor, unsigned column, unsigned row)
{
	cursor->column = min(column, cursor->columns - 1);
	cursor->row = min(row, cursor->rows - 1);
	cursor->pending_wrap = false;
}

/* Prints COUNT characters of WIDTH columns each. Takes constant time, because a sequence of eight bytes can repeat a
 * character 65535 times. */
static void print(struct cursor *cursor, unsigned width, unsigned count)
{
	width = min(width, cursor->columns);
	unsigned fits = cursor->pending_wrap ? 0 : (cursor->columns - cursor->column) / width;
	if (count > fits && !cursor->autowrap) {
		move_to(cursor, cursor->columns - 1, cursor->row);
		return;
	}
	if (count > fits) {
		unsigned in_line = cursor->columns / width, lines = (count - fits - 1) / in_line + 1;
		count -= fits + (lines - 1) * in_line;
		cursor->column = 0;
		move_down(cursor, lines);
	}
	cursor->column += count * width;
	if (cursor->column == cursor->columns) {
		cursor->column--;
		cursor->pending_wrap = cursor->autowrap;
	}
}

void cursor_run(struct cursor *cursor, unsigned count)
{
	print(cursor, 1, count);
}

void cursor_character(struct cursor *cursor, uint32_t character)
{
	unsigned width = width_of(character);
	cursor->last = character;
	if (width > 0)
		print(cursor, width, 1);
}

void cursor_control(struct cursor *cursor, unsigned char control)
{
	switch (control) {
	case '\b':
		cursor->column -= cursor->column > 0;
		cursor->pending_wrap = false;
		break;
	case '\t': move_to(cursor, (cursor->column / TAB_WIDTH + 1) * TAB_WIDTH, cursor->row); break;
	case '\n':
	case '\v':
	case '\f': move_down(cursor, 1); break;
	case '\r': move_to(cursor, 0, cursor->row); break;
	default: break;
	}
}

void cursor_escape(struct cursor *cursor, char final)
{
	switch (final) {
	case '7':
		cursor->saved_column = cursor->column;
		cursor->saved_row = cursor->row;
		break;
	case '8': move_to(cursor, cursor->saved_column, cursor->saved_row); break;
	case 'D': move_down(cursor, 1); break;
	case 'E':
		cursor->column = 0;
		move_down(cursor, 1);
		break;
	case 'M': move_up(cursor, 1); break;
	default: break;
	}
}

static void set_region(struct cursor *cursor, unsigned top, unsigned bottom)
{
	if (bottom == 0 || bottom > cursor->rows)
		bottom = cursor->rows;
	if (top == 0)
		top = 1;
	if (top >= bottom)
		return;
	cursor->top = top - 1;
	cursor->bottom = bottom - 1;
	move_to(cursor, 0, 0);
}

static void repeat(struct cursor *cursor, unsigned times)
{
	unsigned width = cursor->last ? width_of(cursor->last) : 0;
	if (width > 0)
		print(cursor, width, min(times, MAX_REPEATS));
}

void cursor_sequence(struct cursor *cursor, char final, const unsigned *parameters, unsigned count)
{
	unsigned first = count > 0 ? parameters[0] : 0, second = count > 1 ? parameters[1] : 0;
	unsigned amount = first ? first : 1, column = cursor->column, row = cursor->row;
	switch (final) {
	case 'A': move_up(cursor, amount); break;
	case 'B': move_down(cursor, amount); break;
	case 'e': move_to(cursor, column, row + amount); break;
	case 'a':
	case 'C': move_to(cursor, column + amount, row); break;
	case 'D': move_to(cursor, amount < column ? column - amount : 0, row); break;
	case 'E':
		cursor->column = 0;
		move_down(cursor, amount);
		break;
	case 'F':
		cursor->column = 0;
		move_up(cursor, amount);
		break;
	case '`':
	case 'G': move_to(cursor, amount - 1, row); break;
	case 'd': move_to(cursor, column, amount - 1); break;
	case 'H':
	case 'f': move_to(cursor, second ? second - 1 : 0, amount - 1); break;
	case 'I': move_to(cursor, (column / TAB_WIDTH + min(amount, cursor->columns)) * TAB_WIDTH, row); break;
	case 'Z': {
		unsigned stops = (column + TAB_WIDTH - 1) / TAB_WIDTH;
		move_to(cursor, (amount < stops ? stops - amount : 0) * TAB_WIDTH, row);
		break;
	}
	case 'L': /* insert or delete lines, in the scroll region only */
	case 'M':
		if (row >= cursor->top && row <= cursor->bottom)
			move_to(cursor, 0, row);
		break;
	case '@': /* insert, delete or erase characters */
	case 'P':
	case 'X': cursor->pending_wrap = false; break;
	case 'b': repeat(cursor, amount); break;
	case 'r': set_region(cursor, first, second); break;
	case 's': cursor_escape(cursor, '7'); break;
	case 'u': cursor_escape(cursor, '8'); break;
	default: break;
	}
}
