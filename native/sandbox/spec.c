#include "sandbox/spec.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum spec_tag {
	TAG_SANDBOX = 22, /* u32 of spec_flag bits; required by all other fields */
	TAG_WRITABLE = 23,
	TAG_READ_ONLY = 24,
	TAG_DENIED = 25,
	TAG_TMP_DIR = 26,
	TAG_NETWORK = 27,
	TAG_PORTS = 28,
	TAG_USER = 29, /* u32 uid, u32 gid, then a u32 per supplementary group */
	TAG_MASKED = 30,
	TAG_SOCKETS = 31,
	TAG_READABLE = 33,
	TAG_HELD = 34,
	TAG_BINDS = 35,
	TAG_ABSENT = 38,
};

#define MAX_GROUPS 65536u

static uint32_t read_le(const unsigned char *bytes, size_t width)
{
	uint32_t value = 0;
	for (size_t i = 0; i < width; i++)
		value |= (uint32_t)bytes[i] << (8 * i);
	return value;
}

/* Reports whether PATH is absolute and has no `.`, `..`, double slash or trailing slash. */
static bool is_plain_path(const char *path)
{
	if (path[0] != '/' || strlen(path) >= PATH_MAX)
		return false;
	if (path[1] == '\0')
		return true;
	while (*path == '/') {
		size_t length = strcspn(path + 1, "/");
		bool dots = path[1] == '.' && (length == 1 || (length == 2 && path[2] == '.'));
		if (length == 0 || length > NAME_MAX || dots)
			return false;
		path += 1 + length;
	}
	return true;
}

static const char *parse_paths(struct string_list *slot, const char *bytes, size_t length)
{
	if (length > 0 && bytes[length - 1] != '\0')
		return "a list field does not end with NUL";
	*slot = (struct string_list){bytes, length};
	for_each_string (path, slot)
		if (!is_plain_path(path))
			return "a sandbox path is not absolute and normalized";
	return NULL;
}

static const char *parse_binds(struct string_list *slot, const char *bytes, size_t length)
{
	const char *problem = parse_paths(slot, bytes, length);
	bool complete = true;
	if (problem)
		return problem;
	for_each_string (path, slot)
		complete = !complete;
	return complete ? NULL : "a private directory has no source";
}

static const char *parse_path(const char **slot, const char *bytes, size_t length)
{
	if (length == 0 || memchr(bytes, '\0', length) != bytes + length - 1)
		return "a string field does not have exactly one NUL, at its end";
	if (!is_plain_path(bytes))
		return "a sandbox path is not absolute and normalized";
	*slot = bytes;
	return NULL;
}

static const char *parse_user(struct sandbox_spec *spec, const unsigned char *bytes, size_t length)
{
	if (length < 8 || length % 4 != 0 || (length - 8) / 4 > MAX_GROUPS)
		return "invalid user";
	spec->has_user = true;
	spec->uid = read_le(bytes, 4);
	spec->gid = read_le(bytes + 4, 4);
	spec->groups = bytes + 8;
	spec->group_count = (length - 8) / 4;
	/* For setresuid and setresgid, -1 means "unchanged": the command would run as the user of the keeper. */
	if (spec->uid == UINT32_MAX || spec->gid == UINT32_MAX)
		return "invalid user";
	return NULL;
}

static const char *parse_flags(struct sandbox_spec *spec, const unsigned char *bytes, size_t length)
{
	uint32_t flags = read_le(bytes, length < 4 ? length : 4);
	if (length != 4 || (flags & ~(uint32_t)(SPEC_ISOLATED | SPEC_REQUIRE | SPEC_MASK_WARN)))
		return "unknown sandbox flag";
	spec->enabled = true;
	spec->isolated = flags & SPEC_ISOLATED;
	spec->require = flags & SPEC_REQUIRE;
	spec->mask_warn = flags & SPEC_MASK_WARN;
	return NULL;
}

