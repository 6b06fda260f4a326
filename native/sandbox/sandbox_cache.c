#include "sandbox/sandbox_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/launch.h"
#include "sandbox/landlock.h"

#define CACHE_SIZE 4
/* Maximum number of uses of an entry. Each isolated command adds a rule for its own /proc to the ruleset, and the rule
 * cannot be removed. */
#define MAX_USES 64

static struct cached_sandbox cache[CACHE_SIZE];
static unsigned long use_counter;
static int mounts_fd = -1;

static void evict(struct cached_sandbox *entry)
{
	if (!entry->key)
		return;
	prefork_discard(entry);
	free(entry->key);
	if (entry->ruleset >= 0)
		close(entry->ruleset);
	mask_monitor_free(&entry->monitor);
	namespaces_close(&entry->namespaces);
	path_fingerprints_free(&entry->fingerprints);
	memset(entry, 0, sizeof *entry);
}

void sandbox_cache_clear(void)
{
	for (unsigned i = 0; i < CACHE_SIZE; i++)
		evict(&cache[i]);
	if (mounts_fd >= 0)
		close(mounts_fd);
	mounts_fd = -1;
}

/* Evicts all entries if the mount table has changed. A mount changes what a path refers to without changing the times
 * of any directory. */
static void evict_if_mounts_changed(void)
{
	if (mounts_fd < 0) {
		mounts_fd = open("/proc/self/mounts", O_RDONLY | O_CLOEXEC);
		return;
	}
	struct pollfd table = {.fd = mounts_fd, .events = POLLPRI};
	if (poll(&table, 1, 0) > 0 && (table.revents & (POLLPRI | POLLERR)))
		for (unsigned i = 0; i < CACHE_SIZE; i++)
			evict(&cache[i]);
}

static char *append(char *at, const void *bytes, size_t length)
{
	if (length > 0)
		memcpy(at, bytes, length);
	return at + length;
}

/* Returns the cache key: all fields of SPEC that affect the entry, which excludes `require`. */
static char *make_key(const struct sandbox_spec *spec, size_t *length)
{
	const struct string_list parts[] = {
		spec->writable,
		spec->read_only,
		spec->denied,
		spec->masked,
		spec->held,
		spec->absent,
		spec->readable,
		spec->binds,
		{spec->tmp_dir, spec->tmp_dir ? strlen(spec->tmp_dir) : 0},
		{(const char *)spec->ports, 2 * spec->port_count},
	};
	const unsigned count = sizeof parts / sizeof *parts;
	size_t lengths[sizeof parts / sizeof *parts];
	const size_t marks[] = {spec->isolated, spec->network, spec->has_user, spec->tmp_dir != NULL};
	*length = sizeof lengths + sizeof marks;
	for (unsigned i = 0; i < count; i++)
		*length += lengths[i] = parts[i].length;
	char *key = malloc(*length);
	if (!key)
		return NULL;
	char *at = append(append(key, lengths, sizeof lengths), marks, sizeof marks);
	for (unsigned i = 0; i < count; i++)
		at = append(at, parts[i].bytes, parts[i].length);
	return key;
}

static int add_fingerprints(struct path_fingerprints *fingerprints, const struct string_list *paths)
{
	for_each_string (path, paths)
		if (path_fingerprints_add(fingerprints, path, FINGERPRINT_IDENTITY) < 0)
			return -1;
	return 0;
}

/* Adds fingerprints of PATHS as entries of their directories, because protected paths usually share a directory. */
static int add_entry_fingerprints(struct path_fingerprints *fingerprints, const struct string_list *paths)
{
	char folder[PATH_MAX];
	for_each_string (path, paths) {
		size_t length = (size_t)(strrchr(path, '/') - path);
		memcpy(folder, path, length);
		folder[length] = '\0';
		if (path_fingerprints_add_entry(fingerprints, length ? folder : "/", path) < 0)
			return -1;
	}
	return 0;
}

/* Returns the innermost directory of FOLDERS that contains PATH, or NEAREST if that is further inside. */
static const char *innermost(const struct string_list *folders, const char *path, const char *nearest)
{
	for_each_string (folder, folders)
		if (path_within(path, folder) && (!nearest || strlen(folder) > strlen(nearest)))
			nearest = folder;
	return nearest;
}

/* Adds fingerprints of the denied paths that a command could move if they were not masked and held, and of their
 * parents. Landlock examines only directories that it does not grant as a whole. */
