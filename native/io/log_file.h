#ifndef SALLYPORT_LOG_FILE_H
#define SALLYPORT_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The plain text file that a request names for the output of both streams. People and programs read it without
 * Sallyport, so it has no holes: beyond the cap the middle is removed, and a line in its place says how much is missing
 * (invariants 4 and 6). */
struct log_file {
	int fd;
	uint64_t size;      /* bytes in the file */
	uint64_t cap;       /* 0 means unlimited */
	uint64_t head;      /* where the middle was removed; 0 until then */
	uint64_t mark;      /* length of the line in its place */
	uint64_t dropped;   /* bytes removed so far */
	uint64_t unwritten; /* bytes that could not be written and are not marked yet */
	bool stuck;         /* the middle cannot be removed, so that nothing is written beyond the cap */
};

/* Takes over FD, which must be open for reading and writing. */
void log_file_init(struct log_file *log, int fd, uint64_t cap);
void log_file_append(struct log_file *log, const char *bytes, size_t length);
void log_file_close(struct log_file *log);

#endif
