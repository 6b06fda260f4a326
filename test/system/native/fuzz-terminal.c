/* Feeds hostile terminal output to the keeper's terminal parser and checks invariants for every input. Built with the
 * sanitizers by terminal-fuzz.test.ts, or as a libFuzzer target with -DLIBFUZZER.
 *
 * usage: fuzz-terminal SEED COUNT SECONDS CORPUS
 *   runs the corpus, then COUNT generated inputs, then more until SECONDS have passed; prints the number of inputs and
 *   answers. On failure it prints the input as a line for the corpus.
 *
 * An input is the size of the window (u16 columns, u16 rows) and the output of a command. RESIZE in the output,
 * followed by a size, resizes the window at that point. A corpus line is `COLUMNSxROWS TEXT`, with \e, \n, \\, \xNN and
 * \{COLUMNSxROWS}. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io/cursor.h"
#include "io/terminal_responder.h"

#define INPUT_MAX 4096u
#define FLOOD (256u << 10)    /* as much as the keeper reads at once */
#define FLOOD_SECONDS 3.0     /* limit with the sanitizers; usually 0.1 s */
#define RESIZE "\xff\xfe"     /* never part of valid UTF-8 */
#define RESIZE_LENGTH 6u      /* RESIZE and two u16 */
#define RUNS 3                /* in one piece, byte by byte, in pieces of random length */

extern void __sanitizer_set_death_callback(void (*callback)(void));

static uint8_t input[INPUT_MAX];
static size_t input_length;
static unsigned long long state, inputs, answered;

static unsigned below(unsigned limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return limit ? (unsigned)(state >> 11) % limit : 0;
}

static unsigned u16(const uint8_t *bytes)
{
	return bytes[0] | (unsigned)bytes[1] << 8;
}

/* Returns a window dimension of at least 1, because the keeper rejects 0. */
static unsigned side(const uint8_t *bytes)
{
	unsigned value = u16(bytes);
	return value ? value : 1;
}

static void print_input(void)
{
	fprintf(stderr, "\ninput: %ux%u ", side(input), side(input + 2));
	for (size_t at = 4; at < input_length; at++) {
		if (at + RESIZE_LENGTH <= input_length && memcmp(input + at, RESIZE, 2) == 0) {
			fprintf(stderr, "\\{%ux%u}", side(input + at + 2), side(input + at + 4));
			at += RESIZE_LENGTH - 1;
		} else if (input[at] == '\033') {
			fputs("\\e", stderr);
		} else if (input[at] == '\n') {
			fputs("\\n", stderr);
		} else if (input[at] == '\\') {
			fputs("\\\\", stderr);
		} else if (input[at] >= ' ' && input[at] <= '~') {
			fputc(input[at], stderr);
		} else {
			fprintf(stderr, "\\x%02x", input[at]);
		}
	}
	fputc('\n', stderr);
}

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("fuzz-terminal: ", stderr);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	print_input();
	abort();
}

/* Skips the bytes of SET. */
static const char *skip(const char *at, const char *end, const char *set)
{
	while (at < end && *at && strchr(set, *at))
		at++;
	return at;
}

static const char *string_end(const char *at, const char *end)
{
	if (at < end && *at == '\a')
		return at + 1;
	return end - at >= 2 && at[0] == '\033' && at[1] == '\\' ? at + 2 : NULL;
}

/* Returns the end of one complete answer, or NULL. Answers are typed into the stdin of the program, which may be a
 * shell, so they must not contain line ends or text that the program chose. */
static const char *one_answer(const char *at, const char *end)
{
	static const char digits[] = "0123456789";
	if (end - at < 3 || *at++ != '\033')
		return NULL;
	switch (*at++) {
	case '[':
		at = skip(at, end, "?>");
		at = skip(at, end, "0123456789;");
		at = skip(at, end, "$");
		return at < end && strchr("Rncty", *at) ? at + 1 : NULL;
	case 'P':
		at = skip(at, end, "01!|>$+rsalypot");
		return at < end && *at == '\033' ? string_end(at, end) : NULL;
	case ']':
		at = skip(at, end, digits);
		at = skip(at, end, "0123456789;");
		if (end - at < 4 || memcmp(at, "rgb:", 4) != 0)
			return NULL;
		return string_end(skip(at + 4, end, "0123456789abcdef/"), end);
	default: return NULL;
	}
}

