#include "io/terminal_responder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { GROUND, ESCAPED, SEQUENCE, STRING, STRING_ESCAPED, SKIP_ONE };

#define ESC "\033"

void terminal_responder_init(struct terminal_responder *responder, unsigned columns, unsigned rows)
{
	memset(responder, 0, sizeof *responder);
	cursor_reset(&responder->cursor, columns, rows);
}

__attribute__((format(printf, 2, 3))) static void reply(struct terminal_responder *responder, const char *format, ...)
{
	va_list arguments;
	size_t room = sizeof responder->reply - responder->reply_length;
	va_start(arguments, format);
	int n = vsnprintf(responder->reply + responder->reply_length, room, format, arguments);
	va_end(arguments);
	if (n > 0 && (size_t)n < room)
		responder->reply_length += (size_t)n;
}

static void report_status(struct terminal_responder *responder, unsigned what)
{
	const struct cursor *cursor = &responder->cursor;
	const char *mark = responder->mark == '?' ? "?" : "";
	if (what == 5 && !*mark)
		reply(responder, ESC "[0n");
	else if (what == 6)
		reply(responder, ESC "[%s%u;%uR", mark, cursor->row + 1, cursor->column + 1);
	else if (what == 996 && *mark) /* color scheme: dark, like the colors below */
		reply(responder, ESC "[?997;1n");
}

static void set_modes(struct terminal_responder *responder, bool on)
{
	for (unsigned i = 0; i < responder->count; i++) {
		switch (responder->parameters[i]) {
		case 1: responder->application_cursor = on; break;
		case 7: responder->cursor.autowrap = on; break;
		case 1048:
		case 1049: cursor_escape(&responder->cursor, on ? '7' : '8'); break;
		case 2004: responder->bracketed_paste = on; break;
		default: break;
		}
	}
}

static void soft_reset(struct terminal_responder *responder)
{
	cursor_soft_reset(&responder->cursor);
	responder->application_cursor = responder->bracketed_paste = false;
}

static void reset(struct terminal_responder *responder)
{
	soft_reset(responder);
	cursor_reset(&responder->cursor, responder->cursor.columns, responder->cursor.rows);
}

static void private_sequence(struct terminal_responder *responder, char final)
{
	unsigned first = responder->parameters[0];
	if (responder->mark == '>' && final == 'c')
		reply(responder, ESC "[>0;10;0c");
	else if (responder->mark == '=' && final == 'c')
		reply(responder, ESC "P!|00000000" ESC "\\");
	else if (responder->mark == '>' && final == 'q')
		reply(responder, ESC "P>|sallyport" ESC "\\");
	else if (responder->mark != '?')
		return;
	else if (final == 'h' || final == 'l')
		set_modes(responder, final == 'h');
	else if (final == 'n')
		report_status(responder, first);
}

static void end_sequence(struct terminal_responder *responder, char final)
{
	unsigned first = responder->parameters[0];
	if (responder->overlong)
		return;
	if (responder->intermediate) {
		if (responder->intermediate == '$' && final == 'p') /* mode query: "not recognized" */
			reply(responder, ESC "[%s%u;0$y", responder->mark == '?' ? "?" : "", first);
		else if (responder->intermediate == '!' && final == 'p')
			soft_reset(responder);
		return;
	}
	if (responder->mark) {
		private_sequence(responder, final);
		return;
	}
	switch (final) {
	case 'c':
		if (first == 0)
			reply(responder, ESC "[?1;2c");
		break;
	case 'n': report_status(responder, first); break;
	case 't':
		if (first == 18)
			reply(responder, ESC "[8;%u;%ut", responder->cursor.rows, responder->cursor.columns);
		break;
	default: cursor_sequence(&responder->cursor, final, responder->parameters, responder->count); break;
	}
}

/* Returns a color of the xterm palette: 16 named colors, a 6x6x6 cube, and a gray scale. */
static unsigned color(unsigned index)
{
	static const unsigned named[16] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
					   0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
					   0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
	static const unsigned side[6] = {0, 95, 135, 175, 215, 255};
	if (index < 16)
		return named[index];
	if (index < 232) {
		index -= 16;
		return side[index / 36] << 16 | side[index / 6 % 6] << 8 | side[index % 6];
	}
	return (8 + (index - 232) * 10) * 0x010101;
}

static void reply_color(struct terminal_responder *responder, const char *what, unsigned rgb, const char *end)
{
	unsigned red = rgb >> 16 & 255, green = rgb >> 8 & 255, blue = rgb & 255;
	reply(responder, ESC "]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", what, red, red, green, green, blue, blue, end);
}

/* Handles a complete string sequence. END is its terminator, with which the reply ends as well. */
static void end_string(struct terminal_responder *responder, const char *end)
{
	char *text = responder->string, what[16];
	text[responder->string_length] = '\0';
	if (responder->overlong)
		return;
	if (responder->string_kind == 'P') {
		if (strncmp(text, "$q", 2) == 0)
			reply(responder, ESC "P0$r" ESC "\\"); /* settings are not tracked */
		else if (strncmp(text, "+q", 2) == 0)
			reply(responder, ESC "P0+r" ESC "\\"); /* terminfo capabilities are not supported */
	} else if (responder->string_kind == ']') {
		unsigned index;
		int used = 0;
		if (strcmp(text, "10;?") == 0 || strcmp(text, "12;?") == 0)
			reply_color(responder, text[1] == '0' ? "10" : "12", 0xe5e5e5, end);
		else if (strcmp(text, "11;?") == 0)
			reply_color(responder, "11", 0x000000, end);
		else if (sscanf(text, "4;%3u;?%n", &index, &used) == 1 && used > 0 && !text[used] && index < 256) {
			snprintf(what, sizeof what, "4;%u", index);
			reply_color(responder, what, color(index), end);
		}
	}
}

