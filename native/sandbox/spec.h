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
struct texts {
	const char *bytes;
	size_t length;
};

struct spec {
	bool given; /* false: no confinement was asked for */
	bool isolated, require;
	struct texts writable, read_only, denied;
	struct texts hidden; /* covered where they are, and no more: sockets, which no rule keeps from being connected to */
	const char *temporary; /* NULL: none */
	uint8_t network;
	const unsigned char *ports; /* u16 each */
	size_t port_count;
	bool has_user;
	uint32_t uid, gid;
	const unsigned char *groups; /* u32 each */
	size_t group_count;
	bool named[SPEC_TAG_LAST - SPEC_TAG_FIRST + 1]; /* the fields that came */
};

/* Takes one field of a request. Returns NULL, or what is wrong with it. */
const char *spec_take(struct spec *spec, unsigned tag, const char *bytes, size_t length);

/* What only the whole shows. Returns NULL, or what is wrong with it. */
const char *spec_check(const struct spec *spec);

/* The text after AFTER, or the first one for NULL; NULL when there is none. Async-signal-safe. */
const char *texts_next(const struct texts *texts, const char *after);

uint16_t spec_port(const struct spec *spec, size_t index);
uint32_t spec_group(const struct spec *spec, size_t index);

/* Whether PATH is FOLDER or lies below it, by their texts. */
bool path_within(const char *path, const char *folder);

#endif