static void check(const struct terminal_responder *responder, unsigned columns, unsigned rows)
{
	const struct cursor *cursor = &responder->cursor;
	if (cursor->columns != columns || cursor->rows != rows)
		fail("the size is %ux%u", cursor->columns, cursor->rows);
	if (cursor->column >= columns || cursor->row >= rows)
		fail("the cursor is at %u,%u, outside the screen", cursor->column, cursor->row);
	if (cursor->top > cursor->bottom || cursor->bottom >= rows)
		fail("the scroll region is %u to %u", cursor->top, cursor->bottom);
	if (cursor->pending_wrap && cursor->column != columns - 1)
		fail("a wrap is pending in column %u", cursor->column);
	if (responder->count > RESPONDER_MAX_PARAMETERS || responder->string_length >= RESPONDER_MAX_STRING || responder->rest > 3)
		fail("a counter is out of bounds");
	if (responder->reply_length >= RESPONDER_MAX_REPLY)
		fail("%zu bytes of answers", responder->reply_length);
	const char *at = responder->reply, *end = at + responder->reply_length;
	while (at && at < end)
		at = one_answer(at, end);
	if (!at)
		fail("malformed answer in: %.*s", (int)responder->reply_length, responder->reply);
}

static bool same(const struct terminal_responder *a, const struct terminal_responder *b)
{
	const struct cursor *one = &a->cursor, *other = &b->cursor;
	return one->column == other->column && one->row == other->row && one->top == other->top &&
	       one->bottom == other->bottom && one->pending_wrap == other->pending_wrap && one->autowrap == other->autowrap &&
	       one->saved_column == other->saved_column && one->saved_row == other->saved_row &&
	       one->last == other->last && a->state == b->state && a->rest == b->rest &&
	       a->application_cursor == b->application_cursor && a->bracketed_paste == b->bracketed_paste &&
	       a->reply_length == b->reply_length && memcmp(a->reply, b->reply, a->reply_length) == 0;
}

/* Feeds a copy of the exact size to the parser, so that the sanitizer detects a read past the end. */
static void read_copy(struct terminal_responder *responder, const uint8_t *bytes, size_t length)
{
	char *copy = malloc(length ? length : 1);
	memcpy(copy, bytes, length);
	terminal_responder_scan(responder, copy, length);
	free(copy);
}

static void feed(struct terminal_responder *responder, int run, const uint8_t *bytes, size_t length)
{
	for (size_t at = 0; at < length;) {
		size_t piece = run == 0 ? length : run == 1 ? 1 : 1 + below(below(8) ? 12 : 400);
		if (piece > length - at)
			piece = length - at;
		read_copy(responder, bytes + at, piece);
		at += piece;
	}
}

/* Returns the length of the output up to the next resize. */
static size_t segment(const uint8_t *bytes, size_t length)
{
	for (size_t at = 0; at + RESIZE_LENGTH <= length; at++)
		if (memcmp(bytes + at, RESIZE, 2) == 0)
			return at;
	return length;
}

static void run_input(void)
{
	static struct terminal_responder runs[RUNS];
	if (input_length < 4)
		return;
	unsigned columns = side(input), rows = side(input + 2);
	size_t at = 4;
	for (int run = 0; run < RUNS; run++)
		terminal_responder_init(&runs[run], columns, rows);
	while (at < input_length) {
		size_t length = segment(input + at, input_length - at);
		for (int run = 0; run < RUNS; run++) {
			feed(&runs[run], run, input + at, length);
			check(&runs[run], columns, rows);
			if (!same(&runs[0], &runs[run]))
				fail("the result depends on how the output is split (%s)",
				     run == 1 ? "byte by byte" : "random pieces");
		}
		at += length;
		if (at < input_length) {
			columns = side(input + at + 2);
			rows = side(input + at + 4);
			at += RESIZE_LENGTH;
			for (int run = 0; run < RUNS; run++)
				cursor_resize(&runs[run].cursor, columns, rows);
			check(&runs[0], columns, rows);
		}
	}
	inputs++;
	answered += runs[0].reply_length > 0;
}

#ifdef LIBFUZZER

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	input_length = length < INPUT_MAX ? length : INPUT_MAX;
	memcpy(input, bytes, input_length);
	state = 88172645463325252ull;
	run_input();
	return 0;
}

#else

/* Feeds the same output repeatedly. The keeper must process a full read quickly, because it enforces deadlines and
 * serves gateways in the same loop. */
static void run_flood(void)
{
	static struct terminal_responder responder;
	static uint8_t flood[FLOOD];
	size_t length = segment(input + 4, input_length - 4), used = 0;
	if (length == 0)
		return;
	for (; used + length <= FLOOD; used += length)
		memcpy(flood + used, input + 4, length);
	terminal_responder_init(&responder, side(input), side(input + 2));
	clock_t start = clock();
	read_copy(&responder, flood, used);
	double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	check(&responder, side(input), side(input + 2));
	if (seconds > FLOOD_SECONDS)
		fail("%zu bytes of this output take %.1f s", used, seconds);
}

