#include "cgroup/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/process_tree.h"

#define PASSES 10
#define PAUSE_US 2000

/* Reports whether the keeper of the group NAME is running. It is recognized by its title, so that another process with
 * a reused pid is not mistaken for it. */
static bool keeper_alive(const char *name)
{
	const char *dot = strchr(name, '.');
	char path[64], title[16];
	pid_t pid = dot ? (pid_t)atoi(dot + 1) : 0;
	if (pid <= 0)
		return true; /* not a group of a keeper, so leave it alone */
	if (kill(pid, 0) < 0 && errno == ESRCH)
		return false;
	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
	if (!cgroup_read(AT_FDCWD, path, title, sizeof title))
		return errno != ENOENT && errno != ESRCH;
	return strncmp(title, "keeper: ", 8) == 0;
}

static bool is_member(pid_t pid, const char *name)
{
	char path[64], text[4096], mark[160];
	snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
	snprintf(mark, sizeof mark, "/" CGROUP_FOLDER "/%.120s\n", name);
	return cgroup_read(AT_FDCWD, path, text, sizeof text) && strstr(text, mark);
}

static void kill_members(int folder, const char *name)
{
	char text[16384], *rest = NULL;
	if (cgroup_write(folder, "cgroup.kill", "1") == 0) /* since Linux 5.14; includes processes being forked */
		return;
	if (!cgroup_read(folder, "cgroup.procs", text, sizeof text))
		return;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		pid_t pid = (pid_t)atoi(line);
		int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
		/* The group is checked after pidfd_open, because a process that reuses the pid is in another group. */
		if ((pidfd >= 0 || errno == ENOSYS) && is_member(pid, name))
			pidfd_signal(pid, pidfd, SIGKILL);
		if (pidfd >= 0)
			close(pidfd);
	}
}

static bool remove_group(int base, const char *name)
{
	int folder = openat(base, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	bool removed = folder < 0;
	for (int pass = 0; !removed && pass < PASSES; pass++) {
		if (pass > 0)
			usleep(PAUSE_US); /* killed processes leave the group with a delay */
		kill_members(folder, name);
		removed = unlinkat(base, name, AT_REMOVEDIR) == 0 || errno != EBUSY;
	}
	if (folder >= 0)
		close(folder);
	return removed;
}

static bool sweep_directory(const char *path)
{
	DIR *groups = opendir(path);
	struct dirent *entry;
	bool complete = true;
	while (groups && (entry = readdir(groups)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' && !keeper_alive(entry->d_name))
			complete = remove_group(dirfd(groups), entry->d_name) && complete;
	if (groups)
		closedir(groups);
	rmdir(path); /* fails while the directory is in use; the next command creates it again */
	return complete;
}

/* Sweeps the scopes that the user's systemd manager has created for keepers of any zygote. */
static bool sweep_scopes(const char *slice)
{
	DIR *scopes = opendir(slice);
	struct dirent *entry;
	bool complete = true;
	while (scopes && (entry = readdir(scopes))) {
		char base[CGROUP_PATH + sizeof entry->d_name + sizeof CGROUP_FOLDER + 2];
		if (strncmp(entry->d_name, "sallyport-", 10) != 0)
			continue;
		snprintf(base, sizeof base, "%s/%s/" CGROUP_FOLDER, slice, entry->d_name);
		complete = sweep_directory(base) && complete;
	}
	if (scopes)
		closedir(scopes);
	return complete;
}

bool cgroup_sweep(const struct cgroup_host *host)
{
	bool complete = !host->user_slice[0] || sweep_scopes(host->user_slice);
	for (int controller = 0; controller < CGROUP_CONTROLLERS; controller++) {
		const struct cgroup_location *location = &host->locations[controller];
		char path[CGROUP_PATH], base[CGROUP_PATH + sizeof CGROUP_FOLDER + 1];
		if (location->version == 0)
			continue;
		snprintf(path, sizeof path, "%s", location->own);
		/* In version 2 the directory may be in a parent cgroup. */
		for (;;) {
			snprintf(base, sizeof base, "%s/%s", path, CGROUP_FOLDER);
			complete = sweep_directory(base) && complete;
			char *last = strrchr(path, '/');
			if (location->version == 1 || !last || strlen(path) <= strlen(location->mount))
				break;
			*last = '\0';
		}
	}
	return complete;
}
