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

/* The result of a command, as the exit record states it. */
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
	uint64_t disk_bytes;             /* of write_bytes, the part that went to files */
	uint64_t tree_peak, tree_cpu_us; /* of the whole tree, counted by the kernel; 0: unknown */
	enum limit_kind limit;           /* the first one that was exceeded */
	uint64_t limit_value, limit_peak;
	bool unenforced_memory, unenforced_cpu, unenforced_tasks; /* limits that the kernel does not enforce here */
	unsigned leftover;
	unsupported_t unsupported; /* features that the sandbox lacks */
	bool final;                /* no process of the tree is left */
};

#define EXIT_RECORD_MAX 2048

/* Formats the record as one line of JSON with a newline and EVENT as its "ev". Returns the length. */
size_t exit_record_format(const struct exit_record *record, const char *event, const struct stream_file *streams,
			  unsigned count, char text[EXIT_RECORD_MAX]);

/* Reserves disk space for the record before the disk can fill up. */
int exit_record_reserve(int dirfd);

/* Writes TEXT and renames the file, so that a reader sees a complete record or none (invariant 4). 0, or -1 with
 * errno. */
int exit_record_write(int dirfd, int reserved, const char *text, size_t length, bool flush);

/* Adds the I/O of PID, a zombie child, and of the children it waited for. */
void exit_record_add_io(struct exit_record *record, pid_t pid);

/* Bytes that PID and the children it waited for have written to files. */
uint64_t exit_record_disk_bytes(pid_t pid);

#endif