static void put(const void *bytes, size_t length)
{
	if (input_length + length <= INPUT_MAX) {
		memcpy(input + input_length, bytes, length);
		input_length += length;
	}
}

static void put_byte(unsigned byte)
{
	uint8_t value = (uint8_t)byte;
	put(&value, 1);
}

static void put_text(const char *text)
{
	put(text, strlen(text));
}

__attribute__((format(printf, 1, 2))) static void put_format(const char *format, ...)
{
	char text[64];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	put_text(text);
}

static void put_size(unsigned columns, unsigned rows)
{
	uint8_t bytes[4] = {(uint8_t)columns, (uint8_t)(columns >> 8), (uint8_t)rows, (uint8_t)(rows >> 8)};
	put(bytes, sizeof bytes);
}

static unsigned random_side(void)
{
	switch (below(8)) {
	case 0: return 1;
	case 1: return 2;
	case 2: return 65535;
	case 3: return 1 + below(65535);
	default: return 1 + below(100);
	}
}

/* Encodes CHARACTER, valid or not, as UTF-8. */
static void put_character(unsigned character)
{
	if (character < 0x80) {
		put_byte(character);
	} else if (character < 0x800) {
		put_byte(0xc0 | character >> 6);
		put_byte(0x80 | (character & 0x3f));
	} else if (character < 0x10000) {
		put_byte(0xe0 | character >> 12);
		put_byte(0x80 | (character >> 6 & 0x3f));
		put_byte(0x80 | (character & 0x3f));
	} else {
		put_byte(0xf0 | (character >> 18 & 7));
		put_byte(0x80 | (character >> 12 & 0x3f));
		put_byte(0x80 | (character >> 6 & 0x3f));
		put_byte(0x80 | (character & 0x3f));
	}
}

static void put_parameter(void)
{
	static const char *const huge[] = {"65535", "65536", "99999", "100000", "999999", "1000000", "2147483648",
					   "4294967295", "4294967296", "18446744073709551616", "00000000000000000001"};
	static const unsigned modes[] = {1, 5, 6, 7, 18, 996, 1047, 1048, 1049, 2004, 2026};
	switch (below(6)) {
	case 0: break;
	case 1: put_text(huge[below(sizeof huge / sizeof *huge)]); break;
	case 2: put_format("%u", modes[below(sizeof modes / sizeof *modes)]); break;
	default: put_format("%u", below(below(4) ? 30 : 70000)); break;
	}
}

static void put_sequence(void)
{
	static const char finals[] = "ABCDEFGHIZ`abcdefhlnpqrstu@JKLMPSTX~m";
	put_text("\033[");
	if (below(4) == 0)
		put_byte((unsigned)"?>=<"[below(4)]);
	for (unsigned i = 0, count = below(10) ? below(4) : below(40); i < count; i++) {
		put_parameter();
		if (below(8))
			put_byte(below(8) ? ';' : ':');
	}
	if (below(12) == 0)
		put_byte(below(0x20)); /* a control character within the sequence */
	if (below(8) == 0)
		put_byte((unsigned)"$! '\"#"[below(6)]);
	if (below(16))
		put_byte(below(10) ? (unsigned)finals[below(sizeof finals - 1)] : '@' + below(63));
}

static void put_string(void)
{
	static const char *const questions[] = {"10;?", "11;?", "12;?", "4;1;?", "4;255;?", "4;256;?", "4; 7;?", "4;-1;?", "4;+3;?",
						"$qm", "+q544e", "0;title", "8;;http://x", "52;c;?", "10;?x"};
	put_byte('\033');
	put_byte((unsigned)"]P_^X"[below(3) ? below(2) : below(5)]);
	if (below(8))
		put_text(questions[below(sizeof questions / sizeof *questions)]);
	if (below(6) == 0)
		for (unsigned i = 0, count = below(4) ? below(20) : 80 + below(200); i < count; i++)
			put_byte(below(4) ? ' ' + below(95) : below(256));
	if (below(10))
		put_text(below(2) ? "\a" : "\033\\");
}

