#ifndef SALLYPORT_TIMELINE_H
#define SALLYPORT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "io/stream_file.h"

/* Which stream grew by how much, when. docs/keeper.md describes the file. Blocks start with absolute positions, so
 * that a reader can begin anywhere and the middle can be punched out. */
#define TIMELINE_HEADER 128u
#define TIMELINE_BLOCK 4096u
#define TIMELINE_BLOCK_HEADER 32u
#define TIMELINE_RECORDS ((TIMELINE_BLOCK - TIMELINE_BLOCK_HEADER) / 8u)
#define TIMELINE_KEEP_BLOCKS 2048u /* 8 MiB; half of them head, half tail */

enum timeline_kind { KIND_DATA = 0, KIND_LOST = 2 };

struct timeline {
	int fd;
	int64_t start_unix_ms;
	int64_t start_us;  /* monotonic */
	uint64_t block;    /* index of the current one */
	uint64_t hole_end; /* blocks [TIMELINE_KEEP_BLOCKS / 2, hole_end) are punched */
	unsigned used;     /* records in the current block */
	unsigned flushed;  /* of which are in the file */
	bool broken;       /* the disk refused a part: readers fall back on the streams themselves */
	unsigned char bytes[TIMELINE_BLOCK];
};

void timeline_init(struct timeline *timeline, int64_t start_unix_us, int64_t start_us);

/* Notes that STREAM grew (or lost) LENGTH bytes now. OFFSETS are the streams' sizes before that. */
void timeline_add(struct timeline *timeline, enum timeline_kind kind, unsigned stream, uint64_t length,
		  const uint64_t offsets[2], int64_t now_us);

/* When that was, since the epoch, by the clock the records are of. */
int64_t timeline_unix_ms(const struct timeline *timeline, int64_t us);

/* Writes what was added since. Opens the file below DIRFD when it is the first time. */
void timeline_flush(struct timeline *timeline, int dirfd, const struct stream_file *streams, unsigned count);

/* Rewrites the header: readers learn of holes from it, so it goes out before a hole is punched. */
void timeline_publish(struct timeline *timeline, int dirfd, const struct stream_file *streams, unsigned count);

void timeline_close(struct timeline *timeline);

#endif
