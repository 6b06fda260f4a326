#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "sandbox/mount/mount.h"

/* A path is held by binding it over itself: the kernel does not rename or remove a mount point. */

#define BIND_ATTEMPTS 2000
#define BIND_ATTEMPTS_WITHOUT_PAUSE 8
#define BIND_PAUSE_US 1000
#define MOUNT_ROOT 0x2000u /* STATX_ATTR_MOUNT_ROOT */

static int bind_over_itself_once(const char *path, uint64_t flags)
{
	int target = mount_open_entry(path); /* a symbolic link can be a mount point too */
	if (target < 0)
		return mount_is_missing(errno) ? 0 : -1;
	int clone = mount_clone(target);
	if (clone < 0)
		return close_keep_errno(target, -1);
	int result = flags ? mount_set_attributes(clone, flags, false) : 0;
	if (result == 0)
		result = mount_attach(clone, target);
	return close_keep_errno(clone, close_keep_errno(target, result));
}

/* Binds PATH over itself with FLAGS. Programs replace files such as git's configuration by rename, so the file may
 * disappear before it is bound, and its successor must be protected. The other program may be suspended in between, so
 * later attempts pause. */
static int bind_over_itself(const char *path, uint64_t flags)
{
	int result = -1;
	for (unsigned attempt = 0; attempt < BIND_ATTEMPTS; attempt++) {
		result = bind_over_itself_once(path, flags);
		if (result == 0 || errno != ENOENT)
			break;
		if (attempt >= BIND_ATTEMPTS_WITHOUT_PAUSE)
			usleep(BIND_PAUSE_US);
	}
	return result;
}

/* Binds PATH over itself unless it is a mount point already. Stores in MISSING whether there is no directory or link at
 * PATH. */
static int hold(const char *path, bool *missing)
{
	struct statx status;
	*missing = statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &status) < 0;
	if (*missing)
		return 0;
	*missing = !S_ISDIR(status.stx_mode) && !S_ISLNK(status.stx_mode);
	return status.stx_attributes & MOUNT_ROOT ? 0 : bind_over_itself(path, 0);
}

int held_paths_hold_parents(const char *path, const char *top)
{
	char folder[PATH_MAX];
	bool missing = false;
	size_t length = strlen(top) == 1 ? 0 : strlen(top);
	if (path[length] == '\0')
		return 0; /* TOP itself is a mount point */
	while (!missing) {
		length += 1 + strcspn(path + length + 1, "/");
		if (path[length] == '\0')
			return 0;
		memcpy(folder, path, length);
		folder[length] = '\0';
		if (hold(folder, &missing) < 0)
			return -1;
	}
	return 0;
}

/* Returns the innermost writable path that contains PATH, or NULL if there is none. */
static const char *writable_parent(const struct sandbox_spec *spec, const char *path)
{
	const char *nearest = spec->tmp_dir && path_within(path, spec->tmp_dir) ? spec->tmp_dir : NULL;
	for_each_string (writable, &spec->writable)
		if (path_within(path, writable) && (!nearest || strlen(writable) > strlen(nearest)))
			nearest = writable;
	return nearest;
}

static int hold_parents_of(const struct sandbox_spec *spec, const struct string_list *paths)
{
	for_each_string (path, paths) {
		const char *top = writable_parent(spec, path);
		if (top && held_paths_hold_parents(path, top) < 0)
			return -1;
	}
	return 0;
}

int held_paths_apply(const struct sandbox_spec *spec)
{
	/* Outside the writable paths everything is read-only and cannot be moved. */
	for_each_string (path, &spec->read_only) {
		const char *top = writable_parent(spec, path);
		if (top && (held_paths_hold_parents(path, top) < 0 || bind_over_itself(path, MOUNT_READ_ONLY) < 0))
			return -1;
	}
	for_each_string (path, &spec->held) {
		bool missing;
		const char *top = writable_parent(spec, path);
		if (top && strcmp(path, top) != 0 &&
		    (held_paths_hold_parents(path, top) < 0 || hold(path, &missing) < 0))
			return -1;
	}
	return hold_parents_of(spec, &spec->denied) < 0 ? -1 : hold_parents_of(spec, &spec->masked);
}
