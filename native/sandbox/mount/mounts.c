#include "sandbox/mount/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "io/open_beneath.h"
#include "sandbox/landlock.h"

#define MAX_ATTACHMENTS 256

/* A clone of a mount, created before the tree becomes read-only, and the path to attach it to. */
struct attachment {
	const char *path;
	int clone;
	mode_t mode;
};

struct view {
	const struct sandbox_spec *spec;
	struct attachment attachments[MAX_ATTACHMENTS];
	size_t count;
};

int mounts_make_private(void)
{
	int root = open("/", O_PATH | O_CLOEXEC);
	return root < 0 ? -1 : close_keep_errno(root, mount_set_attributes(root, 0, true));
}

/* ---- clones ---- */

/* Clones the mount of PATH with FLAGS and stores the file mode in MODE. The clone disables set-user-ID programs, and
 * devices except below /dev. */
static int clone_path(const char *path, uint64_t flags, mode_t *mode)
{
	struct stat status = {0};
	bool devices = path_within(path, "/dev") || path_within("/dev", path);
	flags |= MOUNT_NO_SETUID | (devices ? 0 : MOUNT_NO_DEVICES);
	int target = mount_open_path(path);
	if (target < 0)
		return -1;
	int clone = fstat(target, &status) < 0 ? -1 : mount_clone(target);
	if (clone >= 0 && mount_set_attributes(clone, flags, false) < 0)
		clone = close_keep_errno(clone, -1);
	*mode = status.st_mode;
	return close_keep_errno(target, clone);
}

static int add_attachment(struct view *view, const char *path, const char *source, uint64_t flags)
{
	struct attachment *attachment = &view->attachments[view->count];
	if (view->count == MAX_ATTACHMENTS) {
		errno = E2BIG;
		return -1;
	}
	attachment->path = path;
	attachment->clone = clone_path(source, flags, &attachment->mode);
	if (attachment->clone < 0)
		return -1;
	view->count++;
	return 0;
}

static int clone_all(struct view *view, const struct string_list *paths, uint64_t flags)
{
	for_each_string (path, paths)
		if (add_attachment(view, path, path, flags) < 0 && !mount_is_missing(errno))
			return -1;
	return 0;
}

static bool is_listed(const struct string_list *paths, const char *path)
{
	for_each_string (each, paths)
		if (strcmp(each, path) == 0)
			return true;
	return false;
}

static int by_length(const void *one, const void *other)
{
	size_t a = strlen(((const struct attachment *)one)->path), b = strlen(((const struct attachment *)other)->path);
	return a < b ? -1 : a > b;
}

static int make_clones(struct view *view)
{
	const struct sandbox_spec *spec = view->spec;
	if (clone_all(view, &spec->writable, 0) < 0 || clone_all(view, &spec->readable, MOUNT_READ_ONLY) < 0)
		return -1;
	if (spec->tmp_dir && add_attachment(view, spec->tmp_dir, spec->tmp_dir, 0) < 0)
		return -1;
	for_each_bind (at, source, &spec->binds)
		if (!is_listed(&spec->writable, at) && add_attachment(view, at, source, 0) < 0)
			return -1;
	/* Parents come first, otherwise they would hide their children. */
	qsort(view->attachments, view->count, sizeof *view->attachments, by_length);
	return 0;
}

/* ---- mount points in private directories ---- */

/* Creates a directory or a file at NAME in PARENT, and removes anything else that a command has created there. */
static int make_mount_point(int parent, const char *name, bool directory)
{
	struct stat status;
	bool exists = fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
	if (exists && (directory ? S_ISDIR(status.st_mode) : S_ISREG(status.st_mode)))
		return 0;
	if (exists && unlinkat(parent, name, S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0) < 0)
		return -1;
	int made = directory ? mkdirat(parent, name, 0755) : openat(parent, name, O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool failed = made < 0 && errno != EEXIST; /* another keeper may have created it */
	return !directory && made >= 0 ? close_keep_errno(made, 0) : failed ? -1 : 0;
}

/* Creates PATH and its parents below TOP, a private directory, without following links. */
static int make_mount_path(const char *path, const char *top, mode_t mode)
{
	char prefix[PATH_MAX];
	size_t length = strlen(top);
	for (bool last = false; !last;) {
		memcpy(prefix, path, length);
		prefix[length] = '\0';
		int parent = open_beneath("/", prefix, O_PATH | O_DIRECTORY, 0);
		if (parent < 0)
			return -1;
		size_t name = strcspn(path + length + 1, "/");
		memcpy(prefix, path + length + 1, name);
		prefix[name] = '\0';
		length += 1 + name;
		last = path[length] == '\0';
		if (close_keep_errno(parent, make_mount_point(parent, prefix, !last || S_ISDIR(mode))) < 0)
			return -1;
	}
	return 0;
}

/* Returns the private directory that contains PATH, or NULL if there is none. */
static const char *private_parent(const struct sandbox_spec *spec, const char *path)
{
	for_each_bind (at, source, &spec->binds)
		if (path_within(path, at) && strcmp(path, at) != 0 && !is_listed(&spec->writable, at))
			return at;
	return NULL;
}

static int attach_all(struct view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		const struct attachment *each = &view->attachments[i];
		const char *top = private_parent(view->spec, each->path);
		/* The parents are held, because a command could otherwise put its own directory in place of the
		 * workspace, in which the next command would run (invariant 2). */
		if (top && (make_mount_path(each->path, top, each->mode) < 0 ||
			    held_paths_hold_parents(each->path, top) < 0))
			return -1;
		/* A path that was removed in the meantime is skipped. */
		if (mount_attach_at(each->clone, each->path) < 0 && errno != ENOENT)
			return -1;
	}
	return 0;
}

int mounts_set_up(const struct sandbox_spec *spec, unsupported_t *unsupported)
{
	static struct view view;
	view = (struct view){.spec = spec};
	mode_t mode;
	int root = open("/", O_PATH | O_CLOEXEC);
	/* 1. Clone what stays writable while it is writable, and the devices while they are usable. */
	if (root < 0 || make_clones(&view) < 0)
		return -1;
	int devices = clone_path("/dev", MOUNT_READ_ONLY, &mode);
	if (devices < 0 && !mount_is_missing(errno))
		return -1;
	/* 2. Make everything else read-only, because Landlock does not protect modes, owners and times. A device node of
	 * a container or a chroot environment outside /dev could be a disk with every denied path. */
	if (mount_set_attributes(root, MOUNT_READ_ONLY | MOUNT_NO_SETUID | MOUNT_NO_DEVICES, false) < 0 ||
	    (devices >= 0 && mount_attach_at(devices, "/dev") < 0))
		return -1;
	if (devices >= 0)
		close(devices);
	/* 3. Mount a private /dev. With Landlock, only the devices that programs expect are accessible anyway. */
	bool own_dev = spec->isolated || (sandbox_spec_confines(spec) && landlock_abi() < 1);
	if ((own_dev && private_dev_mount() < 0) || private_dev_mount_devpts() < 0)
		return -1;
	/* 4. Attach the private directories and the writable paths, make the protected paths in them read-only, and hold
	 * the parents of those and of denied paths (invariant 7). */
	if (attach_all(&view) < 0 || held_paths_apply(spec) < 0)
		return -1;
	/* 5. Mask denied paths last, so that nothing is mounted over a mask. */
	return path_masks_apply(spec, unsupported);
}
