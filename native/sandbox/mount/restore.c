#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "process/process_tree.h"
#include "sandbox/mount/mount.h"

/* The time after which restoring is given up. A program that replaces a path continuously could delay it. */
#define TIMEOUT_SECONDS 1

static bool contains(const struct string_list *paths, const char *path)
{
	for_each_string (each, paths)
		if (strcmp(each, path) == 0)
			return true;
	return false;
}

/* Masks PATH in the mount namespace MOUNT_NS, in which the process is. The mask is created in a copy of the namespace,
 * because its file system is temporarily attached over another directory. */
static int hide(const char *path, int mount_ns)
{
	struct stat status;
	if (lstat(path, &status) < 0 || S_ISLNK(status.st_mode) || unshare(CLONE_NEWNS) < 0)
		return -1;
	int mask = path_masks_create_one(S_ISDIR(status.st_mode));
	if (mask < 0 || setns(mount_ns, CLONE_NEWNS) < 0)
		return close_keep_errno(mask, -1);
	return close_keep_errno(mask, mount_attach_at(mask, path));
}

static int protect(const struct sandbox_spec *spec, const char *path)
{
	struct sandbox_spec only = *spec;
	const struct string_list none = {NULL, 0};
	only.read_only = (struct string_list){path, strlen(path) + 1};
	only.denied = only.masked = only.held = none;
	return held_paths_apply(&only);
}

void mounts_restore(const struct sandbox_spec *spec, int user_ns, int mount_ns, const char *const *paths, size_t count)
{
	pid_t child = fork();
	if (child == 0) {
		bool failed = (user_ns >= 0 && setns(user_ns, CLONE_NEWUSER) < 0) || setns(mount_ns, CLONE_NEWNS) < 0;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(TIMEOUT_SECONDS);
		for (size_t i = 0; !failed && i < count; i++) {
			bool hidden = contains(&spec->denied, paths[i]) || contains(&spec->masked, paths[i]);
			failed = (hidden ? hide(paths[i], mount_ns) : protect(spec, paths[i])) < 0;
		}
		_exit(failed);
	}
	process_reap(child);
}
