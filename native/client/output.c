#include "client/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/timeline.h"

/* The format is described in docs/keeper-protocol.md. */
#define LENGTH_MASK 0x3fffffffu
#define HOLES_AT 32
#define STREAM_HOLE 24 /* hole start, hole end and lost bytes of one stream */
#define BLOCK_HOLE_AT 80

static unsigned char buffer[OUTPUT_CHUNK];

static uint32_t get32(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t get64(const unsigned char *at)
{
	return get32(at) | (uint64_t)get32(at + 4) << 32;
}

bool output_open(struct output *output, const char *folder, bool merged)
{
	*output = (struct output){.merged = merged, .files = {-1, -1}, .timeline = -1};
	output->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return output->folder >= 0;
}

/* Opens a file when it is first needed: the keeper creates it with the first output. */
static int file_in(const struct output *output, int *fd, const char *name)
{
	if (*fd < 0)
		*fd = openat(output->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	return *fd;
}

static int stream_of(struct output *output, unsigned stream)
{
	static const char *const names[] = {"stdout", "stderr"};
	return file_in(output, &output->files[stream], output->merged ? "output" : names[stream]);
}

static size_t read_at(int fd, unsigned char *bytes, size_t length, uint64_t at)
{
	size_t used = 0;
	while (fd >= 0 && used < length) {
		ssize_t n = pread(fd, bytes + used, length - used, (off_t)(at + used));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	return used;
}

struct range {
	uint64_t start, end;
};

/* Returns the range that was punched out of a stream, or out of the timeline itself (in blocks) for stream 2. */
static struct range hole_of(struct output *output, unsigned stream)
{
	unsigned char header[TIMELINE_HEADER];
	if (read_at(file_in(output, &output->timeline, "timeline"), header, sizeof header, 0) < sizeof header)
		return (struct range){0, 0}; /* the keeper announces a hole in the header first */
	const unsigned char *hole = header + (stream == 2 ? BLOCK_HOLE_AT : HOLES_AT + STREAM_HOLE * stream);
	return (struct range){get64(hole), get64(hole + 8)};
}

static bool can_follow(unsigned lead, unsigned second)
{
	switch (lead) {
	case 0xe0: return second >= 0xa0;
	case 0xed: return second < 0xa0;
	case 0xf0: return second >= 0x90;
	case 0xf4: return second < 0x90;
	default: return true;
	}
}

/* Returns how many bytes at the end start a UTF-8 character that is incomplete, like src/session/logs/pieces.ts. */
static unsigned unfinished_bytes(const unsigned char *bytes, size_t length)
{
	for (unsigned back = 1; back <= 3 && back <= length; back++) {
		unsigned lead = bytes[length - back];
		if ((lead & 0xc0) == 0x80)
			continue;
		unsigned needed = lead >= 0xf0 && lead <= 0xf4  ? 4
				  : lead >= 0xe0 && lead < 0xf0 ? 3
				  : lead >= 0xc2 && lead < 0xe0 ? 2
								: 1;
		if (needed <= back)
			return 0;
		return back == 1 || can_follow(lead, bytes[length - back + 1]) ? back : 0;
	}
	return 0;
}

/* Returns the bytes that were held back, because what follows them was dropped. */
static struct chunk take_held(struct output *output, unsigned stream)
{
	unsigned length = output->held_length[stream];
	memcpy(buffer, output->held[stream], length);
	output->held_length[stream] = 0;
	return (struct chunk){stream, buffer, length};
}

/* Reads up to LENGTH bytes of a stream after the bytes that were held back. Skips and counts a hole. Returns false if
 * there is nothing to read. */
static bool read_stream(struct output *output, unsigned stream, uint64_t length, struct chunk *chunk)
{
	unsigned held = output->held_length[stream];
	uint64_t from = output->offsets[stream], room = sizeof buffer - held;
	memcpy(buffer, output->held[stream], held);
	size_t n = read_at(stream_of(output, stream), buffer + held, length < room ? length : room, from);
	/* A hole is announced before it is punched, so only bytes outside of the hole announced by now are data. */
	struct range hole = hole_of(output, stream);
	if (n > 0 && hole.start <= from && from < hole.end) {
		uint64_t skipped = hole.end - from < length ? hole.end - from : length;
		output->missing += skipped;
		output->offsets[stream] += skipped;
		*chunk = take_held(output, stream);
		return true;
	}
	if (hole.start > from && hole.start < from + n)
		n = (size_t)(hole.start - from);
	if (n == 0)
		return false;
	size_t used = held + n;
	unsigned rest = unfinished_bytes(buffer, used);
	output->offsets[stream] += n;
	output->held_length[stream] = rest;
	if (rest > 0)
		output->last_held = stream;
	memcpy(output->held[stream], buffer + used - rest, rest);
	*chunk = (struct chunk){stream, buffer, used - rest};
	return true;
}

/* Returns characters that were never completed, in the order in which they began. */
static enum output_result flush_held(struct output *output, struct chunk *chunk)
{
	for (unsigned i = 0; i < 2; i++) {
		*chunk = take_held(output, i == 0 ? 1 - output->last_held : output->last_held);
		if (chunk->length > 0)
			return OUTPUT_CHUNK_READ;
	}
	return OUTPUT_NONE;
}

/* Goes to the next block of the timeline that was not punched out. */
static void next_block(struct output *output)
{
	struct range hole = hole_of(output, 2);
	output->block++;
	output->record = 0;
	if (hole.start <= output->block && output->block < hole.end)
		output->block = hole.end;
}

static bool is_blank(const unsigned char *block)
{
	return get64(block) == 0 && get64(block + 8) == 0 && get64(block + 16) == 0;
}

/* Reads the header of the current block. Returns false if the block was punched out in the meantime. */
static bool begin_block(struct output *output, int timeline, uint64_t start)
{
	unsigned char block[TIMELINE_BLOCK_HEADER];
	if (read_at(timeline, block, sizeof block, start) < sizeof block || (output->block > 0 && is_blank(block)))
		return false;
	output->targets[0] = get64(block + 8);
	output->targets[1] = get64(block + 16);
	return true;
}

/* Reads the next record of the timeline. Returns false if it is not there yet. */
static bool next_record(struct output *output)
{
	unsigned char record[8];
	int timeline = file_in(output, &output->timeline, "timeline");
	for (;;) {
		uint64_t start = TIMELINE_HEADER + output->block * TIMELINE_BLOCK;
		if (output->record == TIMELINE_RECORDS) {
			next_block(output);
			continue;
		}
		if (read_at(timeline, record, sizeof record, start + TIMELINE_BLOCK_HEADER + output->record * 8u) <
		    sizeof record)
			return false;
		if (output->record == 0 && !begin_block(output, timeline, start)) {
			next_block(output);
			continue;
		}
		uint32_t what = get32(record + 4);
		if ((what & LENGTH_MASK) == 0) { /* the rest of the block is not used */
			output->record = TIMELINE_RECORDS;
			continue;
		}
		output->record++;
		if (what >> 30 > 1) {
			output->missing += what & LENGTH_MASK;
			continue;
		}
		output->current = what >> 30;
		output->left = what & LENGTH_MASK;
		return true;
	}
}

/* Reads what is in a stream before the current block: the timeline does not cover it. */
static bool read_gap(struct output *output, struct chunk *chunk)
{
	for (unsigned stream = 0; stream < 2; stream++) {
		uint64_t from = output->offsets[stream];
		if (from >= output->targets[stream])
			continue;
		if (read_stream(output, stream, output->targets[stream] - from, chunk))
			return true;
		output->targets[stream] = 0; /* the file is shorter */
	}
	return false;
}

static enum output_result next_apart(struct output *output, bool ended, struct chunk *chunk)
{
	while (!output->settled) {
		if (output->left == 0 && !next_record(output)) {
			if (!ended)
				return OUTPUT_NONE;
			output->settled = true;
			break;
		}
		bool read = read_gap(output, chunk);
		if (!read) {
			uint64_t before = output->offsets[output->current];
			read = read_stream(output, output->current, output->left, chunk);
			/* Streams are written before the timeline, so bytes that are not there were removed. */
			uint64_t taken = read ? output->offsets[output->current] - before : output->left;
			output->missing += read ? 0 : output->left;
			output->left -= taken;
		}
		if (read && chunk->length > 0)
			return OUTPUT_CHUNK_READ;
	}
	/* What a damaged timeline does not cover. */
	for (unsigned stream = 0; stream < 2; stream++)
		while (read_stream(output, stream, UINT64_MAX, chunk))
			if (chunk->length > 0)
				return OUTPUT_CHUNK_READ;
	return flush_held(output, chunk);
}

/* Counts bytes of a single stream that could not be written. The timeline is not needed to read that stream. */
static void count_lost(struct output *output)
{
	while (next_record(output))
		output->left = 0;
}

enum output_result output_next(struct output *output, bool ended, struct chunk *chunk)
{
	if (!output->merged)
		return next_apart(output, ended, chunk);
	while (read_stream(output, 0, UINT64_MAX, chunk))
		if (chunk->length > 0)
			return OUTPUT_CHUNK_READ;
	if (!ended)
		return OUTPUT_NONE;
	if (!output->settled)
		count_lost(output);
	output->settled = true;
	return flush_held(output, chunk);
}

uint64_t output_returned(const struct output *output, unsigned stream)
{
	return output->offsets[stream] - output->held_length[stream];
}
