#ifndef SALLYPORT_STREAM_FILE_H
#define SALLYPORT_STREAM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An output file with bounded disk usage (invariant 6). Beyond the cap a hole is punched into its middle. Offsets do
 * not change, and the head and tail stay readable. */
struct stream_file {
	int fd;              /* -1 until the first byte, so that a command without output creates no file */
	uint64_t size;       /* bytes accepted, including those in the hole */
	uint64_t cap;        /* 0 means unlimited */
	uint64_t hole_start; /* the range [hole_start, hole_end) is punched out, or about to be */
	uint64_t hole_end;
	uint64_t lost; /* bytes that could not be written, which have no offset */
	uint64_t nuls; /* the number of NULs at the end of what was accepted */
	int64_t full_until; /* when writing is tried again on a full disk, or 0 */
	uint64_t unchecked; /* bytes accepted since the free space was checked */
	bool cannot_punch;
};

void stream_file_init(struct stream_file *file, uint64_t cap);

/* Appends bytes, and opens NAME in DIRFD first if necessary. Returns the number of bytes written. The rest is counted
 * in `lost`, and the command continues. */
size_t stream_file_append(struct stream_file *file, int dirfd, const char *name, const char *bytes, size_t length);

/* Extends the hole if the file exceeds its cap. If the result is true, the caller must publish the new hole and then
 * call stream_file_punch. */
bool stream_file_grow_hole(struct stream_file *file);
void stream_file_punch(struct stream_file *file);

/* Flushes the file to the disk. Returns 0, or -1 with errno. */
int stream_file_sync(const struct stream_file *file);

void stream_file_close(struct stream_file *file);

#endif
