#include "sandbox/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "io/open_beneath.h"

/* Devices that programs expect. All others are denied, because a raw disk would expose every denied path. */
static const char *const devices[] = {"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
				      "/dev/urandom", "/dev/tty",  "/dev/ptmx", "/dev/pts"};
#define DEVICES "/dev"

struct rule_builder {
	const struct sandbox_spec *spec;
	int abi, ruleset;
	struct path_fingerprints *fingerprints;
	char path[PATH_MAX];
};

static bool is_denied(const struct sandbox_spec *spec, const char *path)
{
	if (strcmp(path, DEVICES) == 0)
		return true;
	for_each_string (denied, &spec->denied)
		if (strcmp(path, denied) == 0)
			return true;
	/* A private directory hides this one. Its content changes often, so that rules for it would be costly. */
	for_each_bind (at, source, &spec->binds)
		if (strcmp(path, at) == 0)
			return true;
	return false;
}

static bool contains_denied(const struct sandbox_spec *spec, const char *path)
{
	if (path_within(DEVICES, path))
		return true;
	for_each_string (denied, &spec->denied)
		if (path_within(denied, path))
			return true;
	return false;
}

static uint64_t read_access(const struct sandbox_spec *spec, mode_t mode)
{
	/* Unix sockets outside the sandbox are reachable only with network access, and denied ones never. */
	uint64_t access = FS_READ | (spec->network == NETWORK_ON ? FS_RESOLVE_UNIX : 0);
	return S_ISDIR(mode) || S_ISSOCK(mode) ? access : access & FS_OF_FILES;
}

static uint64_t write_access(mode_t mode)
{
	uint64_t access = FS_READ | FS_READ_DIR | FS_WRITE;
	if (S_ISCHR(mode) || S_ISBLK(mode))
		access |= FS_IOCTL_DEV;
	return S_ISDIR(mode) ? access : access & FS_OF_FILES;
}

/* Reports whether errno means resource exhaustion, which must not be treated as a missing path. */
static bool is_resource_exhausted(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

static int grant_read_tree(struct rule_builder *builder, int fd);

/* Grants read access to a directory entry. Symbolic links are skipped: they need no rule, and following one could grant
 * access to a denied path. */
static int grant_read_child(struct rule_builder *builder, int folder, size_t length, const struct dirent *entry)
{
	if (entry->d_type == DT_LNK || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
		return 0;
	size_t room = sizeof builder->path - length;
	int n = snprintf(builder->path + length, room, "%s%s", length > 1 ? "/" : "", entry->d_name);
	if (n < 0 || (size_t)n >= room)
		return 0;
	int child = openat(folder, entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (child < 0)
		return is_resource_exhausted(errno) ? -1 : 0;
	return close_keep_errno(child, grant_read_tree(builder, child));
}

static int grant_read_children(struct rule_builder *builder, int folder)
{
	size_t length = strlen(builder->path);
	/* Added before the directory is read, so that a change during the read is detected on the next use. */
	if (path_fingerprints_add(builder->fingerprints, builder->path, FINGERPRINT_CONTENT) < 0)
		return -1;
	int list_fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = list_fd < 0 ? NULL : fdopendir(list_fd);
	if (!list) /* the entries of a directory that cannot be listed cannot be granted */
		return close_keep_errno(list_fd, is_resource_exhausted(errno) ? -1 : 0);
	int failed = 0;
	const struct dirent *entry;
	while (!failed && (entry = readdir(list)))
		failed = grant_read_child(builder, folder, length, entry);
	builder->path[length] = '\0';
	int error = errno;
	closedir(list);
	errno = error;
	return failed;
}

/* Grants read access to FD, which refers to builder->path, and everything below except denied paths. */
static int grant_read_tree(struct rule_builder *builder, int fd)
{
	struct stat status;
	if (fstat(fd, &status) < 0 || is_denied(builder->spec, builder->path))
		return 0;
	mode_t mode = status.st_mode;
	if (S_ISLNK(mode) || S_ISBLK(mode) || S_ISCHR(mode))
		return 0;
	if (S_ISDIR(mode) && contains_denied(builder->spec, builder->path))
		return grant_read_children(builder, fd);
	return landlock_add_path(builder->ruleset, builder->abi, fd, read_access(builder->spec, mode));
}

/* Grants write access to FD and closes it. A negative FD, which means a missing path, is skipped. */
static int grant_write(struct rule_builder *builder, int fd, uint64_t extra_access)
{
	struct stat status;
	if (fd < 0)
		return is_resource_exhausted(errno) ? -1 : 0;
	if (fstat(fd, &status) < 0 || S_ISLNK(status.st_mode))
		return close_keep_errno(fd, 0);
	return close_keep_errno(
		fd, landlock_add_path(builder->ruleset, builder->abi, fd, write_access(status.st_mode) | extra_access));
}

/* Grants write access to PATH without following links. The path was resolved earlier, so any link was created after
 * that (invariant 2). */
static int grant_writable(struct rule_builder *builder, const char *path)
{
	if (path_fingerprints_add(builder->fingerprints, path, FINGERPRINT_IDENTITY) < 0)
		return -1;
	return grant_write(builder, open_beneath("/", path, O_PATH, 0), 0);
}

static int grant_all(struct rule_builder *builder)
{
	const struct sandbox_spec *spec = builder->spec;
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	/* All directories may be listed. Access to their content is granted separately. */
	int failed = landlock_add_path(builder->ruleset, builder->abi, root, FS_READ_DIR);
	if (!failed)
		failed = grant_read_tree(builder, root);
	close_keep_errno(root, 0);
	for (size_t i = 0; !failed && i < sizeof devices / sizeof *devices; i++)
		failed = grant_write(builder, open(devices[i], O_PATH | O_CLOEXEC), FS_IOCTL_DEV);
	const struct string_list *writable = &spec->writable;
	for (const char *path = string_list_next(writable, NULL); path && !failed;
	     path = string_list_next(writable, path))
		failed = grant_writable(builder, path);
	if (!failed && spec->tmp_dir)
		failed = grant_writable(builder, spec->tmp_dir);
	for_each_bind (at, source, &spec->binds)
		failed = failed ? failed : grant_writable(builder, source);
	return failed;
}

int landlock_rules_build(const struct sandbox_spec *spec, int abi, struct path_fingerprints *fingerprints)
{
	struct rule_builder builder = {.spec = spec, .abi = abi, .fingerprints = fingerprints, .path = "/"};
	builder.ruleset = landlock_create(spec, abi);
	if (builder.ruleset < 0)
		return -1;
	return grant_all(&builder) < 0 ? close_keep_errno(builder.ruleset, -1) : builder.ruleset;
}

int landlock_rules_add_read(int ruleset, int abi, int fd)
{
	return landlock_add_path(ruleset, abi, fd, FS_READ);
}

int landlock_rules_add_devpts(int ruleset, int abi, int fd)
{
	return landlock_add_path(ruleset, abi, fd, write_access(S_IFDIR) | FS_IOCTL_DEV);
}
