#include "ipc/request.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "io/open_beneath.h"

/* The payload is a sequence of fields, each with a u16 tag, a u32 length and its bytes. A string includes its
 * terminating NUL. A list is a sequence of strings. */
enum tag {
	TAG_ID = 1,
	TAG_TITLE = 2,
	TAG_FILE = 3,
	TAG_PATH = 4,
	TAG_ARGV = 5,
	TAG_ENV = 6,
	TAG_CWD = 7,
	TAG_STDIN = 8,
	TAG_STDIN_TEXT = 9,
	TAG_CAPTURE = 10,
	TAG_TIMEOUT = 11,
	TAG_GRACE = 12,
	TAG_DISK_CAP = 13,
	TAG_LOG = 14,
	TAG_FLAGS = 15,
	TAG_UMASK = 16,
	TAG_ANNOUNCE = 17,
	TAG_ROOT = 18,
	TAG_PROCESSES = 19,
	TAG_OPEN_FILES = 20,
	TAG_FILE_SIZE = 21,
	TAG_MEMORY = 45,
	TAG_CPU_MILLI = 46,
	TAG_DISK = 47,
	TAG_EXACT_PROCESSES = 48,
	TAG_LABEL = 49,
	TAG_TERMINAL = 40,
};

static uint64_t read_le(const char *bytes, size_t length)
{
	uint64_t value = 0;
	for (size_t i = 0; i < length && i < 8; i++)
		value |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
	return value;
}

/* Reports whether the field has exactly one NUL, at its end. With an embedded NUL the command would differ from the one
 * that was analyzed (invariant 2). */
static bool is_string(const char *bytes, size_t length)
{
	return length > 0 && memchr(bytes, '\0', length) == bytes + length - 1;
}

static size_t count_strings(const char *bytes, size_t length)
{
	size_t count = 0;
	for (size_t i = 0; i < length; i++)
		count += bytes[i] == '\0';
	return count;
}

static char **fill_vector(char **slot, char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		*slot++ = bytes;
		bytes += strlen(bytes) + 1;
	}
	*slot++ = NULL;
	return slot;
}

/* Reports whether TEXT is a valid ID. The ID is the name of a directory below sessions/, so only the characters of a
 * UUID are allowed (invariant 7). */
static bool is_id(const char *text)
{
	size_t length = strspn(text, "0123456789abcdef-");
	return length >= 8 && length <= 64 && text[length] == '\0';
}

struct list {
	char *bytes;
	size_t length;
};

static const char *parse_string(const char **slot, const char *bytes, size_t length)
{
	if (!is_string(bytes, length))
		return "a string field does not have exactly one NUL, at its end";
	*slot = bytes;
	return NULL;
}

static const char *parse_list(struct list *slot, char *bytes, size_t length)
{
	if (length > 0 && bytes[length - 1] != '\0')
		return "a list field does not end with NUL";
	slot->bytes = bytes;
	slot->length = length;
	return NULL;
}

/* Parses a terminal size: u16 columns, u16 rows. */
static const char *parse_terminal_size(struct request *r, const char *bytes, size_t length)
{
	if (length != 4)
		return "the terminal size does not have 4 bytes";
	r->columns = (uint16_t)read_le(bytes, 2);
	r->rows = (uint16_t)read_le(bytes + 2, 2);
	return r->columns && r->rows ? NULL : "the terminal size is 0";
}

