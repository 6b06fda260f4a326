#ifndef SALLYPORT_STREAM_FILE_H
#define SALLYPORT_STREAM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file that output is appended to, with a bound on the disk it takes (promise 6): once it is longer than the cap,
 * the middle is punched out. Offsets stay true; head and tail stay readable. */
struct stream_file {
	int fd;              /* -1 until the first byte: a silent command costs no file */
	uint64_t size;       /* bytes accepted, dropped ones included */
	uint64_t cap;        /* 0: none */
	uint64_t hole_start; /* [hole_start, hole_end) was or is about to be punched out */
	uint64_t hole_end;
	uint64_t lost; /* bytes the disk refused; they have no offset */
	bool cannot_punch;
};

void stream_file_init(struct stream_file *file, uint64_t cap);

/* Appends; opens NAME below DIRFD first if needed. Returns how many bytes were kept. Never fails: what the disk
 * refuses is counted in `lost`, and the command goes on. */
size_t stream_file_append(struct stream_file *file, int dirfd, const char *name, const char *bytes, size_t length);

/* Moves the hole's end forward when it is due. True: publish the new hole, then call stream_file_punch. */
bool stream_file_grow_hole(struct stream_file *file);
void stream_file_punch(struct stream_file *file);

void stream_file_close(struct stream_file *file);

#endif
