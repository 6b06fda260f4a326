#ifndef SALLYPORT_REQUEST_H
#define SALLYPORT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/spec.h"

/* A frame from a gateway consists of the u32 length of the rest, the u8 type and the payload. Numbers are little
 * endian. */
enum frame_type {
	FRAME_RUN = 1,
	FRAME_WRITE = 2,
	FRAME_CLOSE_STDIN = 3,
	FRAME_SIGNAL = 4,
	FRAME_DEADLINE = 5,
	FRAME_WATCH = 6,
	FRAME_DETACH = 7,
	FRAME_STAT = 8,
	FRAME_RESIZE = 9,
	FRAME_INPUT_STATE = 10,
	FRAME_INPUT_WAIT = 11,
};

#define FRAME_HEADER 5u
#define RUN_FRAME_MAX (32u << 20) /* arguments, environment and stdin text in total */
#define CONTROL_FRAME_MAX (256u << 10)
#define LABEL_MAX 3000u

enum stdin_mode { STDIN_NONE = 0, STDIN_TEXT = 1, STDIN_OPEN = 2 };
enum capture_mode { CAPTURE_APART = 0, CAPTURE_MERGED = 1 };
enum run_flag { RUN_BACKGROUND = 1, RUN_FSYNC = 2 };

/* A parsed request to run one command. The strings point into the payload of the frame. */
struct request {
	const char *id;
	const char *title;
	const char *label; /* what the gateway knows about the command, to be kept with its exit record; may be NULL */
	const char *file;
	const char *path;
	const char *cwd;
	const char *log_path;
	const char *root; /* directory beneath which cwd and log_path are opened, or NULL for no restriction */
	char **argv;
	char **envp;
	const char *stdin_text;
	size_t stdin_length;
	uint8_t stdin_mode;
	uint8_t capture;
	uint16_t columns, rows; /* size of the terminal, or 0 for pipes */
	uint32_t flags;
	uint32_t umask;
	uint32_t announce_ms;
	int64_t timeout_ms;
	int64_t grace_ms;
	uint64_t disk_cap;
	/* Limits of the process tree; 0 means no limit. */
	uint64_t processes;   /* processes and threads */
	uint64_t open_files;  /* per process; 0 means the default soft limit */
	uint64_t file_size;   /* bytes per file; 0 means the inherited limit */
	uint64_t memory;      /* bytes */
	uint64_t cpu_milli;   /* thousandths of a CPU */
	uint64_t disk;        /* bytes written to files */
	bool exact_processes; /* `processes` was set by a user, so the kernel enforces it where possible */
	struct sandbox_spec sandbox;
	size_t argc;
	char **vectors; /* owns argv and envp */
};

/* Parses the payload of FRAME_RUN. Returns NULL, or an error message. Never reads outside the payload. The caller must
 * call request_free in either case. */
const char *request_parse(struct request *request, char *payload, size_t length);

void request_free(struct request *request);

#endif
