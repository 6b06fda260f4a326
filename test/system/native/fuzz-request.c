/* Mutates valid requests in many ways and parses them. Built with the sanitizers.
 * usage: fuzz-request SEED SECONDS [CORPUS]: a file of requests in hex, one per line, which are tried first */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ipc/request.h"
#include "io/open_beneath.h"

static unsigned long long state;

static unsigned below(unsigned limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return limit ? (unsigned)(state >> 11) % limit : 0;
}

static unsigned char frame[65536];
static size_t used;

static void number(unsigned long long value, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		frame[used++] = (unsigned char)(value >> (8 * i));
}

static void field(unsigned tag, const void *bytes, size_t length)
{
	if (used + 6 + length > sizeof frame)
		return;
	number(tag, 2);
	number(length, 4);
	memcpy(frame + used, bytes, length);
	used += length;
}

static void text(unsigned tag, const char *value)
{
	field(tag, value, strlen(value) + 1);
}

static void integer(unsigned tag, unsigned long long value, unsigned width)
{
	unsigned char bytes[8];
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(value >> (8 * i));
	field(tag, bytes, width);
}

static void sandbox(void)
{
	static const char paths[] = "/tmp\0/home/user/project\0/", odd[] = "/tmp/../etc\0relative\0//\0/a/./b";
	static const unsigned char numbers[] = {0, 0, 1, 0, 80, 0, 187, 1, 255, 255, 255, 255, 7, 0, 0, 0};
	if (below(10))
		integer(22, below(20) ? below(4) : below(256), below(20) ? 4 : below(9));
	for (unsigned list = 23; list <= 25; list++)
		if (below(2))
			field(list, below(10) ? paths : odd, below(10) ? sizeof paths : below(sizeof paths));
	if (below(2))
		text(26, below(10) ? "/tmp/temporary" : "temporary");
	unsigned network = below(20) ? below(3) : below(256);
	integer(27, network, 1);
	if (network == 2 || below(10) == 0)
		field(28, numbers, below(5) ? 2 * below(8) : below(sizeof numbers));
	if (below(3) == 0)
		field(29, numbers, below(5) ? 4 * below(4) : below(sizeof numbers));
}

/* Fields as a gateway sends them, some of them omitted, duplicated or invented. */
static void make(void)
{
	static char list[4096];
	size_t length = 0;
	used = 0;
	for (unsigned i = 0, count = below(40); i < count; i++)
		length += (size_t)sprintf(list + length, "argument %u", below(1000)) + 1;
	if (below(20))
		text(1, below(10) ? "01890a5d-ac96-774b-bcce-b302099a8057" : "../../etc/passwd");
	if (below(4))
		text(2, "name and command");
	if (below(20))
		text(3, "/bin/true");
	if (below(3))
		text(4, "/usr/bin:/bin");
	if (below(20))
		field(5, "true\0one\0two", 13);
	if (below(5) == 0)
		field(5, list, length);
	if (below(3))
		field(6, list, length);
	if (below(20))
		text(7, below(10) ? "/" : "relative");
	integer(8, below(20) ? below(3) : below(256), 1);
	if (below(3) == 0)
		field(9, list, below(sizeof list));
	integer(10, below(20) ? below(2) : below(256), 1);
	integer(11, below(10) ? below(100000) : ~0ull >> below(64), 8);
	integer(12, below(10) ? below(100000) : ~0ull >> below(64), 8);
	integer(13, ~0ull >> below(64), below(9));
	if (below(3) == 0)
		text(14, "/tmp/log");
	integer(15, below(8), 4);
	integer(16, below(01000), 4);
	integer(17, below(1000), 4);
	if (below(4) == 0)
		text(18, below(3) ? "/" : below(2) ? "/tmp" : "");
	for (unsigned limit = 19; limit <= 21; limit++)
		if (below(2))
			integer(limit, ~0ull >> below(64), below(9));
	if (below(3) == 0)
		integer(40, below(20) ? 0x1e0078 : ~0ull >> below(64), below(20) ? 4 : below(9));
	if (below(3) == 0)
		sandbox();
	for (unsigned limit = 45; limit <= 48; limit++)
		if (below(3) == 0)
			integer(limit, ~0ull >> below(64), below(9));
	if (below(10) == 0)
		integer(below(100), below(256), below(9));
}

