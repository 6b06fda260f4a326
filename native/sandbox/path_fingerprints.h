#ifndef SALLYPORT_PATH_FINGERPRINTS_H
#define SALLYPORT_PATH_FINGERPRINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Fingerprints of the paths on which a cached result depends. The result is valid as long as all of them match. */
enum fingerprint_kind {
	FINGERPRINT_IDENTITY, /* matches the same file or directory, or a path that is still missing */
	FINGERPRINT_CONTENT,  /* also requires that no entry was added or removed */
	FINGERPRINT_PARENT,   /* if it matches, the following entries are skipped, otherwise they are checked */
};

struct path_fingerprint {
	char *path;
	enum fingerprint_kind kind;
	bool exists, settled; /* settled means that the next change is certain to be detected */
	size_t entries;       /* number of following fingerprints that are entries of this directory */
	struct statx status;
};

struct path_fingerprints {
	struct path_fingerprint *items;
	size_t count, room;
	bool unsettled; /* a directory changed so recently that its next change might not be detected */
};

/* Adds a fingerprint of the current state of PATH. Returns 0, or -1 with errno. */
int path_fingerprints_add(struct path_fingerprints *fingerprints, const char *path, enum fingerprint_kind kind);

/* Adds ENTRY below a fingerprint of its directory FOLDER. Returns 0, or -1 with errno. */
int path_fingerprints_add_entry(struct path_fingerprints *fingerprints, const char *folder, const char *entry);

/* Reports whether there is a fingerprint of PATH as an entry or on its own. */
bool path_fingerprints_contain(const struct path_fingerprints *fingerprints, const char *path);

/* Reports whether all fingerprints match. */
bool path_fingerprints_match(const struct path_fingerprints *fingerprints);

void path_fingerprints_free(struct path_fingerprints *fingerprints);

#endif
