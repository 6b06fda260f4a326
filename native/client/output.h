#ifndef SALLYPORT_CLIENT_OUTPUT_H
#define SALLYPORT_CLIENT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTPUT_CHUNK (64u << 10)

/* Reads the output of a session from its log, as it grows. */
struct output {
	int folder; /* the folder of the session */
	bool merged;
	int files[2]; /* the streams; with `merged`, only the first */
	int timeline;
	uint64_t offsets[2];     /* bytes of each stream that were read */
	uint64_t block;          /* the position in the timeline */
	unsigned record;         /* the record in that block */
	uint64_t targets[2];     /* bytes of each stream before the current block */
	unsigned current;        /* the stream of the record that is being read */
	uint64_t left;           /* bytes of that record that were not read yet */
	unsigned char held[2][4]; /* the start of a character whose rest has not arrived */
	unsigned held_length[2];
	unsigned last_held;
	bool settled;     /* the timeline has been read to its end, and no more output follows */
	uint64_t missing; /* bytes that were dropped by the disk cap or lost */
};

struct chunk {
	unsigned stream; /* 0 is stdout or both, 1 is stderr */
	const unsigned char *bytes;
	size_t length;
};

enum output_result {
	OUTPUT_CHUNK_READ,
	OUTPUT_NONE, /* nothing more at this time or, once the command has ended, at all */
};

bool output_open(struct output *output, const char *folder, bool merged);

/* Returns the next bytes. They end at the boundary of a character, so that the other stream can be printed in between.
 * ENDED means that no more output follows. */
enum output_result output_next(struct output *output, bool ended, struct chunk *chunk);

/* Returns the number of bytes of a stream that were returned by output_next. */
uint64_t output_returned(const struct output *output, unsigned stream);

#endif