static const char *parse_field(struct request *r, struct list *argv, struct list *env, unsigned tag, char *bytes,
			       size_t length)
{
	switch (tag) {
	case TAG_ID: return parse_string(&r->id, bytes, length);
	case TAG_TITLE: return parse_string(&r->title, bytes, length);
	case TAG_FILE: return parse_string(&r->file, bytes, length);
	case TAG_PATH: return parse_string(&r->path, bytes, length);
	case TAG_CWD: return parse_string(&r->cwd, bytes, length);
	case TAG_LABEL: return parse_string(&r->label, bytes, length);
	case TAG_LOG: return parse_string(&r->log_path, bytes, length);
	case TAG_ROOT: return parse_string(&r->root, bytes, length);
	case TAG_ARGV: return parse_list(argv, bytes, length);
	case TAG_ENV: return parse_list(env, bytes, length);
	case TAG_STDIN: r->stdin_mode = (uint8_t)read_le(bytes, length); return NULL;
	case TAG_STDIN_TEXT:
		r->stdin_text = bytes;
		r->stdin_length = length;
		return NULL;
	case TAG_CAPTURE: r->capture = (uint8_t)read_le(bytes, length); return NULL;
	case TAG_TIMEOUT: r->timeout_ms = (int64_t)read_le(bytes, length); return NULL;
	case TAG_GRACE: r->grace_ms = (int64_t)read_le(bytes, length); return NULL;
	case TAG_DISK_CAP: r->disk_cap = read_le(bytes, length); return NULL;
	case TAG_FLAGS: r->flags = (uint32_t)read_le(bytes, length); return NULL;
	case TAG_UMASK: r->umask = (uint32_t)read_le(bytes, length) & 0777; return NULL;
	case TAG_ANNOUNCE: r->announce_ms = (uint32_t)read_le(bytes, length); return NULL;
	case TAG_PROCESSES: r->processes = read_le(bytes, length); return NULL;
	case TAG_OPEN_FILES: r->open_files = read_le(bytes, length); return NULL;
	case TAG_FILE_SIZE: r->file_size = read_le(bytes, length); return NULL;
	case TAG_MEMORY: r->memory = read_le(bytes, length); return NULL;
	case TAG_CPU_MILLI: r->cpu_milli = read_le(bytes, length); return NULL;
	case TAG_DISK: r->disk = read_le(bytes, length); return NULL;
	case TAG_EXACT_PROCESSES: r->exact_processes = read_le(bytes, length) != 0; return NULL;
	case TAG_TERMINAL: return parse_terminal_size(r, bytes, length);
	default:
		if (tag >= SPEC_TAG_FIRST && tag <= SPEC_TAG_LAST)
			return sandbox_spec_parse_field(&r->sandbox, tag, bytes, length);
		return "unknown field"; /* not ignored, because it could be a restriction */
	}
}

static const char *check(const struct request *r)
{
	const int64_t longest = INT64_MAX / 4000000;
	const uint64_t most_of_anything = 1ull << 60, most_processors = 1 << 20;
	if (!r->id || !is_id(r->id))
		return "missing or invalid id";
	if (!r->file || r->file[0] == '\0')
		return "missing file";
	if (!r->cwd || r->cwd[0] != '/')
		return "the working directory is not an absolute path";
	if (r->root && (r->root[0] != '/' || !path_is_beneath(r->root, r->cwd)))
		return "the working directory is outside the root";
	if (r->root && r->log_path && !path_is_beneath(r->root, r->log_path))
		return "the log file is outside the root";
	if (r->label && strlen(r->label) > LABEL_MAX)
		return "the label is too long";
	if (r->stdin_mode > STDIN_OPEN || r->capture > CAPTURE_MERGED)
		return "unknown stdin or capture mode";
	if (r->columns && (r->stdin_mode != STDIN_OPEN || r->capture != CAPTURE_MERGED))
		return "a terminal requires open stdin and merged output";
	if (r->timeout_ms < 0 || r->timeout_ms > longest || r->grace_ms < 0 || r->grace_ms > longest)
		return "a duration is out of range";
	if (r->processes > most_of_anything || r->memory > most_of_anything || r->cpu_milli > most_processors * 1000)
		return "a limit is out of range";
	return sandbox_spec_check(&r->sandbox);
}

const char *request_parse(struct request *request, char *payload, size_t length)
{
	struct list argv = {0}, env = {0};
	memset(request, 0, sizeof *request);
	request->umask = 022;
	request->grace_ms = 5000;

	size_t at = 0;
	while (at < length) {
		if (length - at < 6)
			return "a field header is truncated";
		unsigned tag = (unsigned)read_le(payload + at, 2);
		size_t size = (size_t)read_le(payload + at + 2, 4);
		at += 6;
		if (size > length - at)
			return "a field is longer than its frame";
		const char *error = parse_field(request, &argv, &env, tag, payload + at, size);
		if (error)
			return error;
		at += size;
	}

	size_t argc = count_strings(argv.bytes, argv.length);
	size_t envc = count_strings(env.bytes, env.length);
	if (argc == 0)
		return "missing arguments";
	/* The slot before argv stays free, because a script without #! runs as /bin/sh FILE ARGS. */
	request->vectors = malloc((argc + envc + 3) * sizeof(char *));
	if (!request->vectors)
		return "out of memory";
	request->argv = request->vectors + 1;
	request->argc = argc;
	request->envp = fill_vector(request->argv, argv.bytes, argc);
	fill_vector(request->envp, env.bytes, envc);
	if (!request->title)
		request->title = request->file;
	return check(request);
}

void request_free(struct request *request)
{
	free(request->vectors);
	request->vectors = NULL;
}
