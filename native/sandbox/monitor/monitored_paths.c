#include "sandbox/monitor/monitored_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOUNT_ROOT 0x2000u /* STATX_ATTR_MOUNT_ROOT */

/* ---- the state of a path ---- */

bool monitored_path_stat(const struct monitored_paths *paths, const char *path, struct statx *status)
{
	const char *relative = paths->root < 0 ? path : path + 1;
	if (statx(paths->root < 0 ? AT_FDCWD : paths->root, relative, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		  STATX_BASIC_STATS, status) < 0)
		return false;
	errno = ENOENT;
	return status->stx_nlink > 0; /* the kernel drops the mount before the name of a file that it removes */
}

static bool has_group(const struct sandbox_spec *spec, gid_t group)
{
	gid_t own[NGROUPS_MAX > 1024 ? 1024 : NGROUPS_MAX];
	int count = spec->has_user ? (int)spec->group_count : getgroups(sizeof own / sizeof *own, own);
	if (group == (spec->has_user ? spec->gid : getegid()))
		return true;
	for (int i = 0; i < count; i++)
		if (group == (spec->has_user ? sandbox_spec_group(spec, (size_t)i) : own[i]))
			return true;
	return false;
}

/* Reports whether the mode of a file lets the user of SPEC access it, or the user owns it and can change the mode. */
static bool is_accessible(const struct sandbox_spec *spec, const struct statx *status)
{
	uid_t user = spec->has_user ? spec->uid : geteuid();
	if (user == 0 || status->stx_uid == user)
		return true;
	return status->stx_mode & (has_group(spec, status->stx_gid) ? S_IRWXG : S_IRWXO);
}

bool monitored_path_is_broken(const struct monitored_paths *paths, const struct sandbox_spec *spec,
			      const struct monitored_path *item, bool watched)
{
	struct statx status;
	bool exists = monitored_path_stat(paths, item->path, &status);
	if (item->kind == MASK_NONE)
		return false;
	if (!exists)
		return !watched && item->kind != MASK_ABSENT;
	if (status.stx_attributes & MOUNT_ROOT)
		return false;
	return item->kind != MASK_HIDDEN || is_accessible(spec, &status);
}

bool monitored_path_has_changed(const struct monitored_paths *paths, const struct monitored_path *item)
{
	struct statx now;
	const struct statx *before = &item->status;
	if (!monitored_path_stat(paths, item->path, &now))
		return false;
	return !item->exists || now.stx_ino != before->stx_ino || now.stx_dev_major != before->stx_dev_major ||
	       now.stx_dev_minor != before->stx_dev_minor || now.stx_size != before->stx_size ||
	       now.stx_ctime.tv_sec != before->stx_ctime.tv_sec || now.stx_ctime.tv_nsec != before->stx_ctime.tv_nsec;
}

/* ---- the list of paths ---- */

static size_t writable_top(const struct sandbox_spec *spec, const char *path)
{
	size_t top = 0;
	for_each_string (writable, &spec->writable)
		if (path_within(path, writable) && strcmp(path, writable) != 0 && (!top || strlen(writable) < top))
			top = strlen(writable);
	return top;
}

static int add_item(struct monitored_paths *paths, const char *path, enum mask_kind kind, size_t top)
{
	if (paths->count == paths->room) {
		size_t room = paths->room ? paths->room * 2 : 32;
		struct monitored_path *items = realloc(paths->items, room * sizeof *items);
		if (!items)
			return -1;
		paths->items = items;
		paths->room = room;
	}
	char *copy = strdup(path);
	if (!copy)
		return -1;
	paths->items[paths->count++] = (struct monitored_path){.path = copy, .kind = kind, .top = top};
	return 0;
}

/* Adds the read-only paths, and the links that are held. */
static int add_protected(struct monitored_paths *paths, const struct sandbox_spec *spec, const struct string_list *list)
{
	for_each_string (path, list) {
		struct statx status;
		size_t top = writable_top(spec, path);
		bool mounted = top && paths->root >= 0 && monitored_path_stat(paths, path, &status) &&
			       (status.stx_attributes & MOUNT_ROOT);
		if (!top || (!mounted && list == &spec->held))
			continue;
		if (add_item(paths, path, mounted ? MASK_PROTECTED : MASK_NONE, top) < 0)
			return -1;
	}
	return 0;
}

/* Adds those of LIST that are masked. UNEXPOSED paths outside the writable ones stay inaccessible without a mask. */
static int add_hidden(struct monitored_paths *paths, const struct sandbox_spec *spec, const struct string_list *list,
		      bool unexposed)
{
	for_each_string (path, list) {
		struct statx status;
		size_t top = writable_top(spec, path);
		if ((!top && unexposed) || !monitored_path_stat(paths, path, &status) ||
		    !(status.stx_attributes & MOUNT_ROOT))
			continue;
		if (add_item(paths, path, MASK_HIDDEN, top) < 0)
			return -1;
	}
	return 0;
}

static int add_absent(struct monitored_paths *paths, const struct sandbox_spec *spec)
{
	for_each_string (path, &spec->absent) {
		struct statx status;
		size_t top = writable_top(spec, path);
		if (top && !monitored_path_stat(paths, path, &status) && (errno == ENOENT || errno == ENOTDIR) &&
		    add_item(paths, path, MASK_ABSENT, top) < 0)
			return -1;
	}
	return 0;
}

int monitored_paths_collect(struct monitored_paths *paths, const struct sandbox_spec *spec, int root, bool landlocked)
{
	*paths = (struct monitored_paths){.root = root};
	if (add_protected(paths, spec, &spec->read_only) < 0 || add_absent(paths, spec) < 0)
		return -1;
	if (root < 0)
		return 0;
	if (add_protected(paths, spec, &spec->held) < 0 || add_hidden(paths, spec, &spec->denied, landlocked) < 0)
		return -1;
	return add_hidden(paths, spec, &spec->masked, false);
}

void monitored_paths_free(struct monitored_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->items[i].path);
	free(paths->items);
	*paths = (struct monitored_paths){.root = -1};
}
