#include "io/feed.h"

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

/* A given text sits in a memory file, so that the keeper need not feed it and the command cannot stall on it. */
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

const char *feed_open(struct feed *feed, const struct request *request, const struct terminal *terminal,
		      int stdio[3])
{
	int ends[2];
	*feed = (struct feed){.fd = -1};
	if (terminal->master >= 0) {
		feed->terminal = true;
		feed->fd = fcntl(terminal->master, F_DUPFD_CLOEXEC, 3);
		if (feed->fd < 0)
			return "terminal";
		stdio[0] = terminal_stdio(terminal);
	} else if (request->stdin_mode == STDIN_OPEN) {
		if (pipe2(ends, O_CLOEXEC) < 0)
			return "pipe";
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
		stdio[0] = ends[0];
		feed->fd = ends[1];
	} else if (request->stdin_mode == STDIN_TEXT) {
		stdio[0] = text_file(request->stdin_text, request->stdin_length);
	} else {
		stdio[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	}
	return stdio[0] < 0 ? "stdin" : NULL;
}

void feed_pump(struct feed *feed)
{
	while (feed->fd >= 0 && feed->queued > 0) {
		ssize_t n = write(feed->fd, feed->queue, feed->queued);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n < 0) { /* the command closed its stdin */
			feed_close(feed);
			return;
		}
		feed->queued -= (size_t)n;
		memmove(feed->queue, feed->queue + n, feed->queued);
	}
	if (feed->closing)
		feed_close(feed);
}

/* Whether this key makes the kernel drop what was typed so far and interrupt the program in front, which then does the
 * same. One that ignores the signal may keep its line. */
static bool interrupts(const struct feed *feed, char key, int group)
{
	char path[64], text[4096];
	struct termios modes;
	if ((unsigned char)key >= ' ' || tcgetattr(feed->fd, &modes) < 0 || !(modes.c_lflag & ISIG) ||
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

static void note_typed(struct feed *feed, const char *bytes, size_t length)
{
	if (!feed->typed && !(feed->typed = malloc(FEED_TYPED_MAX)))
		return;
	int group = 0;
	(void)ioctl(feed->fd, TIOCGPGRP, &group);
	if (group != feed->typed_group)
		feed->typed_before = feed->typed_length;
	feed->typed_group = group;
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == '\n' || bytes[i] == '\r' || interrupts(feed, bytes[i], group)) {
			feed->typed_length = 0;
			feed->typed_overlong = false;
			feed->typed_before = 0;
		} else if (feed->typed_length < FEED_TYPED_MAX) {
			feed->typed[feed->typed_length++] = bytes[i];
		} else {
			feed->typed_overlong = true;
		}
	}
}

static size_t enqueue(struct feed *feed, const char *bytes, size_t length)
{
	if (!feed->queue && !(feed->queue = malloc(FEED_QUEUE_MAX)))
		return 0;
	size_t room = FEED_QUEUE_MAX - feed->queued;
	size_t taken = length < room ? length : room;
	memcpy(feed->queue + feed->queued, bytes, taken);
	feed->queued += taken;
	feed_pump(feed);
	return taken;
}

long feed_write(struct feed *feed, const char *bytes, size_t length)
{
	if (feed->fd < 0 || feed->closing)
		return -1;
	size_t taken = enqueue(feed, bytes, length);
	if (feed->fd < 0)
		return -1;
	if (feed->terminal)
		note_typed(feed, bytes, taken);
	return (long)taken;
}

void feed_answer(struct feed *feed, const char *bytes, size_t length)
{
	if (feed->fd >= 0)
		enqueue(feed, bytes, length);
}

/* In the middle of a line the first one only sends off what was typed; the second, on nothing, is the end. */
static void type_end(struct feed *feed)
{
	struct termios modes;
	char end[2] = {'\4', '\4'};
	if (tcgetattr(feed->fd, &modes) == 0 && modes.c_cc[VEOF] != _POSIX_VDISABLE)
		end[0] = end[1] = (char)modes.c_cc[VEOF];
	feed_answer(feed, end, feed->typed_length > 0 ? 2 : 1);
	feed->typed_length = 0;
	feed->typed_overlong = false;
	feed->typed_before = 0;
}

void feed_finish(struct feed *feed)
{
	if (feed->terminal) {
		type_end(feed);
		return;
	}
	feed->closing = true;
	feed_pump(feed);
}

void feed_close(struct feed *feed)
{
	if (feed->fd >= 0)
		close(feed->fd);
	free(feed->queue);
	free(feed->typed);
	*feed = (struct feed){.fd = -1};
}