const char *sandbox_spec_parse_field(struct sandbox_spec *spec, unsigned tag, const char *bytes, size_t length)
{
	const unsigned char *raw = (const unsigned char *)bytes;
	bool *seen = &spec->seen[tag - SPEC_TAG_FIRST];
	if (*seen)
		return "duplicate sandbox field"; /* it would be ambiguous which one was analyzed */
	*seen = true;
	switch (tag) {
	case TAG_SANDBOX: return parse_flags(spec, raw, length);
	case TAG_WRITABLE: return parse_paths(&spec->writable, bytes, length);
	case TAG_READ_ONLY: return parse_paths(&spec->read_only, bytes, length);
	case TAG_DENIED: return parse_paths(&spec->denied, bytes, length);
	case TAG_MASKED: return parse_paths(&spec->masked, bytes, length);
	case TAG_READABLE: return parse_paths(&spec->readable, bytes, length);
	case TAG_HELD: return parse_paths(&spec->held, bytes, length);
	case TAG_BINDS: return parse_binds(&spec->binds, bytes, length);
	case TAG_ABSENT: return parse_paths(&spec->absent, bytes, length);
	case TAG_SOCKETS: return parse_paths(&spec->sockets, bytes, length);
	case TAG_TMP_DIR: return parse_path(&spec->tmp_dir, bytes, length);
	case TAG_USER: return parse_user(spec, raw, length);
	case TAG_NETWORK:
		if (length != 1 || raw[0] > NETWORK_PORTS)
			return "unknown network mode";
		spec->network = raw[0];
		return NULL;
	case TAG_PORTS:
		if (length % 2 != 0)
			return "the list of ports is truncated";
		spec->ports = raw;
		spec->port_count = length / 2;
		return NULL;
	default: return "unknown field";
	}
}

const char *sandbox_spec_check(const struct sandbox_spec *spec)
{
	bool any_seen = false;
	for (size_t i = 0; i < sizeof spec->seen / sizeof *spec->seen; i++)
		any_seen = any_seen || spec->seen[i];
	if (any_seen && !spec->enabled)
		return "sandbox fields without a sandbox field";
	if (spec->port_count > 0 && spec->network != NETWORK_PORTS)
		return "ports require the network mode for ports";
	return NULL;
}

bool sandbox_spec_confines(const struct sandbox_spec *spec)
{
	for_each_string (path, &spec->writable)
		if (strcmp(path, "/") == 0)
			return false;
	return true;
}

const char *string_list_next(const struct string_list *texts, const char *after)
{
	const char *next = after ? after + strlen(after) + 1 : texts->bytes;
	return texts->length > 0 && next < texts->bytes + texts->length ? next : NULL;
}

static bool is_within_any(const char *path, const struct string_list *folders)
{
	for_each_string (folder, folders)
		if (path_within(path, folder))
			return true;
	return false;
}

bool sandbox_spec_is_private(const struct sandbox_spec *spec, const char *path)
{
	bool is_private = false;
	for_each_bind (at, source, &spec->binds)
		is_private = is_private || path_within(path, at);
	return is_private && !is_within_any(path, &spec->writable) && !is_within_any(path, &spec->readable) &&
	       !(spec->tmp_dir && path_within(path, spec->tmp_dir));
}

uint16_t sandbox_spec_port(const struct sandbox_spec *spec, size_t index)
{
	return (uint16_t)read_le(spec->ports + 2 * index, 2);
}

uint32_t sandbox_spec_group(const struct sandbox_spec *spec, size_t index)
{
	return read_le(spec->groups + 4 * index, 4);
}

int sandbox_spec_groups(const struct sandbox_spec *spec, uint32_t groups[SPEC_MAX_GROUPS])
{
	if (spec->group_count > SPEC_MAX_GROUPS) {
		errno = E2BIG;
		return -1;
	}
	for (size_t i = 0; i < spec->group_count; i++)
		groups[i] = sandbox_spec_group(spec, i);
	return (int)spec->group_count;
}

bool path_within(const char *path, const char *folder)
{
	size_t length = strlen(folder);
	if (length == 1)
		return true;
	return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

bool path_within_any(const char *path, const struct string_list *list)
{
	for_each_string (folder, list)
		if (path_within(path, folder))
			return true;
	return false;
}
