#include "io/stream_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "clock.h"

#define PAGE 4096u
#define FULL_PAUSE 1000000 /* microseconds between attempts to write to a full disk */
#define LEAVE_FREE (1u << 20)    /* bytes of the disk that output does not use */
#define CHECK_EVERY (64u << 10)  /* bytes of output between checks */
#define MIN_CAP (64u << 10)

void stream_file_init(struct stream_file *file, uint64_t cap)
{
	*file = (struct stream_file){.fd = -1, .cap = cap && cap < MIN_CAP ? MIN_CAP : cap};
	file->hole_start = file->hole_end = (file->cap / 2 + PAGE - 1) / PAGE * PAGE;
}

/* Counts the NULs at the end. A file system may replace unwritten data with NULs when the machine loses power. The number
 * of those that the command has written tells them apart. */
static void count_nuls(struct stream_file *file, const char *bytes, size_t length)
{
	size_t end = length;
	while (end > 0 && bytes[end - 1] == '\0')
		end--;
	file->nuls = end == 0 ? file->nuls + length : length - end;
}

/* Reports whether the disk is too full for LENGTH more bytes. Output leaves a little space, and what is freed on a full
 * disk is left alone for a while, so that a gateway can make room by removing sessions. */
static bool is_disk_full(struct stream_file *file, size_t length)
{
	struct statvfs status;
	if (file->full_until ? monotonic_us() < file->full_until : file->unchecked + length <= CHECK_EVERY) {
		file->unchecked += length;
		return file->full_until != 0;
	}
	bool full = file->fd >= 0 && fstatvfs(file->fd, &status) == 0 &&
		    (uint64_t)status.f_bavail * status.f_frsize < LEAVE_FREE + length;
	file->unchecked = 0;
	file->full_until = full ? monotonic_us() + FULL_PAUSE : 0;
	return full;
}

size_t stream_file_append(struct stream_file *file, int dirfd, const char *name, const char *bytes, size_t length)
{
	if (file->fd < 0)
		file->fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	size_t room = length;
	if (file->cannot_punch && file->size + length > file->cap)
		room = file->size < file->cap ? (size_t)(file->cap - file->size) : 0;
	size_t kept = 0;
	if (room > 0 && is_disk_full(file, room)) {
		file->lost += length;
		return 0;
	}
	while (file->fd >= 0 && kept < room) {
		ssize_t n = pwrite(file->fd, bytes + kept, room - kept, (off_t)(file->size + kept));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		kept += (size_t)n;
	}
	if (kept < room)
		file->full_until = monotonic_us() + FULL_PAUSE;
	count_nuls(file, bytes, kept);
	file->size += kept;
	file->lost += length - kept;
	return kept;
}

/* The first half of the cap is always kept. The hole grows by an eighth of the cap at a time, so that punching is rare
 * and the cap is never exceeded. */
bool stream_file_grow_hole(struct stream_file *file)
{
	if (!file->cap || file->cannot_punch || file->size <= file->cap)
		return false;
	uint64_t step = file->cap / 8;
	uint64_t end = (file->size - (file->cap / 2 - step)) / PAGE * PAGE;
	if (end < file->hole_end + step)
		return false;
	file->hole_end = end;
	return true;
}

void stream_file_punch(struct stream_file *file)
{
	off_t start = (off_t)file->hole_start, length = (off_t)(file->hole_end - file->hole_start);
	if (fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start, length) == 0)
		return;
	/* The file system does not support holes: keep the existing content and drop further output. */
	file->cannot_punch = true;
	file->hole_end = file->hole_start;
}

int stream_file_sync(const struct stream_file *file)
{
	return file->fd < 0 ? 0 : fdatasync(file->fd);
}

void stream_file_close(struct stream_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}
