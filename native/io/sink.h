#ifndef SALLYPORT_SINK_H
#define SALLYPORT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file that output is appended to, with a bound on the disk it takes (promise 6): once it is longer than the cap,
 * the middle is punched out. Offsets stay true; head and tail stay readable. */
struct sink {
	int fd;               /* -1 until the first byte: a silent command costs no file */
	uint64_t size;        /* bytes accepted, dropped ones included */
	uint64_t cap;         /* 0: none */
	uint64_t hole_start;  /* [hole_start, hole_end) was or is about to be punched out */
	uint64_t hole_end;
	uint64_t lost;        /* bytes the disk refused; they have no offset */
	bool cannot_punch;
};

void sink_init(struct sink *sink, uint64_t cap);

/* Appends; opens NAME below DIRFD first if needed. Returns how many bytes were kept. Never fails: what the disk
 * refuses is counted in `lost`, and the command goes on. */
size_t sink_append(struct sink *sink, int dirfd, const char *name, const char *bytes, size_t length);

/* Moves the hole's end forward when it is due. True: publish the new hole, then call sink_punch. */
bool sink_grow_hole(struct sink *sink);
void sink_punch(struct sink *sink);

void sink_close(struct sink *sink);

#endif
