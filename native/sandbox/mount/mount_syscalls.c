#include "sandbox/mount/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/open_beneath.h"

/* System call numbers and flags from linux/mount.h, which older systems lack. */
#define OPEN_TREE 428
#define MOVE_MOUNT 429
#define FSOPEN 430
#define FSCONFIG 431
#define FSMOUNT 432
#define MOUNT_SETATTR 442
#define TREE_CLONE 1u
#define RECURSIVE 0x8000u
#define FROM_EMPTY_PATH 0x04u
#define TO_EMPTY_PATH 0x40u
#define FS_CLOEXEC 1u
#define CONFIG_STRING 1u
#define CONFIG_CREATE 6u

struct attributes {
	uint64_t set, clear, propagation, user_namespace;
};

int mount_clone(int target)
{
	return (int)syscall(OPEN_TREE, target, "", AT_EMPTY_PATH | TREE_CLONE | RECURSIVE | O_CLOEXEC);
}

int mount_attach(int mount, int target)
{
	return (int)syscall(MOVE_MOUNT, mount, "", target, "", FROM_EMPTY_PATH | TO_EMPTY_PATH);
}

int mount_set_attributes(int mount, uint64_t flags, bool private)
{
	struct attributes attributes = {.set = flags, .propagation = private ? MS_PRIVATE : 0};
	return (int)syscall(MOUNT_SETATTR, mount, "", AT_EMPTY_PATH | RECURSIVE, &attributes, sizeof attributes);
}

int mount_create_fs(const char *kind, const char *const *options, uint64_t flags)
{
	int mount = -1;
	int fs = (int)syscall(FSOPEN, kind, FS_CLOEXEC);
	if (fs < 0)
		return -1;
	bool set = true;
	for (; set && options && options[0]; options += 2)
		set = syscall(FSCONFIG, fs, CONFIG_STRING, options[0], options[1], 0) == 0;
	if (set && syscall(FSCONFIG, fs, CONFIG_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(FSMOUNT, fs, FS_CLOEXEC, flags);
	int error = errno;
	close(fs);
	errno = error;
	return mount;
}

int mount_open_path(const char *path)
{
	return open_beneath("/", path, O_PATH, 0);
}

int mount_open_entry(const char *path)
{
	return open_beneath("/", path, O_PATH | O_NOFOLLOW, 0);
}

bool mount_is_missing(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES || open_beneath_escaped(error);
}

int mount_attach_at(int mount, const char *path)
{
	int target = mount_open_path(path);
	if (target < 0)
		return -1;
	int put = mount_attach(mount, target);
	int error = errno;
	close(target);
	errno = error;
	return put;
}
