#ifndef SALLYPORT_PATH_FINGERPRINTS_H
#define SALLYPORT_PATH_FINGERPRINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Fingerprints of the paths that a cached result depends on: the result is valid while all of them match. */
enum fingerprint_kind {
	FINGERPRINT_IDENTITY, /* the same file or directory, or still missing */
	FINGERPRINT_CONTENT,  /* and no entry was added or removed */
	FINGERPRINT_PARENT,   /* if it matches, its entries that follow are skipped; otherwise they are checked */
};

struct path_fingerprint {
	char *path;
	enum fingerprint_kind kind;
	bool exists, settled; /* settled: the next change is sure to be noticed */
	size_t entries;       /* number of entries that follow */
	struct statx status;
};

struct path_fingerprints {
	struct path_fingerprint *items;
	size_t count, room;
	bool unsettled; /* a directory changed so recently that its next change might not be noticed */
};

/* Adds PATH as it is now. 0, or -1 with errno. */
int path_fingerprints_add(struct path_fingerprints *fingerprints, const char *path, enum fingerprint_kind kind);

/* Adds ENTRY below the fingerprint of FOLDER. */
int path_fingerprints_add_entry(struct path_fingerprints *fingerprints, const char *folder, const char *entry);

/* Whether nothing has changed. */
bool path_fingerprints_match(const struct path_fingerprints *fingerprints);

void path_fingerprints_free(struct path_fingerprints *fingerprints);

#endif
