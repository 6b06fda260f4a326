#include "feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

long feed_write(struct feed *feed, const char *bytes, size_t length)
{
	if (feed->fd < 0 || feed->closing)
		return -1;
	if (!feed->queue && !(feed->queue = malloc(FEED_QUEUE_MAX)))
		return 0;
	size_t room = FEED_QUEUE_MAX - feed->queued;
	size_t taken = length < room ? length : room;
	memcpy(feed->queue + feed->queued, bytes, taken);
	feed->queued += taken;
	if (taken > 0)
		feed->amid_line = bytes[taken - 1] != '\n' && bytes[taken - 1] != '\r';
	feed_pump(feed);
	return feed->fd < 0 ? -1 : (long)taken;
}

/* In the middle of a line the first one only sends off what was typed; the second, on nothing, is the end. */
static void type_end(struct feed *feed)
{
	struct termios modes;
	char end[2] = {'\4', '\4'};
	if (tcgetattr(feed->fd, &modes) == 0 && modes.c_cc[VEOF] != _POSIX_VDISABLE)
		end[0] = end[1] = (char)modes.c_cc[VEOF];
	feed_write(feed, end, feed->amid_line ? 2 : 1);
	feed->amid_line = false;
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
	*feed = (struct feed){.fd = -1};
}
