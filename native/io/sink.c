#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define PAGE 4096u
#define SMALLEST_CAP (64u << 10)

void sink_init(struct sink *sink, uint64_t cap)
{
	*sink = (struct sink){.fd = -1, .cap = cap && cap < SMALLEST_CAP ? SMALLEST_CAP : cap};
	sink->hole_start = sink->hole_end = (sink->cap / 2 + PAGE - 1) / PAGE * PAGE;
}

size_t sink_append(struct sink *sink, int dirfd, const char *name, const char *bytes, size_t length)
{
	if (sink->fd < 0)
		sink->fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	size_t room = length;
	if (sink->cannot_punch && sink->size + length > sink->cap)
		room = sink->size < sink->cap ? (size_t)(sink->cap - sink->size) : 0;
	size_t kept = 0;
	while (sink->fd >= 0 && kept < room) {
		ssize_t n = pwrite(sink->fd, bytes + kept, room - kept, (off_t)(sink->size + kept));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		kept += (size_t)n;
	}
	sink->size += kept;
	sink->lost += length - kept;
	return kept;
}

/* Half the cap is head; the tail shrinks by an eighth at a time, so punching is rare and the cap always holds. */
bool sink_grow_hole(struct sink *sink)
{
	if (!sink->cap || sink->cannot_punch || sink->size <= sink->cap)
		return false;
	uint64_t step = sink->cap / 8;
	uint64_t end = (sink->size - (sink->cap / 2 - step)) / PAGE * PAGE;
	if (end < sink->hole_end + step)
		return false;
	sink->hole_end = end;
	return true;
}

void sink_punch(struct sink *sink)
{
	off_t start = (off_t)sink->hole_start, length = (off_t)(sink->hole_end - sink->hole_start);
	if (fallocate(sink->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start, length) == 0)
		return;
	/* A file system without holes: keep what there is, refuse the rest. */
	sink->cannot_punch = true;
	sink->hole_end = sink->hole_start;
}

void sink_close(struct sink *sink)
{
	if (sink->fd >= 0)
		close(sink->fd);
	sink->fd = -1;
}
