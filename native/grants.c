#include "grants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "landlock.h"
#include "scope.h"

/* What programs expect of /dev. All else there is withheld: a disk can be read raw past every denied path. */
static const char *const devices[] = {"/dev/null",   "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
				      "/dev/tty",    "/dev/ptmx", "/dev/pts",  "/dev/shm"};
#define DEVICES "/dev"

static void *room_for(void *items, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return items;
	size_t more = *room ? *room * 2 : 32;
	void *grown = realloc(items, more * size);
	if (grown)
		*room = more;
	return grown;
}

/* Takes FD over. */
static int add_grant(struct grants *grants, int fd, uint64_t access)
{
	struct grant *items = room_for(grants->items, grants->count, &grants->room, sizeof *items);
	if (!items) {
		close(fd);
		return -1;
	}
	grants->items = items;
	items[grants->count++] = (struct grant){fd, access};
	return 0;
}

static int look(int fd, struct statx *status)
{
	const unsigned wanted = STATX_TYPE | STATX_INO | STATX_MTIME | STATX_CTIME;
	return statx(fd, "", AT_EMPTY_PATH, wanted, status);
}

static int add_seen(struct grants *grants, int fd)
{
	struct seen *seen = room_for(grants->seen, grants->seen_count, &grants->seen_room, sizeof *seen);
	if (!seen)
		return -1;
	grants->seen = seen;
	struct seen *last = &seen[grants->seen_count];
	last->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (last->fd < 0)
		return -1;
	grants->seen_count++;
	return look(last->fd, &last->status);
}

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
	return S_ISDIR(mode) ? access : S_ISSOCK(mode) ? access & (FS_READ | FS_RESOLVE_UNIX) : access & FS_OF_FILES;
}

static int find_reading(struct grants *grants, const struct spec *spec, int fd, char path[PATH_MAX]);

static int find_children(struct grants *grants, const struct spec *spec, int folder, char path[PATH_MAX])
{
	size_t length = strlen(path);
	int listed = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = listed < 0 ? NULL : fdopendir(listed);
	if (!list) {
		if (listed >= 0)
			close(listed);
		return errno == EACCES ? 0 : -1; /* what cannot be listed cannot be granted piece by piece */
	}
	int failed = 0;
	struct dirent *entry;
	while (!failed && (errno = 0, entry = readdir(list))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		int n = snprintf(path + length, PATH_MAX - length, "%s%s", length > 1 ? "/" : "", entry->d_name);
		if (n < 0 || (size_t)n >= PATH_MAX - length)
			continue;
		/* A link needs no grant, and following it could grant what is denied. */
		int child = entry->d_type == DT_LNK ? -1 : openat(folder, entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (child >= 0)
			failed = find_reading(grants, spec, child, path);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			failed = -1;
	}
	path[length] = '\0';
	int error = errno;
	closedir(list);
	errno = error;
	return failed;
}

/* Takes FD over: what is at PATH. */
static int find_reading(struct grants *grants, const struct spec *spec, int fd, char path[PATH_MAX])
{
	struct stat status;
	if (fstat(fd, &status) < 0 || S_ISLNK(status.st_mode) || S_ISBLK(status.st_mode) || S_ISCHR(status.st_mode) ||
	    is_denied(spec, path)) {
		close(fd);
		return 0;
	}
	if (!S_ISDIR(status.st_mode) || !leads_to_denied(spec, path))
		return add_grant(grants, fd, reading(spec, status.st_mode));
	/* Its stamp is taken before it is read: a change in between is then noticed the next time. */
	int failed = add_seen(grants, fd);
	if (!failed)
		failed = find_children(grants, spec, fd, path);
	int error = errno;
	close(fd);
	errno = error;
	return failed;
}

uint64_t grants_writing(mode_t mode)
{
	uint64_t access = FS_READ | FS_READ_DIR | FS_WRITE;
	if (S_ISCHR(mode) || S_ISBLK(mode))
		access |= FS_IOCTL_DEV;
	return S_ISDIR(mode) ? access : access & FS_OF_FILES;
}

/* Takes FD over. What is not there is passed by. */
static int add_place(struct grants *grants, int fd, uint64_t further)
{
	struct stat status;
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -1 : 0;
	if (fstat(fd, &status) < 0 || S_ISLNK(status.st_mode)) {
		close(fd);
		return 0;
	}
	return add_grant(grants, fd, grants_writing(status.st_mode) | further);
}

int grants_find(struct grants *grants, const struct spec *spec)
{
	char path[PATH_MAX] = "/";
	memset(grants, 0, sizeof *grants);
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int names = root < 0 ? -1 : fcntl(root, F_DUPFD_CLOEXEC, 3);
	if (names < 0)
		goto failed;
	/* Names may be listed everywhere; what they hold is granted piece by piece. */
	if (add_grant(grants, names, FS_READ_DIR) < 0)
		goto failed;
	int found = find_reading(grants, spec, root, path);
	root = -1;
	if (found < 0)
		goto failed;
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
		if (add_place(grants, open(devices[i], O_PATH | O_CLOEXEC), FS_IOCTL_DEV) < 0)
			goto failed;
	for (const char *place = texts_next(&spec->writable, NULL); place; place = texts_next(&spec->writable, place))
		/* Given with its links followed: one that is met now was put there since (promise 2). */
		if (add_place(grants, scope_open("/", place, O_PATH, 0), 0) < 0)
			goto failed;
	return 0;
failed:;
	int error = errno;
	if (root >= 0)
		close(root);
	grants_free(grants);
	errno = error;
	return -1;
}

static bool same(const struct statx *a, const struct statx *b)
{
	return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major && a->stx_dev_minor == b->stx_dev_minor &&
	       a->stx_mtime.tv_sec == b->stx_mtime.tv_sec && a->stx_mtime.tv_nsec == b->stx_mtime.tv_nsec &&
	       a->stx_ctime.tv_sec == b->stx_ctime.tv_sec && a->stx_ctime.tv_nsec == b->stx_ctime.tv_nsec;
}

bool grants_hold(const struct grants *grants)
{
	for (size_t i = 0; i < grants->seen_count; i++) {
		struct statx now;
		if (look(grants->seen[i].fd, &now) < 0 || !same(&now, &grants->seen[i].status))
			return false;
	}
	return true;
}

void grants_free(struct grants *grants)
{
	for (size_t i = 0; i < grants->count; i++)
		close(grants->items[i].fd);
	for (size_t i = 0; i < grants->seen_count; i++)
		close(grants->seen[i].fd);
	free(grants->items);
	free(grants->seen);
	memset(grants, 0, sizeof *grants);
}
