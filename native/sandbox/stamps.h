#ifndef SALLYPORT_STAMPS_H
#define SALLYPORT_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Notes of how places were when something was worked out from them: as long as they are the same, so is the result. */
enum stamp_kind {
	STAMP_ITSELF,  /* the same file or folder, or still none */
	STAMP_CONTENT, /* and nothing came into the folder or went */
	STAMP_VOUCHES, /* if so, those of its entries that were noted next need not be looked at; if not, they are */
};

struct stamp {
	char *path;
	enum stamp_kind kind;
	bool there, settled; /* settled: its next change is sure to show */
	size_t vouched;      /* how many of the next */
	struct statx status;
};

struct stamps {
	struct stamp *items;
	size_t count, room;
	bool fresh; /* a folder had changed so recently that its next change might not show */
};

/* Notes PATH as it is now. 0, or -1 with errno. */
int stamps_add(struct stamps *stamps, const char *path, enum stamp_kind kind);

/* Notes ENTRY of FOLDER, which vouches for it. */
int stamps_add_entry(struct stamps *stamps, const char *folder, const char *entry);

/* Whether everything is as it was noted. */
bool stamps_hold(const struct stamps *stamps);

void stamps_free(struct stamps *stamps);

#endif
