#include "sandbox/monitor/path_watches.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* A removed entry needs no event: if it was masked, the kernel reports the change of the mount table. A change of its
 * mode or owner can make a directory accessible. */
#define EVENTS (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_ATTRIB | IN_ONLYDIR | IN_DONT_FOLLOW)
#define MAX_WATCHES 1024
/* A process can cause events faster than they are read, so a call reads at most this many times. */
#define MAX_READS 64

struct path_watch {
	int id;
	unsigned round;
	char *directory;
};

int path_watches_open(struct path_watches *watches)
{
	*watches = NO_PATH_WATCHES;
	watches->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	return watches->fd < 0 ? -1 : 0;
}

void path_watches_close(struct path_watches *watches)
{
	if (watches->fd >= 0)
		close(watches->fd);
	for (size_t i = 0; i < watches->count; i++)
		free(watches->items[i].directory);
	free(watches->items);
	*watches = NO_PATH_WATCHES;
}

void path_watches_begin(struct path_watches *watches)
{
	watches->round++;
}

static struct path_watch *append(struct path_watches *watches)
{
	if (watches->count == MAX_WATCHES) {
		errno = ENOSPC;
		return NULL;
	}
	if (watches->count == watches->room) {
		size_t room = watches->room ? watches->room * 2 : 16;
		struct path_watch *items = realloc(watches->items, room * sizeof *items);
		if (!items)
			return NULL;
		watches->items = items;
		watches->room = room;
	}
	return &watches->items[watches->count];
}

static struct path_watch *find_id(const struct path_watches *watches, int id)
{
	for (size_t i = 0; i < watches->count; i++)
		if (watches->items[i].id == id)
			return &watches->items[i];
	return NULL;
}

static bool is_named(const struct path_watch *watch, const char *path, size_t length)
{
	return strncmp(watch->directory, path, length) == 0 && watch->directory[length] == '\0';
}

int path_watches_add(struct path_watches *watches, const char *path, size_t length)
{
	for (size_t i = 0; i < watches->count; i++)
		if (watches->items[i].round == watches->round && is_named(&watches->items[i], path, length))
			return 0;
	char *directory = strndup(path, length);
	int id = directory ? inotify_add_watch(watches->fd, length ? directory : "/", EVENTS) : -1;
	if (id < 0) {
		int error = errno;
		free(directory);
		errno = error;
		return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP ? 0 : -1;
	}
	struct path_watch *watch = find_id(watches, id);
	if (watch) { /* the same directory, which may have been renamed */
		free(watch->directory);
	} else {
		watch = append(watches);
		if (!watch) {
			free(directory);
			return -1;
		}
		watches->count++;
	}
	*watch = (struct path_watch){.id = id, .round = watches->round, .directory = directory};
	return 0;
}

static void forget(struct path_watches *watches, struct path_watch *watch)
{
	free(watch->directory);
	*watch = watches->items[--watches->count];
}

bool path_watches_read(struct path_watches *watches,
		       void (*event)(void *context, const char *directory, const char *name), void *context)
{
	static char buffer[64 * (sizeof(struct inotify_event) + NAME_MAX + 1)]
		__attribute__((aligned(__alignof__(struct inotify_event))));
	bool lost = false;
	for (unsigned reads = 0; watches->fd >= 0 && reads < MAX_READS; reads++) {
		ssize_t length = read(watches->fd, buffer, sizeof buffer);
		if (length <= 0)
			return lost;
		for (char *at = buffer; at < buffer + length;) {
			const struct inotify_event *each = (const struct inotify_event *)(const void *)at;
			struct path_watch *watch = find_id(watches, each->wd);
			at += sizeof *each + each->len;
			if (each->mask & IN_Q_OVERFLOW)
				lost = true;
			else if (watch && (each->mask & IN_IGNORED)) /* the directory was removed */
				forget(watches, watch);
			else if (watch && each->len > 0)
				event(context, watch->directory, each->name);
		}
	}
	return lost;
}
