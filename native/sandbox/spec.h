#ifndef SALLYPORT_SPEC_H
#define SALLYPORT_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sandbox that a gateway requests: lists and flags, no profiles. Strings point into the request's payload. */
#define SPEC_TAG_FIRST 22u
#define SPEC_TAG_LAST 39u

enum spec_flag { SPEC_ISOLATED = 1, SPEC_REQUIRE = 2 };
enum spec_network { NETWORK_ON = 0, NETWORK_OFF = 1, NETWORK_PORTS = 2 };

/* Consecutive NUL-terminated strings. */
struct string_list {
	const char *bytes;
	size_t length;
};

struct sandbox_spec {
	bool enabled; /* false: no sandbox was requested */
	bool isolated, require;
	struct string_list writable, read_only, denied;
	struct string_list masked; /* masked if they exist: sockets, which no rule protects from connections */
	const char *tmp_dir;       /* NULL: none */
	uint8_t network;
	const unsigned char *ports; /* u16 each */
	size_t port_count;
	bool has_user;
	uint32_t uid, gid;
	const unsigned char *groups; /* u32 each */
	size_t group_count;
	bool seen[SPEC_TAG_LAST - SPEC_TAG_FIRST + 1]; /* the fields of the request */
};

/* Parses one field of a request. Returns NULL, or what is wrong with it. */
const char *sandbox_spec_parse_field(struct sandbox_spec *spec, unsigned tag, const char *bytes, size_t length);

/* Checks the fields together. Returns NULL, or what is wrong with them. */
const char *sandbox_spec_check(const struct sandbox_spec *spec);

/* The string after AFTER, or the first one for NULL; NULL at the end. Async-signal-safe. */
const char *string_list_next(const struct string_list *texts, const char *after);

#define for_each_string(item, list)                                                                                    \
	for (const char *item = string_list_next(list, NULL); item; item = string_list_next(list, item))

uint16_t sandbox_spec_port(const struct sandbox_spec *spec, size_t index);
uint32_t sandbox_spec_group(const struct sandbox_spec *spec, size_t index);

/* Whether PATH is FOLDER or below it, judged by the strings. */
bool path_within(const char *path, const char *folder);

#endif