static void put_token(void)
{
	static const unsigned wide[] = {0x4f60, 0x1f600, 0x0301, 0xff01, 0x200b, 0x3fffd, 0xd800, 0x110000, 0x1fffff, 0, 0x9b};
	unsigned count;
	switch (below(12)) {
	case 0:
	case 1:
	case 2: put_sequence(); break;
	case 3: put_string(); break;
	case 4:
		put_byte('\033');
		put_byte(below(3) ? (unsigned)"78DEMc(#Z=>NO\\"[below(14)] : below(256));
		break;
	case 5:
		for (count = below(below(4) ? 20 : 300); count > 0; count--)
			put_byte(' ' + below(95));
		break;
	case 6: put_byte((unsigned)"\b\t\n\v\f\r\a\030\032\0\177"[below(11)]); break;
	case 7:
		for (count = below(20); count > 0; count--)
			put_character(below(2) ? wide[below(sizeof wide / sizeof *wide)] : below(0x200000));
		break;
	case 8: /* a truncated character */
		put_byte(0x80 + below(128));
		if (below(2))
			put_byte(0x80 + below(64));
		break;
	case 9:
		for (count = below(12); count > 0; count--)
			put_byte(below(256));
		break;
	case 10:
		put_text("\033[6n");
		break;
	default:
		if (below(4) == 0) {
			put_text(RESIZE);
			put_size(random_side(), random_side());
		}
		break;
	}
}

static void generate(void)
{
	input_length = 0;
	put_size(random_side(), random_side());
	for (unsigned i = 0, count = 1 + below(below(8) ? 12 : 120); i < count; i++)
		put_token();
}

static void mutate(void)
{
	for (unsigned i = 0, count = 1 + below(5); i < count && input_length > 5; i++) {
		unsigned at = 4 + below((unsigned)input_length - 4), length;
		switch (below(6)) {
		case 0: input[at] ^= (uint8_t)(1u << below(8)); break;
		case 1: input[at] = (uint8_t)below(256); break;
		case 2: input_length = at + 1; break;
		case 3:
			memmove(input + at, input + at + 1, input_length - at - 1);
			input_length--;
			break;
		case 4: /* repeat a part of the input */
			length = below((unsigned)input_length - at);
			put(input + at, length);
			break;
		default: input[at] = (uint8_t)"\033[];?0\a\\n\x9b\x80\xff"[below(12)]; break;
		}
	}
}

/* Parses a line of the corpus into an input. */
static bool parse(const char *line)
{
	unsigned columns, rows, byte;
	int used;
	if (sscanf(line, "%ux%u%n", &columns, &rows, &used) != 2)
		return false;
	input_length = 0;
	put_size(columns, rows);
	const char *at = line + used + (line[used] == ' ');
	while (*at && *at != '\n') {
		if (*at != '\\') {
			put_byte((uint8_t)*at++);
		} else if (at[1] == 'e' || at[1] == 'n' || at[1] == '\\') {
			put_byte(at[1] == 'e' ? '\033' : at[1] == 'n' ? '\n' : '\\');
			at += 2;
		} else if (sscanf(at, "\\x%2x%n", &byte, &used) == 1) {
			put_byte(byte);
			at += used;
		} else if (sscanf(at, "\\{%ux%u}%n", &columns, &rows, &used) == 2) {
			put_text(RESIZE);
			put_size(columns, rows);
			at += used;
		} else {
			return false;
		}
	}
	return true;
}

static uint8_t saved[512][INPUT_MAX];
static size_t saved_lengths[512], saved_count;

static void run_corpus(const char *path)
{
	static char line[5 * INPUT_MAX];
	FILE *file = fopen(path, "r");
	if (!file)
		abort();
	while (fgets(line, sizeof line, file)) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (!parse(line) || saved_count == sizeof saved / sizeof *saved) {
			fprintf(stderr, "fuzz-terminal: cannot use this line of the corpus: %s", line);
			exit(2);
		}
		run_input();
		run_flood();
		memcpy(saved[saved_count], input, input_length);
		saved_lengths[saved_count++] = input_length;
	}
	fclose(file);
}

static void run_generated(void)
{
	if (saved_count > 0 && below(3) == 0) {
		unsigned which = below((unsigned)saved_count);
		input_length = saved_lengths[which];
		memcpy(input, saved[which], input_length);
		mutate();
	} else {
		generate();
		if (below(2))
			mutate();
	}
	run_input();
	if (below(500) == 0)
		run_flood();
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	__sanitizer_set_death_callback(print_input);
	state = strtoull(argv[1], NULL, 10) * 2654435769u + 1;
	unsigned long count = strtoul(argv[2], NULL, 10);
	time_t end = time(NULL) + atoi(argv[3]);
	run_corpus(argv[4]);
	for (unsigned long i = 0; i < count || time(NULL) < end; i++)
		run_generated();
	printf("%llu %llu\n", inputs, answered);
	return 0;
}

#endif
