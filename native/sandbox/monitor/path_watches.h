#ifndef SALLYPORT_PATH_WATCHES_H
#define SALLYPORT_PATH_WATCHES_H

#include <stdbool.h>
#include <stddef.h>

/* Watches that report when an entry of a directory appears, is renamed or changes its mode. The kernel limits inotify
 * instances per user, so a keeper has only one. */
struct path_watches {
	int fd; /* -1 when closed */
	struct path_watch *items;
	size_t count, room;
	unsigned round; /* of path_watches_add calls */
};

#define NO_PATH_WATCHES ((struct path_watches){.fd = -1})

/* Returns 0, or -1 with errno. */
int path_watches_open(struct path_watches *watches);
void path_watches_close(struct path_watches *watches);

/* Starts a new round. In each round, path_watches_add looks up a directory once, because it may have been replaced. */
void path_watches_begin(struct path_watches *watches);

/* Watches the directory with the first LENGTH bytes of PATH. Returns 0, also if it does not exist, or -1 with errno. */
int path_watches_add(struct path_watches *watches, const char *path, size_t length);

/* Reads pending events without blocking and calls EVENT for each entry. Returns true if events may have been lost. */
bool path_watches_read(struct path_watches *watches,
		       void (*event)(void *context, const char *directory, const char *name), void *context);

#endif
