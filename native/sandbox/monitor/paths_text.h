#ifndef SALLYPORT_PATHS_TEXT_H
#define SALLYPORT_PATHS_TEXT_H

#include <stddef.h>

#define PATHS_TEXT_MAX 1280

/* JSON strings of paths, separated by commas. */
struct paths_text {
	unsigned count; /* including those that do not fit into the text */
	size_t length;
	char text[PATHS_TEXT_MAX];
};

/* Adds PATH. Only the end of a long path is kept, which names the file. */
void paths_text_add(struct paths_text *paths, const char *path);

#endif
