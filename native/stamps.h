#ifndef SALLYPORT_STAMPS_H
#define SALLYPORT_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Notes of how places were when something was worked out from them: as long as they are the same, so is the result. */
enum stamp_kind {
	STAMP_ITSELF,  /* the same file or folder, or still none */
	STAMP_CONTENT, /* and nothing came into the folder or went */
};

struct stamp {
	char *path;
	enum stamp_kind kind;
	bool there;
	struct statx status;
};

struct stamps {
	struct stamp *items;
	size_t count, room;
	bool fresh; /* a folder had changed so recently that its next change might not show */
};

/* Notes PATH as it is now. 0, or -1 with errno. */
int stamps_add(struct stamps *stamps, const char *path, enum stamp_kind kind);

/* Whether everything is as it was noted. */
bool stamps_hold(const struct stamps *stamps);

void stamps_free(struct stamps *stamps);

#endif
