#ifndef SALLYPORT_SPEC_H
#define SALLYPORT_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sandbox that a gateway requests, as plain lists and flags; the gateway resolves profiles. Strings point into the
 * payload of the request. */
#define SPEC_TAG_FIRST 22u
#define SPEC_TAG_LAST 39u

enum spec_flag { SPEC_ISOLATED = 1, SPEC_REQUIRE = 2, SPEC_MASK_WARN = 4 };
enum spec_network { NETWORK_ON = 0, NETWORK_OFF = 1, NETWORK_PORTS = 2 };

/* Consecutive NUL-terminated strings. */
struct string_list {
	const char *bytes;
	size_t length;
};

struct sandbox_spec {
	bool enabled; /* false if no sandbox was requested */
	bool isolated, require;
	bool mask_warn; /* the command continues when a mask breaks; by default it is killed */
	struct string_list writable, read_only, denied;
	struct string_list masked; /* paths to mask if they exist, such as sockets, which Landlock may not protect */
	struct string_list held;   /* links to denied paths that must not be replaced */
	struct string_list absent; /* paths that count as a broken mask if they appear while the command runs */
	struct string_list sockets; /* Unix sockets, or folders of them, to which the command may connect */
	struct string_list readable; /* directories that stay visible, read-only, below a private directory */
	/* Private directories that are mounted over shared ones such as /tmp: a path and a source alternately. */
	struct string_list binds;
	const char *tmp_dir; /* may be NULL */
	uint8_t network;
	const unsigned char *ports; /* u16 each */
	size_t port_count;
	bool has_user;
	uint32_t uid, gid;
	const unsigned char *groups; /* u32 each */
	size_t group_count;
	bool seen[SPEC_TAG_LAST - SPEC_TAG_FIRST + 1]; /* fields that the request contains */
};

/* Parses one field of a request. Returns NULL, or an error message. */
const char *sandbox_spec_parse_field(struct sandbox_spec *spec, unsigned tag, const char *bytes, size_t length);

/* Checks the fields for consistency. Returns NULL, or an error message. */
const char *sandbox_spec_check(const struct sandbox_spec *spec);

/* Reports whether SPEC restricts files and processes. With the profile `off`, it has only a user or a network mode, and
 * everything is writable. */
bool sandbox_spec_confines(const struct sandbox_spec *spec);

/* Returns the string that follows AFTER, or the first one if AFTER is NULL. Returns NULL at the end. Async-signal-safe.
 * */
const char *string_list_next(const struct string_list *texts, const char *after);

#define for_each_string(item, list)                                                                                    \
	for (const char *item = string_list_next(list, NULL); item; item = string_list_next(list, item))

/* The paths and sources of binds. */
#define for_each_bind(at, source, list)                                                                                \
	for (const char *at = string_list_next(list, NULL), *source = at ? string_list_next(list, at) : NULL; source;  \
	     at = string_list_next(list, source), source = at ? string_list_next(list, at) : NULL)

/* Reports whether PATH, as the command sees it, is in a private directory that is mounted over a shared one, and not in
 * a writable or readable directory below it. The path of the host with the same name is hidden. */
bool sandbox_spec_is_private(const struct sandbox_spec *spec, const char *path);

uint16_t sandbox_spec_port(const struct sandbox_spec *spec, size_t index);
uint32_t sandbox_spec_group(const struct sandbox_spec *spec, size_t index);

/* The largest number of supplementary groups of a command. */
#define SPEC_MAX_GROUPS 1024

/* Copies the supplementary groups to GROUPS and returns their number. Returns -1 with errno if there are more than
 * SPEC_MAX_GROUPS. */
int sandbox_spec_groups(const struct sandbox_spec *spec, uint32_t groups[SPEC_MAX_GROUPS]);

/* Reports whether PATH is in LIST or below a path in it. Only compares strings. */
bool path_within_any(const char *path, const struct string_list *list);

/* Reports whether PATH is FOLDER or below it. Only compares strings. */
bool path_within(const char *path, const char *folder);

#endif
