#ifndef SALLYPORT_STREAM_FILE_H
#define SALLYPORT_STREAM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An output file with bounded disk usage (invariant 6): beyond the cap its middle is punched out. Offsets do not
 * change, and head and tail stay readable. */
struct stream_file {
	int fd;              /* -1 until the first byte: a silent command creates no file */
	uint64_t size;       /* bytes accepted, including dropped ones */
	uint64_t cap;        /* 0: unlimited */
	uint64_t hole_start; /* [hole_start, hole_end) is punched out, or about to be */
	uint64_t hole_end;
	uint64_t lost; /* bytes that could not be written; they have no offset */
	bool cannot_punch;
};

void stream_file_init(struct stream_file *file, uint64_t cap);

/* Appends; opens NAME in DIRFD first if needed. Returns how many bytes were written. Never fails: the rest is counted
 * in `lost`, and the command continues. */
size_t stream_file_append(struct stream_file *file, int dirfd, const char *name, const char *bytes, size_t length);

/* Moves the end of the hole forward when it is due. True: the caller publishes the new hole, then calls
 * stream_file_punch. */
bool stream_file_grow_hole(struct stream_file *file);
void stream_file_punch(struct stream_file *file);

void stream_file_close(struct stream_file *file);

#endif
