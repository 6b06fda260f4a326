#include "sandbox/kit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/ahead.h"
#include "sandbox/grants.h"
#include "sandbox/landlock.h"

#define KITS 4
/* An isolated command adds its own /proc to the rules, which stays there as a rule for nothing. */
#define USES_MOST 64

static struct kit kits[KITS];
static unsigned long clock_of_use;
static int mount_table = -1;

static void drop(struct kit *kit)
{
	if (!kit->key)
		return;
	ahead_forget(kit);
	free(kit->key);
	if (kit->ruleset >= 0)
		close(kit->ruleset);
	namespaces_close(&kit->namespaces);
	stamps_free(&kit->stamps);
	memset(kit, 0, sizeof *kit);
}

void kits_forget(void)
{
	for (unsigned i = 0; i < KITS; i++)
		drop(&kits[i]);
	if (mount_table >= 0)
		close(mount_table);
	mount_table = -1;
}

/* Mounts that come and go outside change what a path leads to, and no folder's time tells. */
static void heed_mounts(void)
{
	if (mount_table < 0) {
		mount_table = open("/proc/self/mounts", O_RDONLY | O_CLOEXEC);
		return;
	}
	struct pollfd table = {.fd = mount_table, .events = POLLPRI};
	if (poll(&table, 1, 0) > 0 && (table.revents & (POLLPRI | POLLERR)))
		for (unsigned i = 0; i < KITS; i++)
			drop(&kits[i]);
}

static char *put(char *at, const void *bytes, size_t length)
{
	if (length > 0)
		memcpy(at, bytes, length);
	return at + length;
}

/* Everything but `require`, which changes nothing in it. */
static char *key_of(const struct spec *spec, size_t *length)
{
	const size_t lengths[] = {spec->writable.length, spec->read_only.length, spec->denied.length,
				  spec->hidden.length, spec->temporary ? strlen(spec->temporary) : 0, 2 * spec->port_count};
	const size_t marks[] = {spec->isolated, spec->network, spec->has_user, spec->temporary != NULL};
	*length = sizeof lengths + sizeof marks;
	for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++)
		*length += lengths[i];
	char *key = malloc(*length);
	if (!key)
		return NULL;
	char *at = put(put(key, lengths, sizeof lengths), marks, sizeof marks);
	at = put(at, spec->writable.bytes, lengths[0]);
	at = put(at, spec->read_only.bytes, lengths[1]);
	at = put(at, spec->denied.bytes, lengths[2]);
	at = put(at, spec->hidden.bytes, lengths[3]);
	at = put(at, spec->temporary, lengths[4]);
	put(at, spec->ports, lengths[5]);
	return key;
}

static int note(struct stamps *stamps, const struct texts *paths)
{
	for (const char *path = texts_next(paths, NULL); path; path = texts_next(paths, path))
		if (stamps_add(stamps, path, STAMP_ITSELF) < 0)
			return -1;
	return 0;
}

/* Spots mostly lie side by side in one folder. */
static int note_spots(struct stamps *stamps, const struct texts *spots)
{
	char folder[PATH_MAX];
	for (const char *spot = texts_next(spots, NULL); spot; spot = texts_next(spots, spot)) {
		size_t length = (size_t)(strrchr(spot, '/') - spot);
		memcpy(folder, spot, length);
		folder[length] = '\0';
		if (stamps_add_entry(stamps, length ? folder : "/", spot) < 0)
			return -1;
	}
	return 0;
}

static const char *make_rules(struct kit *kit, const struct spec *spec)
{
	kit->abi = landlock_abi();
	kit->gaps = landlock_gaps(spec, kit->abi);
	if (note_spots(&kit->stamps, &spec->read_only) < 0)
		return "sandbox-memory";
	if (note_spots(&kit->stamps, &spec->hidden) < 0)
		return "sandbox-memory";
	/* With rules, the folders of what is denied are noted as they are looked through. */
	if (kit->abi < 1) {
		bool noted = note(&kit->stamps, &spec->denied) == 0 && note(&kit->stamps, &spec->writable) == 0;
		return noted ? NULL : "sandbox-memory";
	}
	kit->ruleset = grants_ruleset(spec, kit->abi, &kit->stamps);
	return kit->ruleset < 0 ? "sandbox-landlock" : NULL;
}

/* Stamps come first: what changes while the rest is made is then seen the next time. */
static bool make(struct kit *kit, const struct spec *spec, struct launch_failure *failure)
{
	const char *failed = make_rules(kit, spec);
	if (failed) {
		*failure = (struct launch_failure){failed, errno};
		return false;
	}
	if (!namespaces_make(&kit->namespaces, spec, &kit->gaps, failure))
		return false;
	if (kit->ruleset < 0 || kit->namespaces.terminals < 0)
		return true;
	*failure = (struct launch_failure){"sandbox-landlock", 0};
	return grants_terminals(kit->ruleset, kit->abi, kit->namespaces.terminals) == 0;
}

static struct kit *find(const char *key, size_t length)
{
	for (unsigned i = 0; i < KITS; i++)
		if (kits[i].key && kits[i].key_length == length && memcmp(kits[i].key, key, length) == 0)
			return &kits[i];
	return NULL;
}

static struct kit *least_used(void)
{
	struct kit *least = &kits[0];
	for (unsigned i = 1; i < KITS; i++)
		if (kits[i].last_used < least->last_used)
			least = &kits[i];
	return least;
}

struct kit *kit_for(const struct spec *spec, struct launch_failure *failure)
{
	size_t length;
	char *key = key_of(spec, &length);
	if (!key) {
		*failure = (struct launch_failure){"sandbox-memory", errno};
		return NULL;
	}
	heed_mounts();
	struct kit *kit = find(key, length);
	if (kit && kit->uses < USES_MOST && stamps_hold(&kit->stamps)) {
		free(key);
		kit->reused = true;
	} else {
		kit = kit ? kit : least_used();
		drop(kit);
		*kit = (struct kit){.key = key, .key_length = length, .ruleset = -1, .namespaces = NO_NAMESPACES};
		if (!make(kit, spec, failure)) {
			drop(kit);
			return NULL;
		}
	}
	kit->uses += spec->isolated;
	kit->last_used = ++clock_of_use;
	return kit;
}
