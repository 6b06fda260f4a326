#include "cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cgroup/user_manager.h"
#include "log.h"

/* In version 2 only leaf cgroups may contain processes. The processes of a cgroup that is delegated to us are moved to
 * a leaf of this name. */
#define LEAF_NAME "sallyport-door"
#define MOVE_PASSES 8

static const char *const names[CGROUP_CONTROLLERS] = {"memory", "cpu", "pids"};

/* ---- mounts and the location of this process ---- */

static char *read_whole(const char *folder, const char *file)
{
	char path[CGROUP_PATH];
	snprintf(path, sizeof path, "%s/%s", folder, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = fd < 0 ? NULL : malloc(1 << 16);
	size_t used = 0;
	ssize_t n = 0;
	while (text && used < (1 << 16) - 1 && (n = read(fd, text + used, (1 << 16) - 1 - used)) > 0)
		used += (size_t)n;
	if (fd >= 0)
		close(fd);
	if (text)
		text[used] = '\0';
	return text;
}

/* Finds the path of this process in the hierarchy of CONTROLLER, or of version 2 if CONTROLLER is empty. CGROUP is the
 * content of SELF/cgroup. */
static bool find_own_path(const char *cgroup, const char *controller, char path[CGROUP_PATH])
{
	for (const char *line = cgroup; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		const char *kinds = strchr(line, ':'), *at = kinds ? strchr(kinds + 1, ':') : NULL;
		if (!at)
			continue;
		char list[256];
		snprintf(list, sizeof list, "%.*s", (int)(at - kinds - 1), kinds + 1);
		if (*controller ? cgroup_list_contains(list, controller) : list[0] == '\0') {
			snprintf(path, CGROUP_PATH, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
			return true;
		}
	}
	return false;
}

/* Determines the path of this process below MOUNT. A mount may show only a part of its hierarchy, whose top is ROOT. */
static void locate(struct cgroup_location *location, int version, const char *mount, const char *root, const char *path)
{
	size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
	const char *below = strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0')
				    ? path + length
				    : ""; /* not visible, so use the top of the mount */
	if (strcmp(below, "/") == 0 || strstr(below, "/..") == below)
		below = "";
	if (snprintf(location->own, CGROUP_PATH, "%s%s", mount, below) >= CGROUP_PATH)
		return;
	snprintf(location->mount, CGROUP_PATH, "%s", mount);
	location->version = version;
}

/* Reports whether the cgroup PATH has CONTROLLER. Some machines mount version 1 together with a version 2 hierarchy
 * that has no controllers. */
static bool has_controller(const char *path, const char *controller)
{
	char text[512];
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool yes = folder >= 0 && cgroup_read(folder, "cgroup.controllers", text, sizeof text) &&
		   cgroup_list_contains(text, controller);
	if (folder >= 0)
		close(folder);
	return yes;
}

/* Determines where the systemd manager of an ordinary user creates scopes. On a machine that mounts version 1 as well, its
 * scopes have no controllers. Root needs none: it can create groups anywhere. */
static void find_user_slice(struct cgroup_host *host, const char *mount)
{
	unsigned uid = (unsigned)geteuid();
	bool useful = uid != 0 && (has_controller(mount, names[CGROUP_MEMORY]) || has_controller(mount, names[CGROUP_PIDS]));
	int length = snprintf(host->user_slice, CGROUP_PATH,
			      "%s/user.slice/user-%u.slice/user@%u.service/app.slice/" USER_MANAGER_SLICE, mount, uid, uid);
	if (!useful || length >= CGROUP_PATH)
		host->user_slice[0] = '\0';
}

static void parse_mount(struct cgroup_host *host, char *line, const char *cgroup)
{
	char root[256], mount[256], path[CGROUP_PATH];
	char *rest = strstr(line, " - ");
	char type[16], options[512];
	if (!rest || sscanf(line, "%*s %*s %*s %255s %255s", root, mount) != 2 ||
	    sscanf(rest, " - %15s %*s %511s", type, options) != 2 || strchr(mount, '\\'))
		return;
	bool v2 = strcmp(type, "cgroup2") == 0;
	if (!v2 && strcmp(type, "cgroup") != 0)
		return;
	if (v2)
		find_user_slice(host, mount);
	for (int controller = 0; controller < CGROUP_CONTROLLERS; controller++) {
		struct cgroup_location location = {0};
		if (host->locations[controller].version == 2 ||
		    !find_own_path(cgroup, v2 ? "" : names[controller], path))
			continue;
		if (!v2 && !cgroup_list_contains(options, names[controller]))
			continue;
		locate(&location, v2 ? 2 : 1, mount, root, path);
		/* A unit of systemd may lack a controller that its parents have. Only root can create groups there. */
		if (!v2 || has_controller(location.own, names[controller]) ||
		    (geteuid() == 0 && has_controller(mount, names[controller])))
			host->locations[controller] = location;
	}
}

/* Opens the file in which the kernel counts OOM kills in this process's memory group, or the nearest parent that has one.
 * Version 2 counts those below a group too. */
static int open_oom_events(const struct cgroup_host *host)
{
	const struct cgroup_location *location = &host->locations[CGROUP_MEMORY];
	char path[CGROUP_PATH], file[CGROUP_PATH + 32];
	snprintf(path, sizeof path, "%s", location->own);
	while (location->version != 0) {
		snprintf(file, sizeof file, "%s/%s", path, location->version == 1 ? "memory.oom_control" : "memory.events");
		int fd = open(file, O_RDONLY | O_CLOEXEC);
		char *last = strrchr(path, '/');
		if (fd >= 0 || location->version == 1 || !last || strlen(path) <= strlen(location->mount))
			return fd;
		*last = '\0';
	}
	return -1;
}

void cgroup_discover(struct cgroup_host *host, const char *self)
{
	char *cgroup = read_whole(self, "cgroup"), *mounts = read_whole(self, "mountinfo"), *rest = NULL;
	*host = (struct cgroup_host){.asked_user_manager = host->asked_user_manager, .in_scope = host->in_scope};
	/* A copy, because SELF may be an argument of the process, which the process title overwrites. */
	snprintf(host->self, sizeof host->self, "%s", self);
	if (cgroup && mounts)
		for (char *line = strtok_r(mounts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			parse_mount(host, line, cgroup);
	free(cgroup);
	free(mounts);
	host->oom_events = open_oom_events(host);
}

bool cgroup_request_delegation(struct cgroup_host *host)
{
	if (host->asked_user_manager || !host->user_slice[0])
		return false;
	host->asked_user_manager = true;
	if (!user_manager_create_scope(host->self)) {
		log_debug("hierarchy", "the systemd manager of the user did not create a scope: %s", strerror(errno));
		return false;
	}
	host->in_scope = true;
	if (host->oom_events >= 0)
		close(host->oom_events);
	char self[CGROUP_PATH];
	memcpy(self, host->self, sizeof self);
	cgroup_discover(host, self);
	return true;
}

/* ---- the directory for our groups ---- */

/* Version 2 has one hierarchy, so all its controllers are enabled together. */
struct wanted {
	const char *names[CGROUP_CONTROLLERS];
	int count;
};

static struct wanted v2_controllers(const struct cgroup_host *host)
{
	struct wanted wanted = {.count = 0};
	for (int controller = 0; controller < CGROUP_CONTROLLERS; controller++)
		if (host->locations[controller].version == 2)
			wanted.names[wanted.count++] = names[controller];
	return wanted;
}

/* Reports whether controllers can be enabled for the children of a cgroup. Such a cgroup must not contain processes
 * itself, except for the root, which has no cgroup.type. The kernel checks this for some controllers only. The others
 * could be enabled, but then no process could join the children. */
static bool can_enable_controllers(int folder)
{
	char text[32];
	if (!cgroup_read(folder, "cgroup.type", text, sizeof text))
		return true;
	return cgroup_read(folder, "cgroup.procs", text, sizeof text) && text[0] == '\0';
}

static bool enable_controllers(int folder, const struct wanted *wanted)
{
	char text[512], order[32];
	for (int i = 0; i < wanted->count; i++) {
		if (cgroup_read(folder, "cgroup.subtree_control", text, sizeof text) &&
		    cgroup_list_contains(text, wanted->names[i]))
			continue;
		if (!can_enable_controllers(folder)) {
			errno = EBUSY;
			return false;
		}
		snprintf(order, sizeof order, "+%s", wanted->names[i]);
		if (cgroup_write(folder, "cgroup.subtree_control", order) < 0)
			return false;
	}
	return true;
}

static bool enable_controllers_at(const char *path, const struct wanted *wanted)
{
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return false;
	bool yes = enable_controllers(folder, wanted);
	int error = errno;
	close(folder);
	errno = error;
	return yes;
}

/* Reports whether the cgroup PATH is delegated to us: by systemd (Delegate=yes), or
 * because it is the topmost cgroup that a container sees. */
static bool is_delegated(const struct cgroup_location *location, const char *path)
{
	char value[4];
	return strcmp(path, location->mount) == 0 || getxattr(path, "user.delegate", value, sizeof value) > 0 ||
	       getxattr(path, "trusted.delegate", value, sizeof value) > 0;
}

static void move_into_leaf(const char *path)
{
	char leaf[CGROUP_PATH + sizeof LEAF_NAME + 1], text[16384], *rest = NULL;
	snprintf(leaf, sizeof leaf, "%s/%s", path, LEAF_NAME);
	if (mkdir(leaf, 0755) < 0 && errno != EEXIST)
		return;
	int from = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), to = open(leaf, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (from >= 0 && to >= 0 && cgroup_read(from, "cgroup.procs", text, sizeof text))
		for (char *pid = strtok_r(text, "\n", &rest); pid; pid = strtok_r(NULL, "\n", &rest))
			cgroup_write(to, "cgroup.procs", pid); /* fails if the process has exited, which is fine */
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
}

static bool create_base(const char *path, const struct wanted *wanted, char base[CGROUP_PATH])
{
	if (snprintf(base, CGROUP_PATH, "%s/%s", path, CGROUP_FOLDER) >= CGROUP_PATH)
		return false;
	if (mkdir(base, 0755) < 0 && errno != EEXIST)
		return false;
	return enable_controllers_at(base, wanted);
}

/* Creates the base directory as close to the cgroup of this process as possible, so that limits on that cgroup also
 * apply to the commands. */
static bool v2_base(const struct cgroup_location *location, const struct wanted *wanted, bool in_scope,
		    char base[CGROUP_PATH])
{
	char path[CGROUP_PATH];
	snprintf(path, sizeof path, "%s", location->own);
	char *last = strrchr(path, '/');
	if (last && strcmp(last + 1, LEAF_NAME) == 0)
		*last = '\0';
	bool enabled = enable_controllers_at(path, wanted);
	for (int pass = 0; !enabled && errno == EBUSY && (in_scope || is_delegated(location, path)) && pass < MOVE_PASSES; pass++) {
		move_into_leaf(path);
		enabled = enable_controllers_at(path, wanted);
	}
	size_t top = strlen(location->mount);
	while (!enabled && geteuid() == 0 && strlen(path) > top && (last = strrchr(path, '/'))) {
		*last = '\0';
		enabled = enable_controllers_at(path, wanted);
	}
	return enabled && create_base(path, wanted, base);
}

bool cgroup_base(const struct cgroup_host *host, enum cgroup_controller controller, char base[CGROUP_PATH])
{
	const struct cgroup_location *location = &host->locations[controller];
	if (location->version == 2) {
		struct wanted wanted = v2_controllers(host);
		return v2_base(location, &wanted, host->in_scope, base);
	}
	if (location->version == 0 || snprintf(base, CGROUP_PATH, "%s/%s", location->own, CGROUP_FOLDER) >= CGROUP_PATH)
		return false;
	return mkdir(base, 0755) == 0 || errno == EEXIST;
}
