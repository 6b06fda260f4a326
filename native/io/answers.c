#include "io/answers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { GROUND, ESCAPED, SEQUENCE, STRING, STRING_ESCAPED, SKIP_ONE };

#define ESC "\033"

void answers_init(struct answers *answers, unsigned columns, unsigned rows)
{
	memset(answers, 0, sizeof *answers);
	cursor_reset(&answers->cursor, columns, rows);
}

__attribute__((format(printf, 2, 3))) static void say(struct answers *answers, const char *format, ...)
{
	va_list arguments;
	size_t room = sizeof answers->text - answers->length;
	va_start(arguments, format);
	int n = vsnprintf(answers->text + answers->length, room, format, arguments);
	va_end(arguments);
	if (n > 0 && (size_t)n < room)
		answers->length += (size_t)n;
}

static void report(struct answers *answers, unsigned what)
{
	const struct cursor *cursor = &answers->cursor;
	const char *mark = answers->mark == '?' ? "?" : "";
	if (what == 5 && !*mark)
		say(answers, ESC "[0n");
	else if (what == 6)
		say(answers, ESC "[%s%u;%uR", mark, cursor->row + 1, cursor->column + 1);
	else if (what == 996 && *mark) /* light or dark: dark, as the colours below */
		say(answers, ESC "[?997;1n");
}

static void set_modes(struct answers *answers, bool on)
{
	for (unsigned i = 0; i < answers->count; i++) {
		switch (answers->parameters[i]) {
		case 1: answers->application_cursor = on; break;
		case 7: answers->cursor.autowrap = on; break;
		case 1048:
		case 1049: cursor_escape(&answers->cursor, on ? '7' : '8'); break;
		case 2004: answers->bracketed_paste = on; break;
		default: break;
		}
	}
}

static void soft_reset(struct answers *answers)
{
	cursor_soft_reset(&answers->cursor);
	answers->application_cursor = answers->bracketed_paste = false;
}

static void reset(struct answers *answers)
{
	soft_reset(answers);
	cursor_reset(&answers->cursor, answers->cursor.columns, answers->cursor.rows);
}

static void private_sequence(struct answers *answers, char final)
{
	unsigned first = answers->parameters[0];
	if (answers->mark == '>' && final == 'c')
		say(answers, ESC "[>0;10;0c");
	else if (answers->mark == '=' && final == 'c')
		say(answers, ESC "P!|00000000" ESC "\\");
	else if (answers->mark == '>' && final == 'q')
		say(answers, ESC "P>|sallyport" ESC "\\");
	else if (answers->mark != '?')
		return;
	else if (final == 'h' || final == 'l')
		set_modes(answers, final == 'h');
	else if (final == 'n')
		report(answers, first);
}

static void end_sequence(struct answers *answers, char final)
{
	unsigned first = answers->parameters[0];
	if (answers->overlong)
		return;
	if (answers->intermediate) {
		if (answers->intermediate == '$' && final == 'p') /* is a mode set? It is not known here */
			say(answers, ESC "[%s%u;0$y", answers->mark == '?' ? "?" : "", first);
		else if (answers->intermediate == '!' && final == 'p')
			soft_reset(answers);
		return;
	}
	if (answers->mark) {
		private_sequence(answers, final);
		return;
	}
	switch (final) {
	case 'c':
		if (first == 0)
			say(answers, ESC "[?1;2c");
		break;
	case 'n': report(answers, first); break;
	case 't':
		if (first == 18)
			say(answers, ESC "[8;%u;%ut", answers->cursor.rows, answers->cursor.columns);
		break;
	default: cursor_sequence(&answers->cursor, final, answers->parameters, answers->count); break;
	}
}

/* The palette of xterm: 16 named colours, a cube of 6 a side, and greys. */
static unsigned colour(unsigned index)
{
	static const unsigned named[16] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
					   0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
	static const unsigned side[6] = {0, 95, 135, 175, 215, 255};
	if (index < 16)
		return named[index];
	if (index < 232) {
		index -= 16;
		return side[index / 36] << 16 | side[index / 6 % 6] << 8 | side[index % 6];
	}
	return (8 + (index - 232) * 10) * 0x010101;
}

static void say_colour(struct answers *answers, const char *what, unsigned rgb, const char *end)
{
	unsigned red = rgb >> 16 & 255, green = rgb >> 8 & 255, blue = rgb & 255;
	say(answers, ESC "]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", what, red, red, green, green, blue, blue, end);
}

/* END: questions are answered in the way they ended. */
static void end_string(struct answers *answers, const char *end)
{
	char *text = answers->string, what[16];
	text[answers->string_length] = '\0';
	if (answers->overlong)
		return;
	if (answers->string_kind == 'P') {
		if (strncmp(text, "$q", 2) == 0)
			say(answers, ESC "P0$r" ESC "\\"); /* a setting: not known here */
		else if (strncmp(text, "+q", 2) == 0)
			say(answers, ESC "P0+r" ESC "\\"); /* a capability: likewise */
	} else if (answers->string_kind == ']') {
		unsigned index;
		int used = 0;
		if (strcmp(text, "10;?") == 0 || strcmp(text, "12;?") == 0)
			say_colour(answers, text[1] == '0' ? "10" : "12", 0xe5e5e5, end);
		else if (strcmp(text, "11;?") == 0)
			say_colour(answers, "11", 0x000000, end);
		else if (sscanf(text, "4;%3u;?%n", &index, &used) == 1 && used > 0 && !text[used] && index < 256) {
			snprintf(what, sizeof what, "4;%u", index);
			say_colour(answers, what, colour(index), end);
		}
	}
}

