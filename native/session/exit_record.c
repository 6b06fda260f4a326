#include "session/exit_record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/request.h"
#include "log.h"

static const char *const reasons[] = {"exited", "timeout", "killed", "failed", "limit", "mask", "input"};
static const char *const limits[] = {"", "memory", "processes", "disk"};

int input_wait_format(const struct input_wait *wait, char text[INPUT_WAIT_TEXT_MAX])
{
	static const char *const sources[] = {"", "terminal", "stdin", "output"};
	if (wait->source == INPUT_NONE)
		return snprintf(text, INPUT_WAIT_TEXT_MAX, "null");
	return snprintf(text, INPUT_WAIT_TEXT_MAX,
			"{\"program\":\"%s\",\"source\":\"%s\",\"hidden\":%s,\"lines\":%s,\"events\":%s}",
			wait->program,
			sources[wait->source], wait->hidden ? "true" : "false", wait->lines ? "true" : "false",
			wait->epoll ? "true" : "false");
}

/* Formats the JSON members about limits, each with a trailing comma. Returns their length. */
static int format_limits(const struct exit_record *r, char *text, size_t room)
{
	size_t n = 0;
	if (r->limit != LIMIT_NONE)
		n += (size_t)snprintf(text, room,
				      "\"limit\":{\"kind\":\"%s\",\"value\":%" PRIu64 ",\"peak\":%" PRIu64 "},",
				      limits[r->limit], r->limit_value, r->limit_peak);
	if (r->out_of_memory)
		n += (size_t)snprintf(text + n, room - n, "\"outOfMemory\":true,");
	if (r->tree_peak)
		n += (size_t)snprintf(text + n, room - n, "\"treePeakBytes\":%" PRIu64 ",", r->tree_peak);
	if (r->tree_cpu_us)
		n += (size_t)snprintf(text + n, room - n, "\"treeCpuUs\":%" PRIu64 ",", r->tree_cpu_us);
	const bool unenforced[] = {r->unenforced_memory, r->unenforced_tasks, r->unenforced_cpu};
	const char *const names[] = {"memory", "processes", "cpu"};
	bool any = false;
	for (unsigned i = 0; i < 3; i++) {
		if (!unenforced[i])
			continue;
		n += (size_t)snprintf(text + n, room - n, "%s\"%s\"", any ? "," : "\"loose\":[", names[i]);
		any = true;
	}
	if (any)
		n += (size_t)snprintf(text + n, room - n, "],");
	return (int)n;
}

/* Formats the JSON members about masks, each with a leading comma. Returns their length. */
static int format_masks(const struct exit_record *r, char *text, size_t room)
{
	const struct paths_text *broken = &r->broken_masks, *created = &r->created;
	size_t n = 0;
	if (broken->count > 0)
		n += (size_t)snprintf(text, room, ",\"masks\":{\"reaction\":\"%s\",\"count\":%u,\"paths\":[%.*s]}",
				      r->killed_for_mask ? "kill" : "warn", broken->count, (int)broken->length,
				      broken->text);
	if (created->count > 0)
		n += (size_t)snprintf(text + n, room - n, ",\"created\":{\"count\":%u,\"paths\":[%.*s]}",
				      created->count, (int)created->length, created->text);
	return (int)n;
}