static int add_denied_fingerprints(struct path_fingerprints *fingerprints, const struct sandbox_spec *spec)
{
	char prefix[PATH_MAX];
	for_each_string (path, &spec->denied) {
		const char *top = innermost(&spec->readable, path, innermost(&spec->writable, path, NULL));
		if (!top || strcmp(path, top) == 0)
			continue;
		for (size_t length = strlen(top) == 1 ? 0 : strlen(top); path[length];) {
			size_t parent = length;
			length += 1 + strcspn(path + length + 1, "/");
			memcpy(prefix, path, length);
			prefix[length] = '\0';
			if (path_fingerprints_contain(fingerprints, prefix))
				continue;
			char folder[PATH_MAX];
			memcpy(folder, path, parent);
			folder[parent] = '\0';
			if (path_fingerprints_add_entry(fingerprints, parent ? folder : "/", prefix) < 0)
				return -1;
		}
	}
	return 0;
}

static const char *build_rules(struct cached_sandbox *entry, const struct sandbox_spec *spec)
{
	entry->abi = landlock_abi();
	if (add_entry_fingerprints(&entry->fingerprints, &spec->read_only) < 0)
		return "sandbox-memory";
	if (add_entry_fingerprints(&entry->fingerprints, &spec->masked) < 0)
		return "sandbox-memory";
	if (add_fingerprints(&entry->fingerprints, &spec->held) < 0 ||
	    add_fingerprints(&entry->fingerprints, &spec->readable) < 0 ||
	    add_fingerprints(&entry->fingerprints, &spec->binds) < 0 ||
	    add_denied_fingerprints(&entry->fingerprints, spec) < 0)
		return "sandbox-memory";
	/* With Landlock, landlock_rules_build adds the fingerprints of denied and writable paths. */
	if (entry->abi < 1) {
		bool added = add_fingerprints(&entry->fingerprints, &spec->denied) == 0 &&
			     add_fingerprints(&entry->fingerprints, &spec->writable) == 0 &&
			     (!spec->tmp_dir || path_fingerprints_add(&entry->fingerprints, spec->tmp_dir,
								      FINGERPRINT_IDENTITY) == 0);
		return added ? NULL : "sandbox-memory";
	}
	entry->ruleset = landlock_rules_build(spec, entry->abi, &entry->fingerprints);
	return entry->ruleset < 0 ? "sandbox-landlock" : NULL;
}

/* Builds an entry. The fingerprints are taken first, so that a change during the rest is detected on the next use. */
static bool build(struct cached_sandbox *entry, const struct sandbox_spec *spec, struct launch_failure *failure)
{
	const char *failed_step = build_rules(entry, spec);
	if (failed_step) {
		*failure = (struct launch_failure){failed_step, errno};
		return false;
	}
	if (!namespaces_make(&entry->namespaces, spec, &entry->unsupported, failure))
		return false;
	if (mask_monitor_build(&entry->monitor, spec, &entry->namespaces, entry->ruleset >= 0) < 0) {
		*failure = (struct launch_failure){"sandbox-memory", errno};
		return false;
	}
	/* The rules were built with the directories of the host. */
	const struct namespaces *made = &entry->namespaces;
	bool granted = entry->ruleset < 0 ||
		       ((made->devpts < 0 || landlock_rules_add_devpts(entry->ruleset, entry->abi, made->devpts) == 0) &&
			(made->proc < 0 || landlock_rules_add_read(entry->ruleset, entry->abi, made->proc) == 0));
	if (!granted)
		*failure = (struct launch_failure){"sandbox-landlock", errno};
	return granted;
}

static struct cached_sandbox *lookup(const char *key, size_t length)
{
	for (unsigned i = 0; i < CACHE_SIZE; i++)
		if (cache[i].key && cache[i].key_length == length && memcmp(cache[i].key, key, length) == 0)
			return &cache[i];
	return NULL;
}

static struct cached_sandbox *least_recently_used(void)
{
	struct cached_sandbox *least = &cache[0];
	for (unsigned i = 1; i < CACHE_SIZE; i++)
		if (cache[i].last_used < least->last_used)
			least = &cache[i];
	return least;
}

struct cached_sandbox *sandbox_cache_get(const struct sandbox_spec *spec, struct launch_failure *failure)
{
	size_t length;
	char *key = make_key(spec, &length);
	if (!key) {
		*failure = (struct launch_failure){"sandbox-memory", errno};
		return NULL;
	}
	evict_if_mounts_changed();
	struct cached_sandbox *entry = lookup(key, length);
	if (entry && entry->uses < MAX_USES && path_fingerprints_match(&entry->fingerprints) &&
	    mask_monitor_start(&entry->monitor, spec)) {
		free(key);
		entry->reused = true;
	} else {
		entry = entry ? entry : least_recently_used();
		evict(entry);
		*entry = (struct cached_sandbox){
			.key = key, .key_length = length, .ruleset = -1, .namespaces = NO_NAMESPACES};
		if (!build(entry, spec, failure)) {
			evict(entry);
			return NULL;
		}
		mask_monitor_start(&entry->monitor, spec);
	}
	entry->last_used = ++use_counter;
	return entry;
}
