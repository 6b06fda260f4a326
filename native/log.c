#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"

#define NAME "keeper.log"
#define OLD_NAME "keeper.log.1"
#define LINE_MAX_BYTES 512u
#define SECOND_US 1000000
/* Rate limit per level, shared by all keepers. Commands can cause some lines, and a flood of them must neither displace
 * earlier lines nor suppress errors. `debug` has no limit. */
#ifndef LOG_LINES_PER_WINDOW
#define LOG_LINES_PER_WINDOW 600u
#define LOG_WINDOW_US (60 * SECOND_US)
#endif

static const char *const names[] = {"error", "warn", "info", "debug"};

/* Shared by the zygote and all of its keepers. */
struct shared {
	int64_t window_us; /* start of the window in which LINES are counted */
	unsigned lines[LOG_LEVEL_DEBUG], lost;
	uint32_t conditions; /* bit set of conditions that have occurred */
};

static struct shared alone, *shared = &alone;
static int state_fd = -1, fd = -1;
static enum log_level most = LOG_LEVEL_WARN;
static pid_t owner; /* the process that may log, or 0 when logging is disabled */

enum log_level log_level_of(const char *text)
{
	for (unsigned level = 0; text && level < sizeof names / sizeof *names; level++)
		if (strcmp(text, names[level]) == 0)
			return (enum log_level)level;
	return LOG_LEVEL_WARN;
}

/* ---- the file ---- */

static void reopen(void)
{
	struct stat status;
	int fresh = openat(state_fd, NAME,
			   O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	if (fresh < 0)
		return;
	/* A pipe or a device could block the keeper. */
	if (fstat(fresh, &status) < 0 || !S_ISREG(status.st_mode)) {
		close(fresh);
		return;
	}
	if (status.st_mode & 0077)
		(void)fchmod(fresh, 0600);
	if (fd >= 0)
		close(fd);
	fd = fresh;
}

/* Reports whether FD still refers to the file of that name. Another process may have rotated it. */
static bool is_current(void)
{
	struct stat ours, named;
	return fd >= 0 && fstat(fd, &ours) == 0 && fstatat(state_fd, NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

/* Renames a full log and opens a new one. A lock on the file lets one process rotate at a time; the others do not wait.
 * Record locks belong to a process, so they also exclude keepers that inherited the same descriptor. */
static void rotate(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	if (fcntl(fd, F_SETLK, &lock) < 0)
		return;
	bool moved = !is_current() || renameat(state_fd, NAME, state_fd, OLD_NAME) == 0;
	lock.l_type = F_UNLCK;
	(void)fcntl(fd, F_SETLK, &lock);
	if (moved)
		reopen();
}

static bool fits(size_t length)
{
	struct stat status;
	return fd >= 0 && fstat(fd, &status) == 0 && (uint64_t)status.st_size + length <= LOG_MAX;
}

/* Writes a line in a single call, so that lines of several processes do not mix. Processes that write at the same time
 * exceed LOG_MAX by at most one line each. */
static bool append(const char *text, size_t length)
{
	if (!is_current())
		reopen();
	if (fd >= 0 && !fits(length))
		rotate();
	return fits(length) && write(fd, text, length) == (ssize_t)length;
}

/* ---- lines ---- */

/* Formats a time as ISO 8601 in UTC. gmtime_r is not used because it may read files and allocate memory. The date is
 * computed from the number of days since 1970, in eras of 400 years. */
static size_t format_time(char *text, size_t room, int64_t us)
{
	int64_t days = us / SECOND_US / 86400 + 719468, second = us / SECOND_US % 86400;
	int64_t era = days / 146097, day = days % 146097;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	day -= 365 * year + year / 4 - year / 100;
	int64_t month = (5 * day + 2) / 153; /* 0 is March */
	day -= (153 * month + 2) / 5 - 1;
	month = month < 10 ? month + 3 : month - 9;
	year += 400 * era + (month <= 2);
	int n = snprintf(text, room, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", (int)year, (int)month, (int)day,
			 (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60), (int)(us / 1000 % 1000));
	return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

/* Formats and writes one line. Control characters are replaced, and the line is truncated to LINE_MAX_BYTES. */
static bool write_line(enum log_level level, const char *component, const char *format, va_list arguments)
{
	char text[LINE_MAX_BYTES];
	size_t used = format_time(text, sizeof text, unix_us());
	used += (size_t)snprintf(text + used, sizeof text - used, " %s %d %.32s: ", names[level], (int)owner,
				 component);
	size_t room = sizeof text - used;
	int n = vsnprintf(text + used, room, format, arguments);
	if (n < 0)
		return false;
	used += (size_t)n < room ? (size_t)n : room - 1;
	for (size_t i = 0; i < used; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			text[i] = '?';
	text[used++] = '\n';
	return append(text, used);
}

static void write_text(enum log_level level, const char *component, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	(void)write_line(level, component, format, arguments);
	va_end(arguments);
}

static bool within_rate(enum log_level level)
{
	if (level == LOG_LEVEL_DEBUG)
		return true;
	int64_t now = monotonic_us(), start = __atomic_load_n(&shared->window_us, __ATOMIC_RELAXED);
	if (now - start >= LOG_WINDOW_US &&
	    __atomic_compare_exchange_n(&shared->window_us, &start, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		for (unsigned each = 0; each < LOG_LEVEL_DEBUG; each++)
			__atomic_store_n(&shared->lines[each], 0, __ATOMIC_RELAXED);
	return __atomic_add_fetch(&shared->lines[level], 1, __ATOMIC_RELAXED) <= LOG_LINES_PER_WINDOW;
}

void log_line(enum log_level level, const char *component, const char *format, ...)
{
	/* A child that has not called exec yet shares these variables, but has another pid. */
	if (level > most || owner == 0 || getpid() != owner)
		return;
	int error = errno;
	bool written = false;
	if (within_rate(level)) {
		unsigned lost = __atomic_exchange_n(&shared->lost, 0, __ATOMIC_RELAXED);
		va_list arguments;
		if (lost > 0)
			write_text(LOG_LEVEL_WARN, "log", "dropped %u lines", lost);
		va_start(arguments, format);
		written = write_line(level, component, format, arguments);
		va_end(arguments);
	}
	if (!written)
		__atomic_add_fetch(&shared->lost, 1, __ATOMIC_RELAXED);
	errno = error;
}

bool log_first(unsigned condition)
{
	uint32_t bit = UINT32_C(1) << (condition & 31u);
	return !(__atomic_fetch_or(&shared->conditions, bit, __ATOMIC_RELAXED) & bit);
}

void log_open(int folder, enum log_level level)
{
	void *page = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED)
		shared = page;
	state_fd = folder;
	most = level;
	reopen();
	log_adopt();
}

void log_adopt(void)
{
	if (state_fd >= 0)
		owner = getpid();
}