size_t exit_record_format(const struct exit_record *r, const char *event, const struct stream_file *streams,
			  unsigned count, char text[EXIT_RECORD_MAX])
{
	bool ran = r->reason != END_FAILED;
	int n = snprintf(text, EXIT_RECORD_MAX, "{\"ev\":\"%s\",\"v\":1,\"reason\":\"%s\",\"pid\":%d,", event,
			 reasons[r->reason], (int)r->pid);
	if (ran && WIFEXITED(r->wait_status))
		n += snprintf(text + n, EXIT_RECORD_MAX - (size_t)n, "\"code\":%d,\"signal\":0,\"core\":false,",
			      WEXITSTATUS(r->wait_status));
	else
		n += snprintf(text + n, EXIT_RECORD_MAX - (size_t)n, "\"code\":null,\"signal\":%d,\"core\":%s,",
			      ran ? WTERMSIG(r->wait_status) : 0, ran && WCOREDUMP(r->wait_status) ? "true" : "false");
	if (!ran)
		n += snprintf(text + n, EXIT_RECORD_MAX - (size_t)n, "\"step\":\"%s\",\"errno\":%d,", r->failed_step,
			      r->failed_error);
	n += format_limits(r, text + n, EXIT_RECORD_MAX - (size_t)n);
	n += snprintf(text + n, EXIT_RECORD_MAX - (size_t)n,
		      "\"startedUs\":%" PRId64 ",\"endedUs\":%" PRId64 ",\"durationUs\":%" PRId64 ",\"userUs\":%" PRId64
		      ",\"systemUs\":%" PRId64 ",\"maxRssKib\":%" PRId64 ",\"readBytes\":%" PRIu64
		      ",\"writeBytes\":%" PRIu64 ",\"leftover\":%u,\"final\":%s,\"streams\":[",
		      r->started_unix_us, r->ended_unix_us, r->ended_us - r->started_us, r->user_us, r->system_us,
		      r->max_rss_kib, r->read_bytes, r->write_bytes, r->leftover, r->final ? "true" : "false");
	for (unsigned i = 0; i < count; i++) {
		bool holed = streams[i].hole_end > streams[i].hole_start;
		n += snprintf(text + n, EXIT_RECORD_MAX - (size_t)n,
			      "%s{\"bytes\":%" PRIu64 ",\"droppedStart\":%" PRIu64 ",\"droppedEnd\":%" PRIu64
			      ",\"lost\":%" PRIu64 "}",
			      i ? "," : "", streams[i].size, holed ? streams[i].hole_start : 0,
			      holed ? streams[i].hole_end : 0, streams[i].lost);
	}
	n += snprintf(text + n, EXIT_RECORD_MAX - (size_t)n, "]");
	if ((count > 0 && streams[0].nuls) || (count > 1 && streams[1].nuls))
		n += snprintf(text + n, EXIT_RECORD_MAX - (size_t)n, ",\"nuls\":[%" PRIu64 ",%" PRIu64 "]",
			      streams[0].nuls, count > 1 ? streams[1].nuls : 0);
	if (r->unsupported) {
		char unsupported[UNSUPPORTED_TEXT_MAX];
		unsupported_format(r->unsupported, unsupported);
		n += snprintf(text + n, EXIT_RECORD_MAX - (size_t)n, ",\"gaps\":%s", unsupported);
	}
	if (r->input.source != INPUT_NONE) {
		char input[INPUT_WAIT_TEXT_MAX];
		input_wait_format(&r->input, input);
		n += snprintf(text + n, EXIT_RECORD_MAX - (size_t)n, ",\"input\":%s", input);
	}
	n += format_masks(r, text + n, EXIT_RECORD_MAX - (size_t)n);
	n += snprintf(text + n, EXIT_RECORD_MAX - (size_t)n, "}\n");
	return (size_t)n;
}

int exit_record_reserve(int dirfd, const char *label)
{
	int fd = openat(dirfd, "exit.new", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return fd;
	/* Best effort: without the reservation the record is lost if the disk fills up. */
	(void)fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, EXIT_RECORD_MAX + LABEL_MAX + 1);
	if (label && pwrite(fd, label, strlen(label), 0) < 0)
		log_debug("exit-record", "cannot write the label: %s", strerror(errno));
	return fd;
}

int exit_record_write(int dirfd, int reserved, const char *text, size_t length, const char *label, bool flush)
{
	size_t label_length = label ? strlen(label) : 0;
	struct iovec parts[] = {{(void *)(uintptr_t)text, length},
				{(void *)(uintptr_t)label, label_length},
				{(void *)(uintptr_t)"\n", label ? 1 : 0}};
	ssize_t n;
	do
		n = pwritev(reserved, parts, 3, 0);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)(length + parts[1].iov_len + parts[2].iov_len))
		return -1;
	if (flush && fdatasync(reserved) < 0)
		return -1;
	if (renameat(dirfd, "exit.new", dirfd, "exit") < 0)
		return -1;
	return flush ? fsync(dirfd) : 0;
}

static uint64_t io_field(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static bool read_io(pid_t pid, char text[512])
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/io", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, text, 511);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

uint64_t exit_record_disk_bytes(pid_t pid)
{
	char text[512];
	return read_io(pid, text) ? io_field(text, "\nwrite_bytes: ") : 0;
}

void exit_record_add_io(struct exit_record *record, pid_t pid)
{
	char text[512];
	if (!read_io(pid, text))
		return;
	record->read_bytes += io_field(text, "rchar: ");
	record->write_bytes += io_field(text, "wchar: ");
}
