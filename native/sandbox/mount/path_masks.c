#include "sandbox/mount/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"

#define MAX_MASKED 1024
#define SCRATCH "/proc"

struct path_masks {
	const struct sandbox_spec *spec;
	unsupported_t *unsupported;
	int mounts[MAX_MASKED];
	size_t count;
};

/* Creates the mounts that mask denied paths: empty directories and files without permissions. Only attached mounts can
 * be cloned, so their file system is temporarily attached over /proc. */
static int create_masks(struct path_masks *masks, size_t folders, size_t files)
{
	static const char *const options[] = {"mode", "0", "size", "4k", "nr_inodes", "4", NULL};
	int fs = mount_create_fs("tmpfs", options, MOUNT_NO_SETUID | MOUNT_NO_DEVICES);
	int file = fs < 0 ? -1 : openat(fs, "nothing", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0);
	if (file < 0)
		return close_keep_errno(fs, -1);
	close(file); /* an open writable file would prevent the mount from becoming read-only */
	if (mkdirat(fs, "empty", 0) < 0 || mount_set_attributes(fs, MOUNT_READ_ONLY, false) < 0 ||
	    mount_attach_at(fs, SCRATCH) < 0)
		return close_keep_errno(fs, -1);
	int sources[2] = {openat(fs, "empty", O_PATH | O_CLOEXEC), openat(fs, "nothing", O_PATH | O_CLOEXEC)};
	int failed = sources[0] < 0 || sources[1] < 0 ? -1 : 0;
	masks->count = failed ? 0 : folders + files;
	for (size_t i = 0; !failed && i < masks->count; i++) {
		masks->mounts[i] = mount_clone(sources[i >= folders]);
		failed = masks->mounts[i] < 0 ? -1 : 0;
	}
	if (umount2(SCRATCH, MNT_DETACH) < 0)
		failed = -1;
	return close_keep_errno(sources[0], close_keep_errno(sources[1], close_keep_errno(fs, failed)));
}

int path_masks_create_one(bool folder)
{
	static struct path_masks one;
	return create_masks(&one, folder, !folder) < 0 ? -1 : one.mounts[0];
}

/* Reports whether masking FOLDER would hide a writable path. In this case Landlock denies the rest of FOLDER. */
static bool contains_writable(const struct sandbox_spec *spec, const char *folder)
{
	if (spec->tmp_dir && path_within(spec->tmp_dir, folder))
		return true;
	for_each_string (path, &spec->writable)
		if (path_within(path, folder))
			return true;
	return false;
}

static bool is_writable(const struct sandbox_spec *spec, const char *path)
{
	for_each_string (each, &spec->writable)
		if (path_within(path, each))
			return true;
	return false;
}

/* Opens the existing PATHS and appends them to TARGETS: directories if FOLDERS, otherwise all others. COUNT is the
 * number of targets. */
static int open_targets(struct path_masks *masks, const struct string_list *paths, bool folders,
			int targets[MAX_MASKED], size_t *count)
{
	const struct sandbox_spec *spec = masks->spec;
	for_each_string (path, paths) {
		struct stat status;
		/* A private directory hides the path of the host. The command may have created one with its name. */
		if (contains_writable(spec, path) || sandbox_spec_is_private(spec, path))
			continue;
		int target = mount_open_entry(path); /* links are held instead */
		if (target < 0 && !mount_is_missing(errno))
			return -1;
		if (target < 0 && paths == &spec->denied && is_writable(spec, path))
			*masks->unsupported |= UNSUPPORTED_BIT(UNSUPPORTED_DENIED_LATER);
		if (target < 0)
			continue;
		bool wanted =
			fstat(target, &status) == 0 && !S_ISLNK(status.st_mode) && S_ISDIR(status.st_mode) == folders;
		if (wanted && *count < MAX_MASKED) {
			targets[(*count)++] = target;
			continue;
		}
		close(target);
		if (wanted) {
			errno = E2BIG;
			return -1;
		}
	}
	return 0;
}

int path_masks_apply(const struct sandbox_spec *spec, unsupported_t *unsupported)
{
	static struct path_masks all;
	struct path_masks *masks = &all;
	all = (struct path_masks){.spec = spec, .unsupported = unsupported};
	int targets[MAX_MASKED];
	size_t count = 0, folders;
	if (open_targets(masks, &spec->denied, true, targets, &count) < 0 ||
	    open_targets(masks, &spec->masked, true, targets, &count) < 0)
		return -1;
	folders = count;
	if (open_targets(masks, &spec->denied, false, targets, &count) < 0 ||
	    open_targets(masks, &spec->masked, false, targets, &count) < 0)
		return -1;
	if (count > 0 && create_masks(masks, folders, count - folders) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (mount_attach(masks->mounts[i], targets[i]) < 0)
			return -1;
	return 0;
}
