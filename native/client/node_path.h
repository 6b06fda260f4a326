#ifndef SALLYPORT_CLIENT_NODE_PATH_H
#define SALLYPORT_CLIENT_NODE_PATH_H

#include <limits.h>
#include <stdbool.h>

enum node_search {
	NODE_FOUND,
	NODE_MISSING,
	NODE_REPLACEABLE, /* the path of the program that was found, which others could replace */
};

/* Finds the Node that runs the scripts of the package: the one that native/install.js recorded, otherwise the first one on
 * PATH. `folder` is that of this program, with a slash at its end. */
enum node_search node_path_find(const char *folder, char path[PATH_MAX]);

#endif