static void begin_sequence(struct terminal_responder *responder)
{
	responder->state = SEQUENCE;
	responder->mark = responder->intermediate = '\0';
	responder->count = 0;
	responder->parameters[0] = 0;
	responder->digits = responder->overlong = false;
}

static void begin_string(struct terminal_responder *responder, char kind)
{
	responder->state = STRING;
	responder->string_kind = kind;
	responder->string_length = 0;
	responder->overlong = false;
}

static void after_escape(struct terminal_responder *responder, char byte)
{
	responder->state = GROUND;
	if (byte == '[')
		begin_sequence(responder);
	else if (byte == ']' || byte == 'P' || byte == '_' || byte == '^' || byte == 'X')
		begin_string(responder, byte);
	else if (byte >= ' ' && byte <= '/')
		responder->state = SKIP_ONE; /* the selection of a character set, for example */
	else if (byte == 'c')
		reset(responder);
	else
		cursor_escape(&responder->cursor, byte);
}

static void digit(struct terminal_responder *responder, unsigned value)
{
	if (!responder->digits) {
		responder->digits = true;
		responder->count += responder->count == 0;
	}
	unsigned *parameter = &responder->parameters[responder->count - 1];
	*parameter = *parameter < 100000 ? *parameter * 10 + value : *parameter;
}

static void in_sequence(struct terminal_responder *responder, char byte)
{
	if (byte >= '0' && byte <= '9') {
		digit(responder, (unsigned)(byte - '0'));
	} else if (byte == ';' || byte == ':') {
		responder->count += responder->count == 0;
		if (responder->count == RESPONDER_MAX_PARAMETERS) {
			responder->overlong = true;
			responder->count--;
		}
		responder->parameters[responder->count++] = 0;
		responder->digits = true;
	} else if (byte >= '<' && byte <= '?') {
		responder->mark = byte;
	} else if (byte >= ' ' && byte <= '/') {
		responder->intermediate = byte;
	} else if (byte >= '@' && byte <= '~') {
		responder->state = GROUND;
		end_sequence(responder, byte);
	} else {
		cursor_control(&responder->cursor, (unsigned char)byte); /* control characters act within a sequence */
	}
}

static void in_string(struct terminal_responder *responder, char byte)
{
	if (byte == '\a') {
		responder->state = GROUND;
		end_string(responder, "\a");
	} else if (responder->string_length + 1 < sizeof responder->string) {
		responder->string[responder->string_length++] = byte;
	} else {
		responder->overlong = true;
	}
}

/* Handles a byte of a UTF-8 character, or an invalid byte, which takes one column. */
static void in_character(struct terminal_responder *responder, unsigned char byte)
{
	if (responder->rest > 0 && (byte & 0xc0) == 0x80) {
		responder->character = responder->character << 6 | (byte & 0x3f);
		if (--responder->rest == 0)
			cursor_character(&responder->cursor, responder->character);
		return;
	}
	responder->rest = byte >= 0xf0 && byte < 0xf8 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0;
	responder->character = byte & (0x3fu >> responder->rest);
	if (byte >= 0xf8 || responder->rest == 0) {
		responder->rest = 0;
		cursor_run(&responder->cursor, 1);
	}
}

static void scan_byte(struct terminal_responder *responder, char byte)
{
	if (byte == '\030' || byte == '\032') {
		responder->state = GROUND;
		responder->rest = 0;
		return;
	}
	if (responder->state == STRING_ESCAPED) {
		responder->state = ESCAPED;
		if (byte == '\\') {
			responder->state = GROUND;
			end_string(responder, ESC "\\");
			return;
		}
	}
	if (byte == '\033') {
		responder->state = responder->state == STRING ? STRING_ESCAPED : ESCAPED;
		responder->rest = 0;
		return;
	}
	switch (responder->state) {
	case ESCAPED: after_escape(responder, byte); break;
	case SEQUENCE: in_sequence(responder, byte); break;
	case STRING: in_string(responder, byte); break;
	case SKIP_ONE: responder->state = GROUND; break;
	default:
		if ((unsigned char)byte >= 0x80)
			in_character(responder, (unsigned char)byte);
		else {
			responder->rest = 0;
			cursor_control(&responder->cursor, (unsigned char)byte);
		}
		break;
	}
}

/* Returns the number of printable ASCII bytes at the start. Checks eight bytes at a time as long as all are printable.
 * */
static size_t plain_run(const char *bytes, size_t length)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	size_t run = 0;
	for (uint64_t word; run + sizeof word <= length; run += sizeof word) {
		memcpy(&word, bytes + run, sizeof word);
		/* The top bit of a byte becomes set if it was set, if the byte is below a space, or if it is DEL. */
		if ((word | (word - ones * ' ') | (word + ones)) & tops)
			break;
	}
	while (run < length && bytes[run] >= ' ' && bytes[run] <= '~')
		run++;
	return run;
}

void terminal_responder_scan(struct terminal_responder *responder, const char *bytes, size_t length)
{
	for (size_t at = 0; at < length;) {
		/* Most output is plain text, which is skipped quickly. */
		size_t run = responder->state == GROUND ? plain_run(bytes + at, length - at) : 0;
		if (run > 0) {
			responder->rest = 0;
			responder->cursor.last = (uint32_t)bytes[at + run - 1];
			cursor_run(&responder->cursor, (unsigned)run);
			at += run;
		} else {
			scan_byte(responder, bytes[at++]);
		}
	}
}
