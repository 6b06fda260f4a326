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

/* ---- /dev ---- */

static const char *const nodes[] = {"null", "zero", "full", "random", "urandom", "tty"};
static const char *const links[][2] = {{"/proc/self/fd", "fd"},
				       {"/proc/self/fd/0", "stdin"},
				       {"/proc/self/fd/1", "stdout"},
				       {"/proc/self/fd/2", "stderr"},
				       {"pts/ptmx", "ptmx"}};

/* Binds a device node of the host, because device nodes cannot be created in a user namespace. */
static int bind_node(int from, int to, const char *name)
{
	int node = openat(from, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (node < 0)
		return errno == ENOENT ? 0 : -1;
	int target = openat(to, name, O_CREAT | O_EXCL | O_RDONLY | O_CLOEXEC, 0600);
	int clone = mount_clone(node);
	close_keep_errno(node, 0);
	if (target < 0 || clone < 0)
		return close_keep_errno(target, close_keep_errno(clone, -1));
	close(target);
	target = openat(to, name, O_PATH | O_CLOEXEC);
	int result = target < 0 ? -1 : mount_attach(clone, target);
	return close_keep_errno(target, close_keep_errno(clone, result));
}

static int mount_devpts(void)
{
	static const char *const options[] = {"ptmxmode", "0666", "mode", "0620", NULL};
	int target = open("/dev/pts", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (target < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
	int fs = mount_create_fs("devpts", options, MOUNT_NO_SETUID);
	int result = fs < 0 ? -1 : mount_attach(fs, target);
	return close_keep_errno(target, close_keep_errno(fs, result));
}

static int mount_dev(void)
{
	static const char *const options[] = {"mode", "0755", "size", "64k", "nr_inodes", "64", NULL};
	int host = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fs = host < 0 ? -1 : mount_create_fs("tmpfs", options, MOUNT_NO_SETUID);
	/* Attach it first, because nothing can be mounted on a detached mount. */
	if (fs < 0 || mount_attach(fs, host) < 0)
		return close_keep_errno(fs, close_keep_errno(host, -1));
	int failed = mkdirat(fs, "shm", 01777) < 0 || mkdirat(fs, "pts", 0755) < 0 ? -1 : 0;
	for (unsigned i = 0; !failed && i < sizeof nodes / sizeof *nodes; i++)
		failed = bind_node(host, fs, nodes[i]);
	for (unsigned i = 0; !failed && i < sizeof links / sizeof *links; i++)
		failed = symlinkat(links[i][0], fs, links[i][1]);
	if (!failed)
		failed = mount_set_attributes(fs, MOUNT_READ_ONLY, false); /* device nodes stay writable */
	return close_keep_errno(host, close_keep_errno(fs, failed));
}

#define MAX_WRITABLE 256
#define PRIVATE_TMP "/tmp"
#define SHARED_MEMORY "/dev/shm"

/* A clone of the mount of a writable path, created before the tree becomes read-only. */
struct writable_mount {
	const char *path;
	int clone;
	mode_t mode;
};

struct view {
	const struct sandbox_spec *spec;
	struct writable_mount writable[MAX_WRITABLE];
	size_t count;
	int tmp_dir;         /* clone of the temporary directory for /dev/shm, or -1 */
	int tmp_dir_for_tmp; /* clone of the temporary directory for /tmp, or -1 */
};

int mounts_make_private(void)
{
	int root = open("/", O_PATH | O_CLOEXEC);
	return root < 0 ? -1 : close_keep_errno(root, mount_set_attributes(root, 0, true));
}

/* ---- writable paths ---- */

/* Clones the mount of PATH and stores the file mode in MODE. The clone disables set-user-ID programs, and devices
 * except below /dev. */
static int clone_path(const char *path, mode_t *mode)
{
	struct stat status = {0};
	bool devices = path_within(path, "/dev") || path_within("/dev", path);
	uint64_t flags = MOUNT_NO_SETUID | (devices ? 0 : MOUNT_NO_DEVICES);
	int target = mount_open_path(path);
	if (target < 0)
		return -1;
	int clone = fstat(target, &status) < 0 ? -1 : mount_clone(target);
	if (clone >= 0 && mount_set_attributes(clone, flags, false) < 0)
		clone = close_keep_errno(clone, -1);
	*mode = status.st_mode;
	return close_keep_errno(target, clone);
}

static int clone_writable(struct view *view, const char *path)
{
	struct writable_mount *mount = &view->writable[view->count];
	if (view->count == MAX_WRITABLE) {
		errno = E2BIG;
		return -1;
	}
	mount->path = path;
	mount->clone = clone_path(path, &mount->mode);
	if (mount->clone < 0)
		return mount_is_missing(errno) ? 0 : -1;
	view->count++;
	return 0;
}

static int by_length(const void *one, const void *other)
{
	size_t a = strlen(((const struct writable_mount *)one)->path),
	       b = strlen(((const struct writable_mount *)other)->path);
	return a < b ? -1 : a > b;
}

static int clone_all_writable(struct view *view)
{
	const struct sandbox_spec *spec = view->spec;
	for_each_string (path, &spec->writable)
		if (clone_writable(view, path) < 0)
			return -1;
	if (spec->tmp_dir) {
		if (clone_writable(view, spec->tmp_dir) < 0)
			return -1;
		mode_t mode;
		view->tmp_dir = clone_path(spec->tmp_dir, &mode);
		view->tmp_dir_for_tmp = spec->isolated ? clone_path(spec->tmp_dir, &mode) : -1;
		if (view->tmp_dir < 0 || (spec->isolated && view->tmp_dir_for_tmp < 0))
			return -1;
	}
	/* Parents come first, otherwise they would hide their children. */
	qsort(view->writable, view->count, sizeof *view->writable, by_length);
	return 0;
}

/* Creates PATH, a directory or a file, in its parent, which must exist. */
static int make_mount_point(char *path, bool file)
{
	char *name = strrchr(path, '/');
	*name = '\0';
	int parent = open_beneath("/", path, O_PATH | O_DIRECTORY, 0);
	*name = '/';
	if (parent < 0)
		return -1;
	int made =
		file ? openat(parent, name + 1, O_CREAT | O_EXCL | O_CLOEXEC, 0600) : mkdirat(parent, name + 1, 0755);
	bool failed = made < 0 && errno != EEXIST;
	if (file && made >= 0)
		close(made);
	return close_keep_errno(parent, failed ? -1 : 0);
}

/* Creates PATH and its parents below the private /tmp without following links. */
static int make_mount_path(const char *path, mode_t mode)
{
	char prefix[PATH_MAX];
	size_t length = strlen(PRIVATE_TMP);
	for (bool last = false; !last;) {
		length += 1 + strcspn(path + length + 1, "/");
		memcpy(prefix, path, length);
		prefix[length] = '\0';
		last = path[length] == '\0';
		int existing = mount_open_path(prefix);
		if (existing >= 0)
			close(existing);
		else if (errno != ENOENT || make_mount_point(prefix, last && !S_ISDIR(mode)) < 0)
			return -1;
	}
	return 0;
}

static int attach_writable(struct view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		const struct writable_mount *each = &view->writable[i];
		bool in_private_tmp = view->spec->isolated && path_within(each->path, PRIVATE_TMP);
		if (in_private_tmp && strcmp(each->path, PRIVATE_TMP) != 0 &&
		    make_mount_path(each->path, each->mode) < 0)
			return -1;
		/* A path that was removed in the meantime is skipped. */
		if (mount_attach_at(each->clone, each->path) < 0 && errno != ENOENT)
			return -1;
	}
	/* The command has its own /dev/shm, so that the shared memory of other sessions is not writable. */
	if (view->tmp_dir >= 0 && mount_attach_at(view->tmp_dir, SHARED_MEMORY) < 0 && !mount_is_missing(errno))
		return -1;
	return 0;
}

int mounts_set_up(const struct sandbox_spec *spec, unsupported_t *unsupported)
{
	static struct view view;
	view = (struct view){.spec = spec, .tmp_dir = -1, .tmp_dir_for_tmp = -1};
	int root = open("/", O_PATH | O_CLOEXEC);
	/* 1. Clone the writable paths while they are writable. */
	if (root < 0 || clone_all_writable(&view) < 0)
		return -1;
	/* 2. Make everything else read-only, because Landlock does not protect modes, owners and times. */
	if (mount_set_attributes(root, MOUNT_READ_ONLY | MOUNT_NO_SETUID, false) < 0)
		return -1;
	/* 3. Mount private /tmp and /dev directories. */
	if (spec->isolated && view.tmp_dir_for_tmp >= 0 && mount_attach_at(view.tmp_dir_for_tmp, PRIVATE_TMP) < 0)
		return -1;
	if ((spec->isolated && mount_dev() < 0) || mount_devpts() < 0)
		return -1;
	/* 4. Attach the writable paths, make the protected paths in them read-only, and hold the parents of those and
	 * of denied paths (invariant 7). */
	if (attach_writable(&view) < 0 || held_paths_apply(spec) < 0)
		return -1;
	/* 5. Mask denied paths last, so that nothing is mounted over a mask. */
	return path_masks_apply(spec, unsupported);
}

int mounts_mount_proc(void)
{
	int fs = mount_create_fs("proc", NULL, MOUNT_NO_SETUID | MOUNT_NO_DEVICES);
	if (fs < 0)
		return -1;
	int target = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (target < 0 || mount_attach(fs, target) < 0)
		return close_keep_errno(target, close_keep_errno(fs, -1));
	close(target);
	return fs;
}
