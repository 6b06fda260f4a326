#include "cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cgroup_write(int folder, const char *file, const char *text)
{
	/* O_TRUNC is nothing to the kernel's own files; a stand-in folder's need it. */
	int fd = openat(folder, file, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n = write(fd, text, strlen(text));
	int error = errno;
	close(fd);
	errno = error;
	return n < 0 ? -1 : 0;
}

int cgroup_write_number(int folder, const char *file, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%" PRIu64, value);
	return cgroup_write(folder, file, text);
}

char *cgroup_read(int folder, const char *file, char *text, size_t room)
{
	int fd = openat(folder, file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	ssize_t n = read(fd, text, room - 1);
	close(fd);
	if (n < 0)
		return NULL;
	text[n] = '\0';
	return text;
}

uint64_t cgroup_read_number(int folder, const char *file, const char *name)
{
	char text[1024];
	size_t length = strlen(name);
	if (!cgroup_read(folder, file, text, sizeof text))
		return 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0 && (length == 0 || line[length] == ' '))
			return strtoull(line + length, NULL, 10);
	}
	return 0;
}

bool cgroup_list_contains(const char *words, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = words; (at = strstr(at, word)); at += length) {
		bool starts = at == words || at[-1] == ' ' || at[-1] == ',';
		bool ends = at[length] == '\0' || at[length] == ' ' || at[length] == ',' || at[length] == '\n';
		if (starts && ends)
			return true;
	}
	return false;
}
