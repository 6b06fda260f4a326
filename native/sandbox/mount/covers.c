#include "sandbox/mount/covers.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "closing.h"
#include "sandbox/mount/mount-calls.h"

#define MOST_COVERED 1024
#define SCRATCH "/proc"

struct covers {
	const struct spec *spec;
	gaps_t *gaps;
	int copies[MOST_COVERED];
	size_t count;
};

/* What lies over a denied place: an empty folder or file that nobody may open. Copies are made of what is attached
 * somewhere, so the file system they are of is put over /proc for as long as that takes. */
static int make_copies(struct covers *covers, size_t folders, size_t files)
{
	static const char *const options[] = {"mode", "0", "size", "4k", "nr_inodes", "4", NULL};
	int fs = mount_new("tmpfs", options, MOUNT_NO_SETUID | MOUNT_NO_DEVICES);
	int file = fs < 0 ? -1 : openat(fs, "nothing", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0);
	if (file < 0)
		return close_quietly(fs, -1);
	close(file); /* as long as somebody could write to it, it would not become read-only */
	if (mkdirat(fs, "empty", 0) < 0 || mount_set(fs, MOUNT_READ_ONLY, false) < 0 || mount_put_at(fs, SCRATCH) < 0)
		return close_quietly(fs, -1);
	int sources[2] = {openat(fs, "empty", O_PATH | O_CLOEXEC), openat(fs, "nothing", O_PATH | O_CLOEXEC)};
	int failed = sources[0] < 0 || sources[1] < 0 ? -1 : 0;
	covers->count = failed ? 0 : folders + files;
	for (size_t i = 0; !failed && i < covers->count; i++) {
		covers->copies[i] = mount_copy(sources[i >= folders]);
		failed = covers->copies[i] < 0 ? -1 : 0;
	}
	if (umount2(SCRATCH, MNT_DETACH) < 0)
		failed = -1;
	return close_quietly(sources[0], close_quietly(sources[1], close_quietly(fs, failed)));
}

/* Something that may be written lies within: it would be covered as well. Landlock denies the rest. */
static bool holds_a_writable(const struct spec *spec, const char *folder)
{
	if (spec->temporary && path_within(spec->temporary, folder))
		return true;
	for (const char *path = texts_next(&spec->writable, NULL); path; path = texts_next(&spec->writable, path))
		if (path_within(path, folder))
			return true;
	return false;
}

static bool is_writable(const struct spec *spec, const char *path)
{
	for (const char *each = texts_next(&spec->writable, NULL); each; each = texts_next(&spec->writable, each))
		if (path_within(path, each))
			return true;
	return false;
}

/* Opens what of PATHS is there, folders or the rest; COUNT how many there are by now. */
static int find(struct covers *covers, const struct texts *paths, bool folders, int places[MOST_COVERED], size_t *count)
{
	const struct spec *spec = covers->spec;
	for (const char *path = texts_next(paths, NULL); path; path = texts_next(paths, path)) {
		struct stat status;
		if (holds_a_writable(spec, path))
			continue;
		int place = mount_place(path);
		if (place < 0 && !mount_no_place(errno))
			return -1;
		if (place < 0 && paths == &spec->denied && is_writable(spec, path))
			*covers->gaps |= GAP_BIT(GAP_DENIED_LATER);
		if (place < 0)
			continue;
		bool wanted = fstat(place, &status) == 0 && !S_ISLNK(status.st_mode) && S_ISDIR(status.st_mode) == folders;
		if (wanted && *count < MOST_COVERED) {
			places[(*count)++] = place;
			continue;
		}
		close(place);
		if (wanted) {
			errno = E2BIG;
			return -1;
		}
	}
	return 0;
}

int covers_put(const struct spec *spec, gaps_t *gaps)
{
	static struct covers all;
	struct covers *covers = &all;
	all = (struct covers){.spec = spec, .gaps = gaps};
	int places[MOST_COVERED];
	size_t count = 0, folders;
	if (find(covers, &spec->denied, true, places, &count) < 0 || find(covers, &spec->hidden, true, places, &count) < 0)
		return -1;
	folders = count;
	if (find(covers, &spec->denied, false, places, &count) < 0 || find(covers, &spec->hidden, false, places, &count) < 0)
		return -1;
	if (count > 0 && make_copies(covers, folders, count - folders) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (mount_put(covers->copies[i], places[i]) < 0)
			return -1;
	return 0;
}
