#include "sandbox/path_fingerprints.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MILLISECOND 1000000LL
#define SECOND (1000 * MILLISECOND)
/* File times advance with the kernel tick, which takes at most 10 ms. */
#define SETTLED_AFTER (50 * MILLISECOND)
/* Some file systems have a time resolution of one or two seconds. */
#define SETTLED_AFTER_WHOLE (2 * SECOND)

static bool stat_path(const char *path, struct statx *status)
{
	const unsigned wanted = STATX_TYPE | STATX_INO | STATX_MTIME | STATX_CTIME | STATX_BTIME;
	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, wanted, status) == 0;
}

/* Reports whether any change after STATUS was read is certain to have a different time. Only the kernel sets ctime, so
 * a fractional ctime shows that the file system stores fractions of a second. A clock that was set back makes the
 * result false. */
static bool is_settled(const struct statx *status)
{
	struct timespec now;
	if (clock_gettime(CLOCK_REALTIME_COARSE, &now) < 0)
		return false;
	const struct statx_timestamp *times[] = {&status->stx_mtime, &status->stx_ctime};
	int64_t enough = status->stx_ctime.tv_nsec ? SETTLED_AFTER : SETTLED_AFTER_WHOLE;
	for (unsigned i = 0; i < 2; i++) {
		/* Times may be arbitrary, because a command can set mtime to any value. */
		int64_t then = times[i]->tv_sec;
		if (then < now.tv_sec - 2)
			continue;
		if (then > now.tv_sec || (now.tv_sec - then) * SECOND + now.tv_nsec - times[i]->tv_nsec < enough)
			return false;
	}
	return true;
}

int path_fingerprints_add(struct path_fingerprints *fingerprints, const char *path, enum fingerprint_kind kind)
{
	if (fingerprints->count == fingerprints->room) {
		size_t room = fingerprints->room ? fingerprints->room * 2 : 32;
		struct path_fingerprint *items = realloc(fingerprints->items, room * sizeof *items);
		if (!items)
			return -1;
		fingerprints->items = items;
		fingerprints->room = room;
	}
	struct path_fingerprint *fingerprint = &fingerprints->items[fingerprints->count];
	memset(fingerprint, 0, sizeof *fingerprint);
	fingerprint->kind = kind;
	fingerprint->path = strdup(path);
	if (!fingerprint->path)
		return -1;
	fingerprint->exists = stat_path(path, &fingerprint->status);
	fingerprints->count++;
	fingerprint->settled = is_settled(&fingerprint->status);
	if (kind == FINGERPRINT_CONTENT && fingerprint->exists && !fingerprint->settled)
		fingerprints->unsettled = true;
	return 0;
}

int path_fingerprints_add_entry(struct path_fingerprints *fingerprints, const char *folder, const char *entry)
{
	size_t last = fingerprints->count;
	while (last > 0 && fingerprints->items[last - 1].kind == FINGERPRINT_IDENTITY)
		last--;
	/* The last parent can be reused only if all fingerprints since then are its entries. */
	struct path_fingerprint *parent = last > 0 ? &fingerprints->items[last - 1] : NULL;
	bool same = parent && parent->kind == FINGERPRINT_PARENT && parent->entries == fingerprints->count - last &&
		    strcmp(parent->path, folder) == 0;
	if (!same) {
		last = fingerprints->count + 1;
		if (path_fingerprints_add(fingerprints, folder, FINGERPRINT_PARENT) < 0)
			return -1;
	}
	if (path_fingerprints_add(fingerprints, entry, FINGERPRINT_IDENTITY) < 0)
		return -1;
	fingerprints->items[last - 1].entries++;
	return 0;
}

bool path_fingerprints_contain(const struct path_fingerprints *fingerprints, const char *path)
{
	for (size_t i = 0; i < fingerprints->count; i++)
		if (fingerprints->items[i].kind != FINGERPRINT_PARENT && strcmp(fingerprints->items[i].path, path) == 0)
			return true;
	return false;
}

static bool same_time(const struct statx_timestamp *a, const struct statx_timestamp *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Reports whether both refer to the same file. An inode number can be reused after its file was deleted, so the birth
 * time, or otherwise ctime, is compared as well. */
static bool is_same(const struct statx *a, const struct statx *b)
{
	bool birth = a->stx_mask & b->stx_mask & STATX_BTIME;
	return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
	       a->stx_dev_minor == b->stx_dev_minor && ((a->stx_mode ^ b->stx_mode) & S_IFMT) == 0 &&
	       (birth ? same_time(&a->stx_btime, &b->stx_btime) : same_time(&a->stx_ctime, &b->stx_ctime));
}

static bool matches(const struct path_fingerprint *fingerprint)
{
	struct statx now;
	if (!stat_path(fingerprint->path, &now))
		return !fingerprint->exists;
	if (!fingerprint->exists || !is_same(&fingerprint->status, &now))
		return false;
	return fingerprint->kind == FINGERPRINT_IDENTITY ||
	       (same_time(&fingerprint->status.stx_mtime, &now.stx_mtime) &&
		same_time(&fingerprint->status.stx_ctime, &now.stx_ctime));
}

bool path_fingerprints_match(const struct path_fingerprints *fingerprints)
{
	if (fingerprints->unsettled)
		return false;
	for (size_t i = 0; i < fingerprints->count; i++) {
		const struct path_fingerprint *fingerprint = &fingerprints->items[i];
		bool same = matches(fingerprint);
		if (fingerprint->kind == FINGERPRINT_PARENT)
			/* Skip the entries of an unchanged directory. One that is still missing has no entries. */
			i += same && fingerprint->settled ? fingerprint->entries : 0;
		else if (!same)
			return false;
	}
	return true;
}

void path_fingerprints_free(struct path_fingerprints *fingerprints)
{
	for (size_t i = 0; i < fingerprints->count; i++)
		free(fingerprints->items[i].path);
	free(fingerprints->items);
	memset(fingerprints, 0, sizeof *fingerprints);
}
