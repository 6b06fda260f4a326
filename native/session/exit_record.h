#ifndef SALLYPORT_EXIT_RECORD_H
#define SALLYPORT_EXIT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "io/stream_file.h"
#include "sandbox/unsupported.h"

enum end_reason { END_EXITED, END_TIMEOUT, END_KILLED, END_FAILED, END_LIMIT };
enum limit_kind { LIMIT_NONE, LIMIT_MEMORY, LIMIT_PROCESSES, LIMIT_DISK };

/* What became of a command: everything the exit record says. */
struct exit_record {
	enum end_reason reason;
	pid_t pid;
	int wait_status;
	const char *failed_step;
	int failed_error;
	int64_t started_unix_us, ended_unix_us;
	int64_t started_us, ended_us;
	int64_t user_us, system_us;
	int64_t max_rss_kib;
	uint64_t read_bytes, write_bytes;
	uint64_t disk_bytes;             /* of those written, what went to files */
	uint64_t tree_peak, tree_cpu_us; /* of the whole tree, as the kernel counted it; 0: it did not */
	enum limit_kind limit;           /* the first that was exceeded */
	uint64_t limit_value, limit_peak;
	bool unenforced_memory, unenforced_cpu, unenforced_tasks; /* limits that the kernel does not keep here */
	unsigned leftover;
	unsupported_t unsupported; /* what was left out of its sandbox */
	bool final;                /* nothing of the tree is left */
};

#define EXIT_RECORD_MAX 2048

/* The record as one line of JSON, newline included, with EVENT as its "ev". Returns its length. */
size_t exit_record_format(const struct exit_record *record, const char *event, const struct stream_file *streams,
			  unsigned count, char text[EXIT_RECORD_MAX]);

/* Reserves the record's room on disk while there still is some. */
int exit_record_reserve(int dirfd);

/* Writes TEXT and renames it into place, so a reader sees a whole record or none (promise 4). 0, or -1 with errno. */
int exit_record_write(int dirfd, int reserved, const char *text, size_t length, bool flush);

/* Adds the I/O of PID, a zombie child not yet waited for, and of all it waited for itself. */
void exit_record_add_io(struct exit_record *record, pid_t pid);

/* What PID, and all it waited for, wrote to files so far. */
uint64_t exit_record_disk_bytes(pid_t pid);

#endif
