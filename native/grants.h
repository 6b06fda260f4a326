#ifndef SALLYPORT_GRANTS_H
#define SALLYPORT_GRANTS_H

#include <stdint.h>
#include <sys/stat.h>

#include "spec.h"

/* Which places a sandbox grants what, found by looking through the folders that lead to denied ones. The places are
 * held open, so that what was looked at is what is granted. */
struct grant {
	int fd; /* O_PATH */
	uint64_t access;
};

/* A folder that was looked through: as long as it is the same and unchanged, so is what was found in it. */
struct seen {
	int fd; /* O_PATH */
	struct statx status;
};

struct grants {
	struct grant *items;
	size_t count, room;
	struct seen *seen;
	size_t seen_count, seen_room;
};

/* Finds everything SPEC grants but its temporary folder, which is another one each time. 0, or -1 with errno and
 * nothing held. */
int grants_find(struct grants *grants, const struct spec *spec);

/* Whether a new search would find the same. */
bool grants_hold(const struct grants *grants);

void grants_free(struct grants *grants);

/* What a writable place gets. */
uint64_t grants_writing(mode_t mode);

#endif
