#include "sandbox/monitor/mask_monitor.h"

#include <limits.h>
#include <poll.h>
#include <string.h>

#include "sandbox/monitor/path_watches.h"
#include "sandbox/mount/mount.h"

#define MAX_RESTORED 64

/* The watches of the monitor that was started last. */
static struct path_watches watches = NO_PATH_WATCHES;
static const struct mask_monitor *watching;
static bool watches_failed;

int mask_monitor_build(struct mask_monitor *monitor, const struct sandbox_spec *spec,
		       const struct namespaces *namespaces, bool landlocked)
{
	*monitor = (struct mask_monitor){.mounts = namespaces->mount_table};
	if (monitored_paths_collect(&monitor->paths, spec, namespaces->root, landlocked) < 0)
		return -1;
	for (size_t i = 0; i < monitor->paths.count; i++)
		monitor->watched = monitor->watched || monitor->paths.items[i].top > 0;
	return 0;
}

void mask_monitor_free(struct mask_monitor *monitor)
{
	if (watching == monitor) {
		path_watches_close(&watches);
		watching = NULL;
	}
	monitored_paths_free(&monitor->paths);
	memset(monitor, 0, sizeof *monitor);
}

/* ---- watches ---- */

/* Watches the existing directories between the writable path and the item, because each of them can be replaced. */
static int watch_parents(const struct monitored_path *item)
{
	for (size_t length = item->top;; length += 1 + strcspn(item->path + length + 1, "/")) {
		if (item->path[length] == '\0')
			return 0;
		if (path_watches_add(&watches, item->path, length == 1 ? 0 : length) < 0)
			return -1;
	}
}

/* Watches the directory in which a path outside the writable ones can reappear. */
static int watch_nearest(const struct mask_monitor *monitor, const struct monitored_path *item)
{
	char path[PATH_MAX];
	struct statx status;
	size_t length = strlen(item->path);
	if (monitored_path_stat(&monitor->paths, item->path, &status) || length >= sizeof path)
		return 0;
	memcpy(path, item->path, length + 1);
	do {
		*strrchr(path, '/') = '\0';
	} while (path[0] && !monitored_path_stat(&monitor->paths, path, &status));
	return path_watches_add(&watches, path, strlen(path));
}

static void add_watches(const struct mask_monitor *monitor)
{
	if (watches.fd < 0)
		return;
	path_watches_begin(&watches);
	for (size_t i = 0; i < monitor->paths.count; i++) {
		const struct monitored_path *item = &monitor->paths.items[i];
		if ((item->top ? watch_parents(item) : watch_nearest(monitor, item)) < 0)
			watches_failed = true;
	}
}

static void mark_changed(struct mask_monitor *monitor)
{
	monitor->changed = monitor->pending = true;
}

static void on_event(void *context, const char *directory, const char *name)
{
	struct mask_monitor *monitor = context;
	size_t length = strlen(directory), name_length = strlen(name);
	for (size_t i = 0; i < monitor->paths.count && !monitor->pending; i++) {
		const char *path = monitor->paths.items[i].path;
		if (strncmp(path, directory, length) != 0 || path[length] != '/')
			continue;
		path += length + 1;
		if (strncmp(path, name, name_length) == 0 && (path[name_length] == '/' || path[name_length] == '\0'))
			mark_changed(monitor);
	}
}

static void read_events(struct mask_monitor *monitor)
{
	struct pollfd sources[] = {{.fd = monitor->mounts, .events = POLLPRI},
				   {.fd = mask_monitor_watches_fd(monitor), .events = POLLIN}};
	if (poll(sources, 2, 0) <= 0)
		return;
	if (sources[0].revents || (sources[1].revents && path_watches_read(&watches, on_event, monitor)))
		mark_changed(monitor);
}

/* Stores the state of unprotected paths. A path that does not exist stays so until there is an event. */
static void note_states(struct mask_monitor *monitor, bool all)
{
	for (size_t i = 0; i < monitor->paths.count; i++) {
		struct monitored_path *item = &monitor->paths.items[i];
		if (item->kind == MASK_NONE && (all || item->exists))
			item->exists = monitored_path_stat(&monitor->paths, item->path, &item->status);
	}
}

static void watch(struct mask_monitor *monitor)
{
	path_watches_close(&watches);
	watching = monitor;
	watches_failed = path_watches_open(&watches) < 0;
	add_watches(monitor);
}

bool mask_monitor_start(struct mask_monitor *monitor, const struct sandbox_spec *spec)
{
	bool begins = monitor->watched && watching != monitor;
	if (begins) {
		watch(monitor);
		/* Renamed paths were not detected while another sandbox was in use. */
		for (size_t i = 0; i < monitor->paths.count && !monitor->changed; i++)
			if (monitored_path_is_broken(&monitor->paths, spec, &monitor->paths.items[i], true))
				mark_changed(monitor);
	}
	read_events(monitor);
	note_states(monitor, begins || !mask_monitor_works(monitor));
	return !monitor->changed;
}

bool mask_monitor_works(const struct mask_monitor *monitor)
{
	return !monitor->watched || !watches_failed;
}

int mask_monitor_watches_fd(const struct mask_monitor *monitor)
{
	return watching == monitor ? watches.fd : -1;
}

void mask_monitor_mounts_changed(struct mask_monitor *monitor)
{
	mark_changed(monitor);
}

/* ---- results ---- */

bool mask_monitor_check(struct mask_monitor *monitor, const struct sandbox_spec *spec, struct paths_text *broken)
{
	bool found = false;
	read_events(monitor);
	if (!monitor->pending)
		return false;
	monitor->pending = false;
	/* A directory that has appeared is watched before the paths in it are checked. */
	if (watching == monitor)
		add_watches(monitor);
	else
		watch(monitor);
	for (size_t i = 0; i < monitor->paths.count; i++) {
		struct monitored_path *item = &monitor->paths.items[i];
		item->broken = monitored_path_is_broken(&monitor->paths, spec, item, !watches_failed);
		if (item->broken && !item->reported)
			paths_text_add(broken, item->path);
		item->reported = item->reported || item->broken;
		found = found || item->broken;
	}
	return found;
}

void mask_monitor_restore(const struct mask_monitor *monitor, const struct sandbox_spec *spec,
			  const struct namespaces *namespaces, int own_mounts)
{
	const char *paths[MAX_RESTORED];
	size_t count = 0;
	for (size_t i = 0; i < monitor->paths.count && count < MAX_RESTORED; i++)
		if (monitor->paths.items[i].broken)
			paths[count++] = monitor->paths.items[i].path;
	if (namespaces->mount < 0)
		return;
	mounts_restore(spec, namespaces->user, namespaces->mount, paths, count);
	if (own_mounts >= 0)
		mounts_restore(spec, namespaces->user, own_mounts, paths, count);
}

void mask_monitor_find_created(struct mask_monitor *monitor, struct paths_text *created)
{
	/* Without an event no path was created. Without watches or masks, an existing path may have been changed. */
	bool all = monitor->changed || !mask_monitor_works(monitor) || monitor->mounts < 0;
	for (size_t i = 0; all && i < monitor->paths.count; i++) {
		const struct monitored_path *item = &monitor->paths.items[i];
		if (item->kind == MASK_NONE && monitored_path_has_changed(&monitor->paths, item))
			paths_text_add(created, item->path);
	}
}
