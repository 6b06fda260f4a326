#ifndef SALLYPORT_TIMELINE_H
#define SALLYPORT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "io/stream_file.h"

/* Records the time and size of each output of each stream. docs/keeper-protocol.md describes the file. Blocks start
 * with absolute positions, so that a reader can start at any block and the middle can be punched out. */
#define TIMELINE_HEADER 128u
#define TIMELINE_BLOCK 4096u
#define TIMELINE_BLOCK_HEADER 32u
#define TIMELINE_RECORDS ((TIMELINE_BLOCK - TIMELINE_BLOCK_HEADER) / 8u)
#define TIMELINE_KEEP_BLOCKS 2048u /* 8 MiB: half for the head, half for the tail */

enum timeline_kind { KIND_DATA = 0, KIND_LOST = 2 };

struct timeline {
	int fd;
	int64_t start_unix_ms;
	int64_t start_us;  /* monotonic time */
	uint64_t block;    /* index of the current block */
	uint64_t hole_end; /* blocks [TIMELINE_KEEP_BLOCKS / 2, hole_end) are punched out */
	unsigned used;     /* number of records in the current block */
	unsigned flushed;  /* number of these that are in the file */
	bool broken;       /* a write failed, so the timeline is incomplete */
	unsigned char bytes[TIMELINE_BLOCK];
};

void timeline_init(struct timeline *timeline, int64_t start_unix_us, int64_t start_us);

/* Adds a record that STREAM grew by, or lost, LENGTH bytes at NOW_US. OFFSETS are the previous sizes of the streams. */
void timeline_add(struct timeline *timeline, enum timeline_kind kind, unsigned stream, uint64_t length,
		  const uint64_t offsets[2], int64_t now_us);

/* Converts a monotonic time to Unix time in ms, on the clock of the records. */
int64_t timeline_unix_ms(const struct timeline *timeline, int64_t us);

/* Writes new records to the file in DIRFD, and creates it on the first call. */
void timeline_flush(struct timeline *timeline, int dirfd, const struct stream_file *streams, unsigned count);

/* Rewrites the header, which tells readers about holes. Must be called before a hole is punched. */
void timeline_publish(struct timeline *timeline, int dirfd, const struct stream_file *streams, unsigned count);

void timeline_close(struct timeline *timeline);

#endif
