#ifndef SALLYPORT_PATH_FINGERPRINTS_H
#define SALLYPORT_PATH_FINGERPRINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Notes of how places were when something was worked out from them: as long as they are the same, so is the result. */
enum fingerprint_kind {
	FINGERPRINT_IDENTITY, /* the same file or folder, or still none */
	FINGERPRINT_CONTENT,  /* and nothing came into the folder or went */
	FINGERPRINT_PARENT, /* if so, those of its entries that were noted next need not be looked at; if not, they are */
};

struct path_fingerprint {
	char *path;
	enum fingerprint_kind kind;
	bool exists, settled; /* settled: its next change is sure to show */
	size_t entries;       /* how many of the next */
	struct statx status;
};

struct path_fingerprints {
	struct path_fingerprint *items;
	size_t count, room;
	bool unsettled; /* a folder had changed so recently that its next change might not show */
};

/* Notes PATH as it is now. 0, or -1 with errno. */
int path_fingerprints_add(struct path_fingerprints *fingerprints, const char *path, enum fingerprint_kind kind);

/* Notes ENTRY of FOLDER, which vouches for it. */
int path_fingerprints_add_entry(struct path_fingerprints *fingerprints, const char *folder, const char *entry);

/* Whether everything is as it was noted. */
bool path_fingerprints_match(const struct path_fingerprints *fingerprints);

void path_fingerprints_free(struct path_fingerprints *fingerprints);

#endif
