#include "client/node_path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where native/install.js writes the path of Node, relative to this program: installed as a command, and as it was built. */
static const char *const records[] = {"../native/build/node-path", "node-path"};

static bool is_program(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Reads the path of the Node that installed the package. Returns false if it is not recorded or has been removed. */
static bool read_record(const char *folder, char path[PATH_MAX])
{
	for (unsigned i = 0; i < sizeof records / sizeof *records; i++) {
		char record[PATH_MAX];
		int length = snprintf(record, sizeof record, "%s%s", folder, records[i]);
		int fd = length > 0 && length < PATH_MAX ? open(record, O_RDONLY | O_CLOEXEC) : -1;
		if (fd < 0)
			continue;
		ssize_t n = read(fd, path, PATH_MAX - 1);
		close(fd);
		path[n > 0 ? n : 0] = '\0';
		path[strcspn(path, "\n")] = '\0';
		if (path[0] == '/' && is_program(path))
			return true;
	}
	return false;
}

/* Reports whether only root and this user can replace what a path names. */
static bool is_own_path(const char *path)
{
	char part[PATH_MAX];
	struct stat status;
	for (size_t end = strlen(path); end > 0;) {
		memcpy(part, path, end);
		part[end] = '\0';
		if (stat(part, &status) < 0 || (status.st_uid != 0 && status.st_uid != geteuid()))
			return false;
		/* In a sticky folder, only the owner of an entry can replace it. */
		if ((status.st_mode & S_IWOTH) && !(S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX)))
			return false;
		while (end > 0 && path[--end] != '/')
			;
	}
	return true;
}

static bool is_within(const char *path, const char *folder)
{
	size_t length = strlen(folder);
	while (length > 0 && folder[length - 1] == '/')
		length--;
	return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Returns the length of the longest folder that contains both paths, without a slash at its end. */
static size_t common_length(const char *one, const char *other)
{
	size_t common = 0;
	for (size_t i = 0;; i++) {
		bool ends = (one[i] == '/' || one[i] == '\0') && (other[i] == '/' || other[i] == '\0');
		if (ends)
			common = i;
		if (one[i] == '\0' || one[i] != other[i])
			return common;
	}
}

/* Reports whether a path may be in the workspace of a command line from `folder`. The workspace is `folder` or, under an
 * agent host, a folder above it: every folder that is not a top-level one and does not contain the home directory. */
static bool may_be_in_workspace(const char *path, const char *folder)
{
	char resolved[PATH_MAX], home[PATH_MAX];
	const char *given = getenv("HOME");
	if (!realpath(folder, resolved))
		return true;
	if (strcmp(resolved, "/") == 0) /* no command can have it as its workspace */
		return false;
	size_t common = common_length(path, resolved);
	if (common == strlen(resolved))
		return true;
	bool is_top_level = memchr(path + 1, '/', common > 0 ? common - 1 : 0) == NULL;
	resolved[common] = '\0';
	return !is_top_level && !(given && realpath(given, home) && is_within(home, resolved));
}

/* Reports whether neither other users nor sandboxed commands can replace a program on PATH (invariant 7). */
static bool is_safe(const char *path)
{
	char resolved[PATH_MAX], folder[PATH_MAX];
	const char *workspace = getenv("SALLYPORT_WORKSPACE");
	const char *const paths[] = {path, resolved};
	if (path[0] != '/' || !realpath(path, resolved) || !is_own_path(path) || !is_own_path(resolved))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		if (!getcwd(folder, sizeof folder) || may_be_in_workspace(paths[i], folder))
			return false;
		if (workspace && *workspace && may_be_in_workspace(paths[i], workspace))
			return false;
	}
	return true;
}

/* Finds a program like execvp, which takes an empty entry for the working directory. */
static bool find_on_path(char path[PATH_MAX])
{
	const char *at = getenv("PATH");
	while (at) {
		size_t length = strcspn(at, ":");
		int n = snprintf(path, PATH_MAX, "%.*s%snode", (int)length, at, length > 0 ? "/" : "");
		if (n > 0 && n < PATH_MAX && is_program(path))
			return true;
		at = at[length] == ':' ? at + length + 1 : NULL;
	}
	return false;
}

enum node_search node_path_find(const char *folder, char path[PATH_MAX])
{
	if (read_record(folder, path))
		return NODE_FOUND;
	if (!find_on_path(path))
		return NODE_MISSING;
	return is_safe(path) ? NODE_FOUND : NODE_REPLACEABLE;
}
