#include "io/stdin_pump.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

/* Returns a memfd with TEXT, which the command can read at its own pace without the keeper. */
static int text_file(const char *text, size_t length)
{
	int fd = memfd_create("stdin", MFD_CLOEXEC);
	size_t written = 0;
	while (fd >= 0 && written < length) {
		ssize_t n = write(fd, text + written, length - written);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			close(fd);
			return -1;
		}
		written += (size_t)n;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

const char *stdin_pump_open(struct stdin_pump *pump, const struct request *request, const struct terminal *terminal,
			    int stdio[3])
{
	int ends[2];
	*pump = (struct stdin_pump){.fd = -1};
	if (terminal->master >= 0) {
		pump->terminal = true;
		pump->fd = fcntl(terminal->master, F_DUPFD_CLOEXEC, 3);
		if (pump->fd < 0)
			return "terminal";
		stdio[0] = terminal_stdio(terminal);
	} else if (request->stdin_mode == STDIN_OPEN) {
		if (pipe2(ends, O_CLOEXEC) < 0)
			return "pipe";
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
		stdio[0] = ends[0];
		pump->fd = ends[1];
	} else if (request->stdin_mode == STDIN_TEXT) {
		stdio[0] = text_file(request->stdin_text, request->stdin_length);
	} else {
		stdio[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	}
	return stdio[0] < 0 ? "stdin" : NULL;
}

void stdin_pump_flush(struct stdin_pump *pump)
{
	while (pump->fd >= 0 && pump->queued > 0) {
		ssize_t n = write(pump->fd, pump->queue, pump->queued);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n < 0) { /* the command has closed its stdin */
			stdin_pump_close(pump);
			return;
		}
		pump->queued -= (size_t)n;
		memmove(pump->queue, pump->queue + n, pump->queued);
	}
	if (pump->closing)
		stdin_pump_close(pump);
}

/* Reports whether KEY makes the kernel discard the current line and send SIGINT to the foreground program, which then
 * discards its line as well. A program that ignores SIGINT may keep its line. */
static bool is_interrupt_key(const struct stdin_pump *pump, char key, int group)
{
	char path[64], text[4096];
	struct termios modes;
	if ((unsigned char)key >= ' ' || tcgetattr(pump->fd, &modes) < 0 || !(modes.c_lflag & ISIG) ||
	    (unsigned char)key != modes.c_cc[VINTR])
		return false;
	snprintf(path, sizeof path, "/proc/%d/status", group);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	const char *ignored = strstr(text, "\nSigIgn:");
	return ignored && !(strtoull(ignored + 8, NULL, 16) >> (SIGINT - 1) & 1);
}

static void track_line(struct stdin_pump *pump, const char *bytes, size_t length)
{
	if (!pump->typed && !(pump->typed = malloc(STDIN_LINE_MAX)))
		return;
	int group = 0;
	(void)ioctl(pump->fd, TIOCGPGRP, &group);
	if (group != pump->typed_group)
		pump->typed_before = pump->typed_length;
	pump->typed_group = group;
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == '\n' || bytes[i] == '\r' || is_interrupt_key(pump, bytes[i], group)) {
			pump->typed_length = 0;
			pump->typed_overlong = false;
			pump->typed_before = 0;
		} else if (pump->typed_length < STDIN_LINE_MAX) {
			pump->typed[pump->typed_length++] = bytes[i];
		} else {
			pump->typed_overlong = true;
		}
	}
}

static size_t enqueue(struct stdin_pump *pump, const char *bytes, size_t length)
{
	if (!pump->queue && !(pump->queue = malloc(STDIN_QUEUE_MAX)))
		return 0;
	size_t room = STDIN_QUEUE_MAX - pump->queued;
	size_t accepted = length < room ? length : room;
	memcpy(pump->queue + pump->queued, bytes, accepted);
	pump->queued += accepted;
	stdin_pump_flush(pump);
	return accepted;
}

long stdin_pump_write(struct stdin_pump *pump, const char *bytes, size_t length)
{
	if (pump->fd < 0 || pump->closing)
		return -1;
	size_t accepted = enqueue(pump, bytes, length);
	if (pump->fd < 0)
		return -1;
	if (pump->terminal)
		track_line(pump, bytes, accepted);
	return (long)accepted;
}

void stdin_pump_type(struct stdin_pump *pump, const char *bytes, size_t length)
{
	if (pump->fd >= 0)
		enqueue(pump, bytes, length);
}

/* Types the EOF character. In the middle of a line the first one only submits the line, so a second one is needed. */
static void type_eof(struct stdin_pump *pump)
{
	struct termios modes;
	char end[2] = {'\4', '\4'};
	if (tcgetattr(pump->fd, &modes) == 0 && modes.c_cc[VEOF] != _POSIX_VDISABLE)
		end[0] = end[1] = (char)modes.c_cc[VEOF];
	stdin_pump_type(pump, end, pump->typed_length > 0 ? 2 : 1);
	pump->typed_length = 0;
	pump->typed_overlong = false;
	pump->typed_before = 0;
}

void stdin_pump_finish(struct stdin_pump *pump)
{
	if (pump->terminal) {
		type_eof(pump);
		return;
	}
	pump->closing = true;
	stdin_pump_flush(pump);
}

void stdin_pump_close(struct stdin_pump *pump)
{
	if (pump->fd >= 0)
		close(pump->fd);
	free(pump->queue);
	free(pump->typed);
	*pump = (struct stdin_pump){.fd = -1};
}
