#include "sandbox/grants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "closing.h"
#include "io/scope.h"
#include "sandbox/landlock.h"

/* What programs expect of /dev. All else there is withheld: a disk can be read raw past every denied path. */
static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
				      "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"};
#define DEVICES "/dev"

struct search {
	const struct spec *spec;
	int abi, ruleset;
	struct stamps *stamps;
	char path[PATH_MAX];
};

static bool is_denied(const struct spec *spec, const char *path)
{
	if (strcmp(path, DEVICES) == 0)
		return true;
	for (const char *denied = texts_next(&spec->denied, NULL); denied; denied = texts_next(&spec->denied, denied))
		if (strcmp(path, denied) == 0)
			return true;
	return false;
}

static bool leads_to_denied(const struct spec *spec, const char *path)
{
	if (path_within(DEVICES, path))
		return true;
	for (const char *denied = texts_next(&spec->denied, NULL); denied; denied = texts_next(&spec->denied, denied))
		if (path_within(denied, path))
			return true;
	return false;
}

static uint64_t reading(const struct spec *spec, mode_t mode)
{
	/* Sockets made outside can be connected to with the network on only, and never the denied ones. */
	uint64_t access = FS_READ | (spec->network == NETWORK_ON ? FS_RESOLVE_UNIX : 0);
	return S_ISDIR(mode) || S_ISSOCK(mode) ? access : access & FS_OF_FILES;
}

static uint64_t writing(mode_t mode)
{
	uint64_t access = FS_READ | FS_READ_DIR | FS_WRITE;
	if (S_ISCHR(mode) || S_ISBLK(mode))
		access |= FS_IOCTL_DEV;
	return S_ISDIR(mode) ? access : access & FS_OF_FILES;
}

/* Running out of something must not look like a place that is not there. */
static bool is_exhausted(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

static int look_into(struct search *search, int fd);

/* Not links: they need no grant, and following one could grant what is denied. */
static int look_at_child(struct search *search, int folder, size_t length, const struct dirent *entry)
{
	if (entry->d_type == DT_LNK || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
		return 0;
	size_t room = sizeof search->path - length;
	int n = snprintf(search->path + length, room, "%s%s", length > 1 ? "/" : "", entry->d_name);
	if (n < 0 || (size_t)n >= room)
		return 0;
	int child = openat(folder, entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (child < 0)
		return is_exhausted(errno) ? -1 : 0;
	return close_quietly(child, look_into(search, child));
}

static int look_at_children(struct search *search, int folder)
{
	size_t length = strlen(search->path);
	/* Noted before it is read: a change in between is then seen the next time. */
	if (stamps_add(search->stamps, search->path, STAMP_CONTENT) < 0)
		return -1;
	int listed = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = listed < 0 ? NULL : fdopendir(listed);
	if (!list) /* what cannot be listed cannot be granted piece by piece */
		return close_quietly(listed, is_exhausted(errno) ? -1 : 0);
	int failed = 0;
	const struct dirent *entry;
	while (!failed && (entry = readdir(list)))
		failed = look_at_child(search, folder, length, entry);
	search->path[length] = '\0';
	int error = errno;
	closedir(list);
	errno = error;
	return failed;
}

/* FD is what is at the search's path. */
static int look_into(struct search *search, int fd)
{
	struct stat status;
	if (fstat(fd, &status) < 0 || is_denied(search->spec, search->path))
		return 0;
	mode_t mode = status.st_mode;
	if (S_ISLNK(mode) || S_ISBLK(mode) || S_ISCHR(mode))
		return 0;
	if (S_ISDIR(mode) && leads_to_denied(search->spec, search->path))
		return look_at_children(search, fd);
	return landlock_grant(search->ruleset, search->abi, fd, reading(search->spec, mode));
}

/* Takes FD over. What is not there is passed by. */
static int grant_place(struct search *search, int fd, uint64_t further)
{
	struct stat status;
	if (fd < 0)
		return is_exhausted(errno) ? -1 : 0;
	if (fstat(fd, &status) < 0 || S_ISLNK(status.st_mode))
		return close_quietly(fd, 0);
	return close_quietly(fd, landlock_grant(search->ruleset, search->abi, fd, writing(status.st_mode) | further));
}

/* Given with its links followed: one that is met now was put there since (promise 2). */
static int grant_writable(struct search *search, const char *path)
{
	if (stamps_add(search->stamps, path, STAMP_ITSELF) < 0)
		return -1;
	return grant_place(search, scope_open("/", path, O_PATH, 0), 0);
}

static int grant_all(struct search *search)
{
	const struct spec *spec = search->spec;
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	/* Names may be listed everywhere; what they hold is granted piece by piece. */
	int failed = landlock_grant(search->ruleset, search->abi, root, FS_READ_DIR);
	if (!failed)
		failed = look_into(search, root);
	close_quietly(root, 0);
	for (size_t i = 0; !failed && i < sizeof devices / sizeof *devices; i++)
		failed = grant_place(search, open(devices[i], O_PATH | O_CLOEXEC), FS_IOCTL_DEV);
	const struct texts *writable = &spec->writable;
	for (const char *path = texts_next(writable, NULL); path && !failed; path = texts_next(writable, path))
		failed = grant_writable(search, path);
	if (!failed && spec->temporary)
		failed = grant_writable(search, spec->temporary);
	return failed;
}

int grants_ruleset(const struct spec *spec, int abi, struct stamps *stamps)
{
	struct search search = {.spec = spec, .abi = abi, .stamps = stamps, .path = "/"};
	search.ruleset = landlock_open(spec, abi);
	if (search.ruleset < 0)
		return -1;
	return grant_all(&search) < 0 ? close_quietly(search.ruleset, -1) : search.ruleset;
}

int grants_reading(int ruleset, int abi, int fd)
{
	return landlock_grant(ruleset, abi, fd, FS_READ);
}

int grants_terminals(int ruleset, int abi, int fd)
{
	return landlock_grant(ruleset, abi, fd, writing(S_IFDIR) | FS_IOCTL_DEV);
}
