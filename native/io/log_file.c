#include "io/log_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MIN_CAP (64u << 10)
#define BLOCK (64u << 10)
#define MARK_MAX 160

static char block[BLOCK];

void log_file_init(struct log_file *log, int fd, uint64_t cap)
{
	*log = (struct log_file){.fd = fd, .cap = cap && cap < MIN_CAP ? MIN_CAP : cap};
}

static size_t write_at(const struct log_file *log, const char *bytes, size_t length, uint64_t offset)
{
	size_t written = 0;
	while (written < length) {
		ssize_t n = pwrite(log->fd, bytes + written, length - written, (off_t)(offset + written));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		written += (size_t)n;
	}
	return written;
}

static size_t read_at(const struct log_file *log, size_t length, uint64_t offset)
{
	size_t filled = 0;
	while (filled < length) {
		ssize_t n = pread(log->fd, block + filled, length - filled, (off_t)(offset + filled));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		filled += (size_t)n;
	}
	return filled;
}

/* Formats VALUE with commas between groups of three digits. */
static const char *grouped(uint64_t value, char text[32])
{
	char digits[24];
	int count = snprintf(digits, sizeof digits, "%" PRIu64, value), at = 0;
	for (int i = 0; i < count; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	return text;
}

static const char *exact_size(uint64_t bytes, char text[48])
{
	char digits[32];
	bool mib = bytes % (1u << 20) == 0, kib = bytes % 1024 == 0;
	uint64_t units = mib ? bytes >> 20 : kib ? bytes >> 10 : bytes;
	snprintf(text, 48, "%s %s", grouped(units, digits), mib ? "MiB" : kib ? "KiB" : "byte");
	return text;
}

/* Returns the end of the last line that ends in the block before END, or END if there is none. */
static uint64_t line_end_before(const struct log_file *log, uint64_t end)
{
	size_t length = end < BLOCK ? (size_t)end : BLOCK;
	size_t filled = read_at(log, length, end - length);
	for (size_t i = filled; i > 0; i--)
		if (block[i - 1] == '\n')
			return end - length + i;
	return end;
}

/* Returns where the first line begins that starts in the block after START, or START if there is none. */
static uint64_t line_start_after(const struct log_file *log, uint64_t start, size_t length)
{
	const char *feed = memchr(block, '\n', read_at(log, length < BLOCK ? length : BLOCK, start));
	return feed ? start + (uint64_t)(feed - block) + 1 : start;
}

static bool move_down(const struct log_file *log, uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at < log->size;) {
		size_t filled = read_at(log, log->size - at < BLOCK ? (size_t)(log->size - at) : BLOCK, at);
		if (filled == 0 || write_at(log, block, filled, to + (at - from)) < filled)
			return false;
		at += filled;
	}
	return true;
}

/* Removes the middle. The first half of the cap stays; of the rest, the last quarter of the cap stays, so that each
 * byte is moved about once however much is written. */
static bool remove_middle(struct log_file *log)
{
	uint64_t head = log->head ? log->head : line_end_before(log, log->cap / 2);
	uint64_t from = line_start_after(log, log->size - log->cap / 4, (size_t)(log->cap / 8));
	uint64_t dropped = log->dropped + from - (head + log->mark);
	char mark[MARK_MAX], count[32], limit[48], last = '\n';
	if (head > 0 && pread(log->fd, &last, 1, (off_t)(head - 1)) < 1)
		return false;
	int length = snprintf(mark, sizeof mark, "%s[... %s bytes were dropped: over the %s limit of this file ...]\n",
			      last == '\n' ? "" : "\n", grouped(dropped, count), exact_size(log->cap, limit));
	if (write_at(log, mark, (size_t)length, head) < (size_t)length || !move_down(log, from, head + (uint64_t)length))
		return false;
	uint64_t size = head + (uint64_t)length + (log->size - from);
	if (ftruncate(log->fd, (off_t)size) < 0)
		return false;
	log->head = head;
	log->mark = (uint64_t)length;
	log->dropped = dropped;
	log->size = size;
	return true;
}

/* Marks the bytes before the next ones that could not be written. */
static void mark_unwritten(struct log_file *log)
{
	char mark[MARK_MAX], count[32];
	int length = snprintf(mark, sizeof mark, "\n[... %s bytes are missing: the disk was full ...]\n",
			      grouped(log->unwritten, count));
	if (write_at(log, mark, (size_t)length, log->size) < (size_t)length)
		return;
	log->size += (uint64_t)length;
	log->unwritten = 0;
}

void log_file_append(struct log_file *log, const char *bytes, size_t length)
{
	if (log->fd < 0)
		return;
	if (log->unwritten && !log->stuck)
		mark_unwritten(log);
	size_t kept = log->unwritten || log->stuck ? 0 : write_at(log, bytes, length, log->size);
	log->size += kept;
	log->unwritten += length - kept;
	if (log->cap && log->size > log->cap && !log->stuck)
		log->stuck = !remove_middle(log);
}

void log_file_close(struct log_file *log)
{
	if (log->fd < 0)
		return;
	if (log->unwritten)
		mark_unwritten(log);
	close(log->fd);
	log->fd = -1;
}
