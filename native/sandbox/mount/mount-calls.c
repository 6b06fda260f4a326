#include "sandbox/mount/mount-calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/scope.h"

/* Numbers and flags as in linux/mount.h, which older systems have without them. */
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

int mount_copy(int place)
{
	return (int)syscall(OPEN_TREE, place, "", AT_EMPTY_PATH | TREE_CLONE | RECURSIVE | O_CLOEXEC);
}

int mount_put(int mount, int place)
{
	return (int)syscall(MOVE_MOUNT, mount, "", place, "", FROM_EMPTY_PATH | TO_EMPTY_PATH);
}

int mount_set(int mount, uint64_t flags, bool private)
{
	struct attributes attributes = {.set = flags, .propagation = private ? MS_PRIVATE : 0};
	return (int)syscall(MOUNT_SETATTR, mount, "", AT_EMPTY_PATH | RECURSIVE, &attributes, sizeof attributes);
}

int mount_new(const char *kind, const char *const *options, uint64_t flags)
{
	int made = -1;
	int fs = (int)syscall(FSOPEN, kind, FS_CLOEXEC);
	if (fs < 0)
		return -1;
	bool set = true;
	for (; set && options && options[0]; options += 2)
		set = syscall(FSCONFIG, fs, CONFIG_STRING, options[0], options[1], 0) == 0;
	if (set && syscall(FSCONFIG, fs, CONFIG_CREATE, NULL, NULL, 0) == 0)
		made = (int)syscall(FSMOUNT, fs, FS_CLOEXEC, flags);
	int error = errno;
	close(fs);
	errno = error;
	return made;
}

int mount_place(const char *path)
{
	return scope_open("/", path, O_PATH, 0);
}

bool mount_no_place(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES || scope_left(error);
}

int mount_put_at(int mount, const char *path)
{
	int place = mount_place(path);
	if (place < 0)
		return -1;
	int put = mount_put(mount, place);
	int error = errno;
	close(place);
	errno = error;
	return put;
}
