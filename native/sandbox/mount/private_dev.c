#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "sandbox/mount/mount.h"

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

int private_dev_mount_devpts(void)
{
	static const char *const options[] = {"ptmxmode", "0666", "mode", "0620", NULL};
	int target = open("/dev/pts", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (target < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
	int fs = mount_create_fs("devpts", options, MOUNT_NO_SETUID);
	int result = fs < 0 ? -1 : mount_attach(fs, target);
	return close_keep_errno(target, close_keep_errno(fs, result));
}

int private_dev_mount(void)
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
