#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fd.h"
#include "sandbox/mount/mount.h"

#define PROC "/proc"
/* An automount point on most machines, which hides nothing. */
#define HARMLESS PROC "/sys/fs/binfmt_misc"

static int mount_over_proc(const char *const *options)
{
	/* Read-only, because settings of the kernel in /proc/sys are writable for root, also in a user namespace. */
	int fs = mount_create_fs("proc", options, MOUNT_READ_ONLY | MOUNT_NO_SETUID | MOUNT_NO_DEVICES);
	if (fs < 0)
		return -1;
	int target = open(PROC, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (target < 0 || mount_attach(fs, target) < 0)
		return close_keep_errno(target, close_keep_errno(fs, -1));
	close(target);
	return fs;
}

int private_proc_mount(void)
{
	return mount_over_proc(NULL);
}

int private_proc_mount_hidden(void)
{
	/* Since Linux 5.8. The restrictions of Landlock on tracing apply, so that a command sees its own processes. */
	static const char *const options[] = {"hidepid", "ptraceable", NULL};
	int proc = private_proc_is_safe() ? mount_over_proc(options) : -1;
	return proc < 0 ? -1 : close_keep_errno(proc, 0);
}

bool private_proc_is_safe(void)
{
	char *line = NULL, path[PATH_MAX];
	size_t room = 0;
	bool safe = true;
	FILE *table = fopen("/proc/self/mountinfo", "re");
	if (!table)
		return false;
	while (safe && getline(&line, &room, table) > 0)
		if (sscanf(line, "%*s %*s %*s %*s %4095s", path) == 1 && strncmp(path, PROC "/", sizeof PROC) == 0)
			safe = strcmp(path, HARMLESS) == 0;
	free(line);
	fclose(table);
	return safe;
}
