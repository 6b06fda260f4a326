#ifndef SALLYPORT_EXIT_RECORD_H
#define SALLYPORT_EXIT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "io/pty.h"
#include "io/stream_file.h"
#include "sandbox/monitor/mask_monitor.h"
#include "sandbox/unsupported.h"

enum end_reason { END_EXITED, END_TIMEOUT, END_KILLED, END_FAILED, END_LIMIT, END_MASK, END_INPUT };
enum limit_kind { LIMIT_NONE, LIMIT_MEMORY, LIMIT_PROCESSES, LIMIT_DISK };

/* The result of a command, as stored in its exit record. */
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
	uint64_t disk_bytes;             /* the part of write_bytes that was written to files */
	uint64_t tree_peak, tree_cpu_us; /* usage of the whole tree as counted by the kernel, or 0 if unknown */
	enum limit_kind limit;           /* the first limit that was exceeded */
	uint64_t limit_value, limit_peak;
	bool out_of_memory; /* the main process, or a child whose exit it reports, was killed because memory ran out */
	bool unenforced_memory, unenforced_cpu, unenforced_tasks; /* limits that the kernel does not enforce here */
	unsigned leftover;         /* processes that were running after the main process had exited */
	unsupported_t unsupported; /* sandbox features that were not available */
	struct paths_text broken_masks;
	bool killed_for_mask;      /* the reaction to broken masks */
	struct paths_text created; /* protected paths that were not protected, and were created or changed */
	struct input_wait input;   /* the process that waited for input when the command was ended */
	bool final;                /* no further record follows */
};

#define EXIT_RECORD_MAX 4096
#define INPUT_WAIT_TEXT_MAX 128

/* Formats WAIT as a JSON value, which is null if no process waits. Returns its length. */
int input_wait_format(const struct input_wait *wait, char text[INPUT_WAIT_TEXT_MAX]);

/* Formats the record as a line of JSON whose "ev" is EVENT. Returns the length including the newline. */
size_t exit_record_format(const struct exit_record *record, const char *event, const struct stream_file *streams,
			  unsigned count, char text[EXIT_RECORD_MAX]);

/* Creates a temporary file with disk space for the record, so that it can be written even if the disk fills up. It starts
 * with LABEL, if that is not NULL, so that a command can be identified that never gets a record. Returns a descriptor, or
 * -1 with errno. */
int exit_record_reserve(int dirfd, const char *label);

/* Writes TEXT and, on a line of its own, LABEL to the reserved file and renames it, so that a reader sees a complete
 * record or none (invariant 4). With FLUSH, it is on the disk before this returns. Returns 0, or -1 with errno. */
int exit_record_write(int dirfd, int reserved, const char *text, size_t length, const char *label, bool flush);

/* Adds the I/O of PID, a zombie child, and of the children that it has reaped. */
void exit_record_add_io(struct exit_record *record, pid_t pid);

/* Returns the number of bytes that PID and the children that it has reaped have written to files. */
uint64_t exit_record_disk_bytes(pid_t pid);

#endif
