#include "io/timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define LONGEST ((1u << 30) - 1)
#define COALESCE_MS 8 /* reads of one stream within this time become one record */

static void put32(unsigned char *at, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

static void put64(unsigned char *at, uint64_t value)
{
	for (unsigned i = 0; i < 8; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t get32(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t get64(const unsigned char *at)
{
	return get32(at) | (uint64_t)get32(at + 4) << 32;
}

void timeline_init(struct timeline *timeline, int64_t start_unix_us, int64_t start_us)
{
	timeline->fd = -1;
	timeline->start_unix_ms = start_unix_us / 1000;
	timeline->start_us = start_us;
	timeline->block = 0;
	timeline->hole_end = TIMELINE_KEEP_BLOCKS / 2;
	timeline->used = timeline->flushed = 0;
	timeline->broken = false;
}

static bool write_all(struct timeline *timeline, const unsigned char *bytes, size_t length, uint64_t at)
{
	while (timeline->fd >= 0 && length > 0) {
		ssize_t n = pwrite(timeline->fd, bytes, length, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		bytes += n;
		at += (uint64_t)n;
		length -= (size_t)n;
	}
	if (length > 0)
		timeline->broken = true;
	return length == 0;
}

static void write_pending(struct timeline *timeline)
{
	if (timeline->flushed == timeline->used)
		return;
	size_t from = timeline->flushed ? TIMELINE_BLOCK_HEADER + timeline->flushed * 8u : 0;
	size_t to = TIMELINE_BLOCK_HEADER + timeline->used * 8u;
	write_all(timeline, timeline->bytes + from, to - from,
		  TIMELINE_HEADER + timeline->block * TIMELINE_BLOCK + from);
	timeline->flushed = timeline->used;
}

static void begin_block(struct timeline *timeline, const uint64_t offsets[2], uint64_t ms)
{
	memset(timeline->bytes, 0, sizeof timeline->bytes);
	put64(timeline->bytes, ms);
	put64(timeline->bytes + 8, offsets[0]);
	put64(timeline->bytes + 16, offsets[1]);
	timeline->used = timeline->flushed = 0;
}

static bool extend_last(struct timeline *timeline, uint32_t kind, uint64_t length, uint64_t ms)
{
	if (timeline->used == timeline->flushed)
		return false; /* the last record is already in the file */
	unsigned char *last = timeline->bytes + TIMELINE_BLOCK_HEADER + (timeline->used - 1) * 8u;
	uint32_t before = get32(last + 4);
	uint64_t since = ms - get64(timeline->bytes) - get32(last);
	if (before >> 30 != kind || (before & LONGEST) + length > LONGEST || since > COALESCE_MS)
		return false;
	put32(last + 4, before + (uint32_t)length);
	return true;
}

void timeline_add(struct timeline *timeline, enum timeline_kind kind_of, unsigned stream, uint64_t length,
		  const uint64_t offsets[2], int64_t now_us)
{
	uint64_t ms = (uint64_t)((now_us - timeline->start_us) / 1000);
	uint32_t kind = (uint32_t)kind_of + stream;
	if (length == 0 || length > LONGEST)
		return;
	if (timeline->used > 0 && extend_last(timeline, kind, length, ms))
		return;
	bool far = timeline->used > 0 && ms - get64(timeline->bytes) > UINT32_MAX;
	if (timeline->used == TIMELINE_RECORDS || far) {
		write_pending(timeline);
		timeline->block++;
		begin_block(timeline, offsets, ms);
	} else if (timeline->used == 0) {
		begin_block(timeline, offsets, ms);
	}
	unsigned char *record = timeline->bytes + TIMELINE_BLOCK_HEADER + timeline->used * 8u;
	put32(record, (uint32_t)(ms - get64(timeline->bytes)));
	put32(record + 4, kind << 30 | (uint32_t)length);
	timeline->used++;
}

int64_t timeline_unix_ms(const struct timeline *timeline, int64_t us)
{
	return timeline->start_unix_ms + (us - timeline->start_us) / 1000;
}

void timeline_publish(struct timeline *timeline, int dirfd, const struct stream_file *streams, unsigned count)
{
	unsigned char header[TIMELINE_HEADER] = "SPTL";
	if (timeline->fd < 0)
		timeline->fd = openat(dirfd, "timeline", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	put32(header + 4, 1);
	put64(header + 8, (uint64_t)timeline->start_unix_ms);
	put32(header + 16, count);
	put64(header + 24, streams[0].cap);
	for (unsigned i = 0; i < count; i++) {
		bool holed = streams[i].hole_end > streams[i].hole_start;
		put64(header + 32 + 24 * i, holed ? streams[i].hole_start : 0);
		put64(header + 40 + 24 * i, holed ? streams[i].hole_end : 0);
		put64(header + 48 + 24 * i, streams[i].lost);
	}
	bool holed = timeline->hole_end > TIMELINE_KEEP_BLOCKS / 2;
	put64(header + 80, holed ? TIMELINE_KEEP_BLOCKS / 2 : 0);
	put64(header + 88, holed ? timeline->hole_end : 0);
	write_all(timeline, header, sizeof header, 0);
}

/* Extends the hole in the timeline itself, which grows with the number of reads and is bounded like the streams
 * (invariant 6). */
static bool grow_own_hole(struct timeline *timeline)
{
	uint64_t tail = TIMELINE_KEEP_BLOCKS / 2, step = TIMELINE_KEEP_BLOCKS / 8;
	if (timeline->block < tail + timeline->hole_end + step)
		return false;
	timeline->hole_end = timeline->block - tail;
	return true;
}

void timeline_flush(struct timeline *timeline, int dirfd, const struct stream_file *streams, unsigned count)
{
	if (timeline->used == timeline->flushed && timeline->fd >= 0)
		return;
	bool grew = grow_own_hole(timeline);
	if (timeline->fd < 0 || grew)
		timeline_publish(timeline, dirfd, streams, count);
	write_pending(timeline);
	if (grew && timeline->fd >= 0) {
		off_t start = TIMELINE_HEADER + (off_t)(TIMELINE_KEEP_BLOCKS / 2) * TIMELINE_BLOCK;
		off_t length = (off_t)(timeline->hole_end - TIMELINE_KEEP_BLOCKS / 2) * TIMELINE_BLOCK;
		(void)fallocate(timeline->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start, length);
	}
}

void timeline_close(struct timeline *timeline)
{
	if (timeline->fd >= 0)
		close(timeline->fd);
	timeline->fd = -1;
}
