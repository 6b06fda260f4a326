#include "io/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "log.h"

#ifndef TIOCGPTPEER /* missing in older headers */
#define TIOCGPTPEER _IO('T', 0x41)
#endif

#define SIZES_MAX (1 << 20) /* bounds the file no matter how often the terminal is resized (invariant 6) */

void terminal_init(struct terminal *terminal)
{
	*terminal = (struct terminal){.master = -1, .slave = -1, .sizes = -1};
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Records a size in the file `sizes`. A resize without output since the last one replaces it, because only sizes for
 * which output was drawn are relevant. */
static void record_size(struct terminal *terminal, uint64_t offset)
{
	char line[64];
	int n = snprintf(line, sizeof line, "%" PRIu64 " %u %u\n", offset, terminal->columns, terminal->rows);
	bool again = terminal->sizes_used > 0 && (offset == terminal->last_offset || terminal->sizes_used > SIZES_MAX);
	off_t at = again ? terminal->last_line : terminal->sizes_used;
	/* Best effort: the command continues if the disk is full. */
	if (terminal->sizes < 0 || pwrite(terminal->sizes, line, (size_t)n, at) != n)
		return;
	if (again)
		(void)!ftruncate(terminal->sizes, at + n);
	terminal->last_line = at;
	terminal->last_offset = offset;
	terminal->sizes_used = at + n;
}

/* Opens both sides of a pseudoterminal. Returns NULL, or the step that failed with errno set. */
static const char *open_pair(struct terminal *terminal, int devpts)
{
	int locked = 0;
	struct termios modes;
	struct winsize size = {.ws_col = terminal->columns, .ws_row = terminal->rows};
	const char *multiplexer = devpts < 0 ? "/dev/ptmx" : "ptmx";
	terminal->master = openat(devpts, multiplexer, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (terminal->master < 0)
		return "ptmx";
	if (ioctl(terminal->master, TIOCSPTLCK, &locked) < 0)
		return "unlock";
	terminal->slave = ioctl(terminal->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal->slave < 0)
		return "peer";
	if (ioctl(terminal->master, TIOCSWINSZ, &size) < 0)
		return "size";
	if (tcgetattr(terminal->slave, &modes) < 0)
		return "modes";
	modes.c_iflag |= IUTF8; /* backspace erases whole UTF-8 characters */
	return tcsetattr(terminal->slave, TCSANOW, &modes) < 0 ? "modes" : NULL;
}

void terminal_open(struct terminal *terminal, const struct request *request, int dirfd, int devpts)
{
	if (!request->columns)
		return;
	terminal->columns = request->columns;
	terminal->rows = request->rows;
	terminal->sizes = openat(dirfd, "sizes", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	const char *failed = open_pair(terminal, devpts);
	if (!failed) {
		record_size(terminal, 0);
		return;
	}
	int error = errno;
	log_warn("pty", "cannot open a terminal, the command runs on pipes: %s: %s", failed, strerror(error));
	close_one(&terminal->slave);
	close_one(&terminal->master);
	if (terminal->sizes >= 0)
		dprintf(terminal->sizes, "pipes %s %d\n", failed, error);
}

int terminal_stdio(const struct terminal *terminal)
{
	return fcntl(terminal->slave, F_DUPFD_CLOEXEC, 3);
}

bool terminal_resize(struct terminal *terminal, uint16_t columns, uint16_t rows, uint64_t offset)
{
	struct winsize size = {.ws_col = columns, .ws_row = rows};
	if (terminal->master < 0 || !columns || !rows || ioctl(terminal->master, TIOCSWINSZ, &size) < 0)
		return false;
	bool changed = columns != terminal->columns || rows != terminal->rows;
	terminal->columns = columns;
	terminal->rows = rows;
	if (changed)
		record_size(terminal, offset);
	return true;
}

bool terminal_hides_input(const struct terminal *terminal)
{
	struct termios modes;
	if (terminal->slave < 0 || tcgetattr(terminal->slave, &modes) < 0)
		return false;
	return (modes.c_lflag & ICANON) && !(modes.c_lflag & ECHO);
}

void terminal_close(struct terminal *terminal)
{
	close_one(&terminal->slave);
	close_one(&terminal->master);
	close_one(&terminal->sizes);
}
