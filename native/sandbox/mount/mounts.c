#include "sandbox/mount/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "closing.h"
#include "io/scope.h"
#include "sandbox/mount/covers.h"
#include "sandbox/mount/devices.h"
#include "sandbox/mount/mount-calls.h"

#define MOST_WRITABLE 256
#define HOLD_ATTEMPTS 2000
#define HOLD_AT_ONCE 8
#define HOLD_PAUSE_US 1000
#define PRIVATE_TMP "/tmp"
#define SHARED_MEMORY "/dev/shm"
#define MOUNT_ROOT 0x2000u /* STATX_ATTR_MOUNT_ROOT */

/* A copy of what may be written, taken while the tree was not yet read-only. */
struct open_place {
	const char *path;
	int copy;
	mode_t mode;
};

struct view {
	const struct spec *spec;
	struct open_place places[MOST_WRITABLE];
	size_t count;
	int temporary;     /* a copy of it, for /dev/shm; -1: none */
	int temporary_top; /* another, for /tmp */
};

int mounts_cut_off(void)
{
	int root = open("/", O_PATH | O_CLOEXEC);
	return root < 0 ? -1 : close_quietly(root, mount_set(root, 0, true));
}

/* ---- what may be written ---- */

/* No program there gains rights by its owner, and nothing but what the operator named in /dev is a device. */
static int copy_of(const char *path, mode_t *mode)
{
	struct stat status = {0};
	bool devices = path_within(path, "/dev") || path_within("/dev", path);
	uint64_t flags = MOUNT_NO_SETUID | (devices ? 0 : MOUNT_NO_DEVICES);
	int place = mount_place(path);
	if (place < 0)
		return -1;
	int copy = fstat(place, &status) < 0 ? -1 : mount_copy(place);
	if (copy >= 0 && mount_set(copy, flags, false) < 0)
		copy = close_quietly(copy, -1);
	*mode = status.st_mode;
	return close_quietly(place, copy);
}

static int take_copy(struct view *view, const char *path)
{
	struct open_place *taken = &view->places[view->count];
	if (view->count == MOST_WRITABLE) {
		errno = E2BIG;
		return -1;
	}
	taken->path = path;
	taken->copy = copy_of(path, &taken->mode);
	if (taken->copy < 0)
		return mount_no_place(errno) ? 0 : -1;
	view->count++;
	return 0;
}

static int by_length(const void *one, const void *other)
{
	size_t a = strlen(((const struct open_place *)one)->path), b = strlen(((const struct open_place *)other)->path);
	return a < b ? -1 : a > b;
}

static int take_copies(struct view *view)
{
	const struct spec *spec = view->spec;
	for (const char *path = texts_next(&spec->writable, NULL); path; path = texts_next(&spec->writable, path))
		if (take_copy(view, path) < 0)
			return -1;
	if (spec->temporary) {
		if (take_copy(view, spec->temporary) < 0)
			return -1;
		mode_t mode;
		view->temporary = copy_of(spec->temporary, &mode);
		view->temporary_top = spec->isolated ? copy_of(spec->temporary, &mode) : -1;
		if (view->temporary < 0 || (spec->isolated && view->temporary_top < 0))
			return -1;
	}
	/* What contains another comes first, or would cover it. */
	qsort(view->places, view->count, sizeof *view->places, by_length);
	return 0;
}

/* Makes PATH, a folder or by MODE a file, in its folder, which is there. */
static int make_place(char *path, bool file)
{
	char *name = strrchr(path, '/');
	*name = '\0';
	int above = scope_open("/", path, O_PATH | O_DIRECTORY, 0);
	*name = '/';
	if (above < 0)
		return -1;
	int made = file ? openat(above, name + 1, O_CREAT | O_EXCL | O_CLOEXEC, 0600) : mkdirat(above, name + 1, 0755);
	bool failed = made < 0 && errno != EEXIST;
	if (file && made >= 0)
		close(made);
	return close_quietly(above, failed ? -1 : 0);
}

/* Makes the folders on the way to PATH and PATH itself, below the private /tmp, meeting no link. */
static int make_way(const char *path, mode_t mode)
{
	char way[PATH_MAX];
	size_t length = strlen(PRIVATE_TMP);
	for (bool last = false; !last;) {
		length += 1 + strcspn(path + length + 1, "/");
		memcpy(way, path, length);
		way[length] = '\0';
		last = path[length] == '\0';
		int there = mount_place(way);
		if (there >= 0)
			close(there);
		else if (errno != ENOENT || make_place(way, last && !S_ISDIR(mode)) < 0)
			return -1;
	}
	return 0;
}