static void begin_sequence(struct answers *answers)
{
	answers->state = SEQUENCE;
	answers->mark = answers->intermediate = '\0';
	answers->count = 0;
	answers->parameters[0] = 0;
	answers->digits = answers->overlong = false;
}

static void begin_string(struct answers *answers, char kind)
{
	answers->state = STRING;
	answers->string_kind = kind;
	answers->string_length = 0;
	answers->overlong = false;
}

static void escaped(struct answers *answers, char byte)
{
	answers->state = GROUND;
	if (byte == '[')
		begin_sequence(answers);
	else if (byte == ']' || byte == 'P' || byte == '_' || byte == '^' || byte == 'X')
		begin_string(answers, byte);
	else if (byte >= ' ' && byte <= '/')
		answers->state = SKIP_ONE; /* a character set, and the like */
	else if (byte == 'c')
		reset(answers);
	else
		cursor_escape(&answers->cursor, byte);
}

static void digit(struct answers *answers, unsigned value)
{
	if (!answers->digits) {
		answers->digits = true;
		answers->count += answers->count == 0;
	}
	unsigned *parameter = &answers->parameters[answers->count - 1];
	*parameter = *parameter < 100000 ? *parameter * 10 + value : *parameter;
}

static void in_sequence(struct answers *answers, char byte)
{
	if (byte >= '0' && byte <= '9') {
		digit(answers, (unsigned)(byte - '0'));
	} else if (byte == ';' || byte == ':') {
		answers->count += answers->count == 0;
		if (answers->count == ANSWERS_PARAMETERS) {
			answers->overlong = true;
			answers->count--;
		}
		answers->parameters[answers->count++] = 0;
		answers->digits = true;
	} else if (byte >= '<' && byte <= '?') {
		answers->mark = byte;
	} else if (byte >= ' ' && byte <= '/') {
		answers->intermediate = byte;
	} else if (byte >= '@' && byte <= '~') {
		answers->state = GROUND;
		end_sequence(answers, byte);
	} else {
		cursor_control(&answers->cursor, (unsigned char)byte); /* obeyed within a sequence, too */
	}
}

static void in_string(struct answers *answers, char byte)
{
	if (byte == '\a') {
		answers->state = GROUND;
		end_string(answers, "\a");
	} else if (answers->string_length + 1 < sizeof answers->string) {
		answers->string[answers->string_length++] = byte;
	} else {
		answers->overlong = true;
	}
}

/* A byte of a character, or one that is no UTF-8 and takes a column. */
static void in_character(struct answers *answers, unsigned char byte)
{
	if (answers->rest > 0 && (byte & 0xc0) == 0x80) {
		answers->character = answers->character << 6 | (byte & 0x3f);
		if (--answers->rest == 0)
			cursor_character(&answers->cursor, answers->character);
		return;
	}
	answers->rest = byte >= 0xf0 && byte < 0xf8 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0;
	answers->character = byte & (0x3fu >> answers->rest);
	if (byte >= 0xf8 || answers->rest == 0) {
		answers->rest = 0;
		cursor_run(&answers->cursor, 1);
	}
}

static void one(struct answers *answers, char byte)
{
	if (byte == '\030' || byte == '\032') {
		answers->state = GROUND;
		answers->rest = 0;
		return;
	}
	if (answers->state == STRING_ESCAPED) {
		answers->state = ESCAPED;
		if (byte == '\\') {
			answers->state = GROUND;
			end_string(answers, ESC "\\");
			return;
		}
	}
	if (byte == '\033') {
		answers->state = answers->state == STRING ? STRING_ESCAPED : ESCAPED;
		answers->rest = 0;
		return;
	}
	switch (answers->state) {
	case ESCAPED: escaped(answers, byte); break;
	case SEQUENCE: in_sequence(answers, byte); break;
	case STRING: in_string(answers, byte); break;
	case SKIP_ONE: answers->state = GROUND; break;
	default:
		if ((unsigned char)byte >= 0x80)
			in_character(answers, (unsigned char)byte);
		else {
			answers->rest = 0;
			cursor_control(&answers->cursor, (unsigned char)byte);
		}
		break;
	}
}

/* How many bytes from the start are plain ASCII text, eight at a time as far as they are all of that. */
static size_t plain_run(const char *bytes, size_t length)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	size_t run = 0;
	for (uint64_t word; run + sizeof word <= length; run += sizeof word) {
		memcpy(&word, bytes + run, sizeof word);
		/* The top bit of a byte is set where it was set, where the byte is below a space, and where it is DEL. */
		if ((word | (word - ones * ' ') | (word + ones)) & tops)
			break;
	}
	while (run < length && bytes[run] >= ' ' && bytes[run] <= '~')
		run++;
	return run;
}

void answers_read(struct answers *answers, const char *bytes, size_t length)
{
	for (size_t at = 0; at < length;) {
		/* Mostly it is plain text. */
		size_t run = answers->state == GROUND ? plain_run(bytes + at, length - at) : 0;
		if (run > 0) {
			answers->rest = 0;
			answers->cursor.last = (uint32_t)bytes[at + run - 1];
			cursor_run(&answers->cursor, (unsigned)run);
			at += run;
		} else {
			one(answers, bytes[at++]);
		}
	}
}