static void spoil(void)
{
	for (unsigned i = 0, count = below(6); i < count && used > 0; i++) {
		unsigned at = below((unsigned)used);
		switch (below(7)) {
		case 0: frame[at] ^= (unsigned char)(1u << below(8)); break;
		case 1: frame[at] = (unsigned char)below(256); break;
		case 2: used = at; break;
		case 3: frame[at] = 0; break;
		case 4: memset(frame + at, 0xff, used - at < 4 ? used - at : 4); break;
		case 5:
			memmove(frame + at, frame + at + 1, used - at - 1);
			used--;
			break;
		case 6:
			if (used + 8 < sizeof frame) {
				memmove(frame + at + 8, frame + at, used - at);
				used += 8;
			}
			break;
		}
	}
}

/* All pointers of a parsed request must refer to data within the frame. */
static size_t touch(const struct request *request)
{
	size_t sum = strlen(request->id) + strlen(request->title) + strlen(request->file) + strlen(request->cwd);
	if (request->path)
		sum += strlen(request->path);
	if (request->log_path)
		sum += strlen(request->log_path);
	if (request->root) {
		sum += strlen(request->root);
		if (!path_is_beneath(request->root, request->cwd))
			abort();
		if (request->log_path && !path_is_beneath(request->root, request->log_path))
			abort();
	}
	size_t argc = 0;
	for (char **each = request->argv; *each; each++, argc++)
		sum += strlen(*each);
	for (char **each = request->envp; *each; each++)
		sum += strlen(*each);
	for (size_t i = 0; i < request->stdin_length; i++)
		sum += (unsigned char)request->stdin_text[i];
	request->argv[-1] = (char *)"the slot ahead";
	const struct string_list *lists[] = {&request->sandbox.writable, &request->sandbox.read_only, &request->sandbox.denied};
	for (unsigned list = 0; list < 3; list++)
		for (const char *each = string_list_next(lists[list], NULL); each; each = string_list_next(lists[list], each))
			sum += strlen(each) + path_within(each, "/");
	if (request->sandbox.tmp_dir)
		sum += strlen(request->sandbox.tmp_dir);
	for (size_t i = 0; i < request->sandbox.port_count; i++)
		sum += sandbox_spec_port(&request->sandbox, i);
	for (size_t i = 0; i < request->sandbox.group_count; i++)
		sum += sandbox_spec_group(&request->sandbox, i);
	if (!request->sandbox.enabled && (request->sandbox.writable.length || request->sandbox.has_user))
		abort();
	if (argc != request->argc)
		abort();
	if (request->columns && (!request->rows || request->stdin_mode != 2 || request->capture != 1))
		abort();
	if (strchr(request->id, '/') || request->cwd[0] != '/' || request->timeout_ms < 0 || request->grace_ms < 0)
		abort();
	return sum;
}

static unsigned long long parsed, refused;
static volatile size_t sum;

static void attempt(void)
{
	struct request request;
	/* Allocated with the exact size, so that the sanitizer detects a read past the end. */
	char *payload = malloc(used ? used : 1);
	memcpy(payload, frame, used);
	if (request_parse(&request, payload, used)) {
		refused++;
	} else {
		sum += touch(&request);
		parsed++;
	}
	request_free(&request);
	free(payload);
}

static void saved(const char *path)
{
	static char line[2 * sizeof frame + 2];
	FILE *file = fopen(path, "r");
	if (!file)
		abort();
	while (fgets(line, sizeof line, file)) {
		used = 0;
		for (const char *at = line; *at && *at != '\n' && *at != '#'; at += 2)
			if (sscanf(at, "%2hhx", &frame[used++]) != 1)
				abort();
		attempt();
	}
	fclose(file);
}

int main(int argc, char **argv)
{
	state = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1) * 2654435769u + 1;
	time_t end = time(NULL) + (argc > 2 ? atoi(argv[2]) : 5);
	if (argc > 3)
		saved(argv[3]);
	do {
		for (unsigned i = 0; i < 2000; i++) {
			make();
			spoil();
			attempt();
		}
	} while (time(NULL) < end);
	printf("%llu %llu\n", parsed, refused);
	return 0;
}