static int put_copies(struct view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		const struct open_place *each = &view->places[i];
		bool in_private = view->spec->isolated && path_within(each->path, PRIVATE_TMP);
		if (in_private && strcmp(each->path, PRIVATE_TMP) != 0 && make_way(each->path, each->mode) < 0)
			return -1;
		/* Removed meanwhile: then there is nothing to write to. */
		if (mount_put_at(each->copy, each->path) < 0 && errno != ENOENT)
			return -1;
	}
	/* Shared memory of its own: other sessions' is not its to write. */
	if (view->temporary >= 0 && mount_put_at(view->temporary, SHARED_MEMORY) < 0 && !mount_no_place(errno))
		return -1;
	return 0;
}

/* ---- what is to be left as it is ---- */

static int hold_once(const char *path, uint64_t flags)
{
	int place = mount_place(path);
	if (place < 0)
		return mount_no_place(errno) ? 0 : -1;
	int copy = mount_copy(place);
	if (copy < 0)
		return close_quietly(place, -1);
	int done = flags ? mount_set(copy, flags, false) : 0;
	if (done == 0)
		done = mount_put(copy, place);
	return close_quietly(copy, close_quietly(place, done));
}

/* Files such as git's configuration are changed by putting another in their place: what was found may be gone by the
 * time it is covered, and the other is to be held. Whoever puts it there may wait for a processor in the middle of that,
 * when nothing can be held at all: so after some attempts they are given time. */
static int hold(const char *path, uint64_t flags)
{
	int done = -1;
	for (unsigned attempt = 0; attempt < HOLD_ATTEMPTS; attempt++) {
		done = hold_once(path, flags);
		if (done == 0 || errno != ENOENT)
			break;
		if (attempt >= HOLD_AT_ONCE)
			usleep(HOLD_PAUSE_US);
	}
	return done;
}

static bool is_mount_point(const char *path)
{
	struct statx status;
	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &status) == 0 &&
	       (status.stx_attributes & MOUNT_ROOT);
}

/* The folder of a spot could be moved away with it, and another be put in its place: a mount point cannot be moved. */
static int hold_folders(const char *spot, const char *top)
{
	char folder[PATH_MAX];
	struct stat status;
	size_t length = strlen(top) == 1 ? 0 : strlen(top);
	if (lstat(spot, &status) < 0)
		return 0; /* nothing there to be moved away */
	for (;;) {
		length += 1 + strcspn(spot + length + 1, "/");
		if (spot[length] == '\0')
			return 0;
		memcpy(folder, spot, length);
		folder[length] = '\0';
		if (!is_mount_point(folder) && hold(folder, 0) < 0)
			return -1;
	}
}

static const char *writable_above(const struct spec *spec, const char *spot)
{
	const char *nearest = NULL;
	for (const char *path = texts_next(&spec->writable, NULL); path; path = texts_next(&spec->writable, path))
		if (path_within(spot, path) && (!nearest || strlen(path) > strlen(nearest)))
			nearest = path;
	return nearest;
}

static int hold_spots(struct view *view)
{
	const struct spec *spec = view->spec;
	for (const char *spot = texts_next(&spec->read_only, NULL); spot; spot = texts_next(&spec->read_only, spot)) {
		const char *top = writable_above(spec, spot);
		if (!top) /* read-only with everything else */
			continue;
		if (hold_folders(spot, top) < 0 || hold(spot, MOUNT_READ_ONLY) < 0)
			return -1;
	}
	return 0;
}

int mounts_arrange(const struct spec *spec, gaps_t *gaps)
{
	static struct view view;
	view = (struct view){.spec = spec, .temporary = -1, .temporary_top = -1};
	int root = open("/", O_PATH | O_CLOEXEC);
	/* 1. Copies of what may be written, as long as it may. */
	if (root < 0 || take_copies(&view) < 0)
		return -1;
	/* 2. Everything else becomes read-only: Landlock does not keep modes, owners and times from being changed. */
	if (mount_set(root, MOUNT_READ_ONLY | MOUNT_NO_SETUID, false) < 0)
		return -1;
	/* 3. A /tmp and a /dev of its own. */
	if (spec->isolated && view.temporary_top >= 0 && mount_put_at(view.temporary_top, PRIVATE_TMP) < 0)
		return -1;
	if ((spec->isolated && devices_arrange() < 0) || devices_add_terminals() < 0)
		return -1;
	/* 4. The writable places, and in them what is not. */
	if (put_copies(&view) < 0 || hold_spots(&view) < 0)
		return -1;
	/* 5. Last, so that nothing is put over a cover. */
	return covers_put(spec, gaps);
}

int mounts_proc(void)
{
	int fs = mount_new("proc", NULL, MOUNT_NO_SETUID | MOUNT_NO_DEVICES);
	if (fs < 0)
		return -1;
	int place = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (place < 0 || mount_put(fs, place) < 0)
		return close_quietly(place, close_quietly(fs, -1));
	close(place);
	return fs;
}
