#ifndef SALLYPORT_SPEC_H
#define SALLYPORT_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a command is to be kept in bounds, as a gateway asks for it: lists and flags, no profiles. The texts lie in the
 * request's payload. */
#define SPEC_TAG_FIRST 22u
#define SPEC_TAG_LAST 39u

enum spec_flag { SPEC_ISOLATED = 1, SPEC_REQUIRE = 2 };
enum spec_network { NETWORK_ON = 0, NETWORK_OFF = 1, NETWORK_PORTS = 2 };

/* Texts one after the other, each with its NUL. */
struct string_list {
	const char *bytes;
	size_t length;
};

struct sandbox_spec {
	bool enabled; /* false: no confinement was asked for */
	bool isolated, require;
	struct string_list writable, read_only, denied;
	struct string_list
		masked; /* covered where they are, and no more: sockets, which no rule keeps from being connected to */
	const char *tmp_dir; /* NULL: none */
	uint8_t network;
	const unsigned char *ports; /* u16 each */
	size_t port_count;
	bool has_user;
	uint32_t uid, gid;
	const unsigned char *groups; /* u32 each */
	size_t group_count;
	bool seen[SPEC_TAG_LAST - SPEC_TAG_FIRST + 1]; /* the fields that came */
};

/* Takes one field of a request. Returns NULL, or what is wrong with it. */
const char *sandbox_spec_parse_field(struct sandbox_spec *spec, unsigned tag, const char *bytes, size_t length);

/* What only the whole shows. Returns NULL, or what is wrong with it. */
const char *sandbox_spec_check(const struct sandbox_spec *spec);

/* The text after AFTER, or the first one for NULL; NULL when there is none. Async-signal-safe. */
const char *string_list_next(const struct string_list *texts, const char *after);

#define for_each_string(item, list)                                                                                    \
	for (const char *item = string_list_next(list, NULL); item; item = string_list_next(list, item))

uint16_t sandbox_spec_port(const struct sandbox_spec *spec, size_t index);
uint32_t sandbox_spec_group(const struct sandbox_spec *spec, size_t index);

/* Whether PATH is FOLDER or lies below it, by their texts. */
bool path_within(const char *path, const char *folder);

#endif
