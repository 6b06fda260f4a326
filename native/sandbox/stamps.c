#include "sandbox/stamps.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MILLISECOND 1000000LL
#define SECOND (1000 * MILLISECOND)
/* Times of files move on with the kernel's tick, which is ten milliseconds at the slowest. */
#define SETTLED_AFTER (50 * MILLISECOND)
/* Some file systems tell times in whole seconds, or in steps of two. */
#define SETTLED_AFTER_WHOLE (2 * SECOND)

static bool look(const char *path, struct statx *status)
{
	const unsigned wanted = STATX_TYPE | STATX_INO | STATX_MTIME | STATX_CTIME | STATX_BTIME;
	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, wanted, status) == 0;
}

/* Whether a change after STATUS was taken is sure to show another time. The kernel alone sets the time of the last
 * change: parts of a second in it tell that its file system keeps them. A clock that was put back tells nothing. */
static bool is_settled(const struct statx *status)
{
	struct timespec now;
	if (clock_gettime(CLOCK_REALTIME_COARSE, &now) < 0)
		return false;
	const struct statx_timestamp *times[] = {&status->stx_mtime, &status->stx_ctime};
	int64_t enough = status->stx_ctime.tv_nsec ? SETTLED_AFTER : SETTLED_AFTER_WHOLE;
	for (unsigned i = 0; i < 2; i++) {
		/* A command may have set the first to anything. */
		int64_t then = times[i]->tv_sec;
		if (then < now.tv_sec - 2)
			continue;
		if (then > now.tv_sec || (now.tv_sec - then) * SECOND + now.tv_nsec - times[i]->tv_nsec < enough)
			return false;
	}
	return true;
}

int stamps_add(struct stamps *stamps, const char *path, enum stamp_kind kind)
{
	if (stamps->count == stamps->room) {
		size_t room = stamps->room ? stamps->room * 2 : 32;
		struct stamp *items = realloc(stamps->items, room * sizeof *items);
		if (!items)
			return -1;
		stamps->items = items;
		stamps->room = room;
	}
	struct stamp *stamp = &stamps->items[stamps->count];
	memset(stamp, 0, sizeof *stamp);
	stamp->kind = kind;
	stamp->path = strdup(path);
	if (!stamp->path)
		return -1;
	stamp->there = look(path, &stamp->status);
	stamps->count++;
	stamp->settled = is_settled(&stamp->status);
	if (kind == STAMP_CONTENT && stamp->there && !stamp->settled)
		stamps->fresh = true;
	return 0;
}

int stamps_add_entry(struct stamps *stamps, const char *folder, const char *entry)
{
	size_t last = stamps->count;
	while (last > 0 && stamps->items[last - 1].kind == STAMP_ITSELF)
		last--;
	/* Only one that vouches for all since. */
	struct stamp *above = last > 0 ? &stamps->items[last - 1] : NULL;
	bool same = above && above->kind == STAMP_VOUCHES && above->vouched == stamps->count - last &&
		    strcmp(above->path, folder) == 0;
	if (!same) {
		last = stamps->count + 1;
		if (stamps_add(stamps, folder, STAMP_VOUCHES) < 0)
			return -1;
	}
	if (stamps_add(stamps, entry, STAMP_ITSELF) < 0)
		return -1;
	stamps->items[last - 1].vouched++;
	return 0;
}

static bool same_time(const struct statx_timestamp *a, const struct statx_timestamp *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* A number may be given to a new file once the old one is gone; the hour of birth tells them apart. */
static bool is_same(const struct statx *a, const struct statx *b)
{
	bool birth = a->stx_mask & b->stx_mask & STATX_BTIME;
	return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
	       a->stx_dev_minor == b->stx_dev_minor && ((a->stx_mode ^ b->stx_mode) & S_IFMT) == 0 &&
	       (birth ? same_time(&a->stx_btime, &b->stx_btime) : same_time(&a->stx_ctime, &b->stx_ctime));
}

static bool holds(const struct stamp *stamp)
{
	struct statx now;
	if (!look(stamp->path, &now))
		return !stamp->there;
	if (!stamp->there || !is_same(&stamp->status, &now))
		return false;
	return stamp->kind == STAMP_ITSELF || (same_time(&stamp->status.stx_mtime, &now.stx_mtime) &&
					       same_time(&stamp->status.stx_ctime, &now.stx_ctime));
}

bool stamps_hold(const struct stamps *stamps)
{
	if (stamps->fresh)
		return false;
	for (size_t i = 0; i < stamps->count; i++) {
		const struct stamp *stamp = &stamps->items[i];
		bool same = holds(stamp);
		if (stamp->kind == STAMP_VOUCHES)
			/* Where there was no folder and still is none, nothing can have come into it. */
			i += same && stamp->settled ? stamp->vouched : 0;
		else if (!same)
			return false;
	}
	return true;
}

void stamps_free(struct stamps *stamps)
{
	for (size_t i = 0; i < stamps->count; i++)
		free(stamps->items[i].path);
	free(stamps->items);
	memset(stamps, 0, sizeof *stamps);
}
