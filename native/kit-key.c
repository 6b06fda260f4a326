#include "kit-key.h"

#include <stdlib.h>
#include <string.h>

struct head {
	size_t writable, read_only, denied, hidden, temporary, ports; /* bytes of each, which follow in this order */
	size_t isolated, network, has_user;
};

static char *put(char *at, const void *bytes, size_t length)
{
	if (length > 0)
		memcpy(at, bytes, length);
	return at + length;
}

/* Everything but `require`, which changes nothing in it, and who the user is. */
char *kit_key(const struct spec *spec, size_t *length)
{
	const struct head head = {
		.writable = spec->writable.length,
		.read_only = spec->read_only.length,
		.denied = spec->denied.length,
		.hidden = spec->hidden.length,
		.temporary = spec->temporary ? strlen(spec->temporary) + 1 : 0,
		.ports = 2 * spec->port_count,
		.isolated = spec->isolated,
		.network = spec->network,
		.has_user = spec->has_user,
	};
	*length = sizeof head + head.writable + head.read_only + head.denied + head.hidden + head.temporary + head.ports;
	char *key = malloc(*length);
	if (!key)
		return NULL;
	char *at = put(key, &head, sizeof head);
	at = put(at, spec->writable.bytes, head.writable);
	at = put(at, spec->read_only.bytes, head.read_only);
	at = put(at, spec->denied.bytes, head.denied);
	at = put(at, spec->hidden.bytes, head.hidden);
	at = put(at, spec->temporary, head.temporary);
	put(at, spec->ports, head.ports);
	return key;
}

static struct texts take(const char **at, size_t length)
{
	struct texts texts = {*at, length};
	*at += length;
	return texts;
}

void kit_key_spec(const char *key, struct spec *spec)
{
	struct head head;
	const char *at = key + sizeof head;
	memcpy(&head, key, sizeof head);
	*spec = (struct spec){
		.given = true,
		.isolated = head.isolated,
		.network = (uint8_t)head.network,
		.has_user = head.has_user,
		.port_count = head.ports / 2,
	};
	spec->writable = take(&at, head.writable);
	spec->read_only = take(&at, head.read_only);
	spec->denied = take(&at, head.denied);
	spec->hidden = take(&at, head.hidden);
	const char *temporary = take(&at, head.temporary).bytes;
	spec->temporary = head.temporary ? temporary : NULL;
	spec->ports = (const unsigned char *)at;
}
