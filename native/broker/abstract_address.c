#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/unix_address.h"
#include "process/process_tree.h"

/* A name in the abstract namespace says nothing about its listener, so the broker looks for the process that has it. A
 * test connection would tell that too, but the server would see it. */

#define LISTENING 0x10000u /* __SO_ACCEPTCON */

/* The name in the form of /proc/net/unix, which shows zero bytes as `@`. */
struct shown_name {
	char text[sizeof(struct sockaddr_un)];
	size_t length;
};

static bool show(const struct sockaddr_un *address, socklen_t length, struct shown_name *name)
{
	name->length = length - offsetof(struct sockaddr_un, sun_path);
	for (size_t i = 0; i < name->length; i++)
		name->text[i] = address->sun_path[i] ? address->sun_path[i] : '@';
	return !memchr(name->text, '\n', name->length); /* it would look like two lines */
}

struct holder_search {
	unsigned long inode;
	bool found;
};

static void look_for_socket(pid_t pid, int pidfd, void *context)
{
	struct holder_search *search = context;
	char path[64], link[64], wanted[64];
	int fds[1024];
	(void)pidfd;
	snprintf(wanted, sizeof wanted, "socket:[%lu]", search->inode);
	unsigned count = search->found ? 0 : process_descriptors(pid, fds, sizeof fds / sizeof *fds);
	for (unsigned i = 0; i < count && !search->found; i++) {
		snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fds[i]);
		ssize_t n = readlink(path, link, sizeof link - 1);
		link[n > 0 ? n : 0] = '\0';
		search->found = strcmp(link, wanted) == 0;
	}
}

static bool belongs_to_command(unsigned long inode)
{
	struct holder_search search = {inode, false};
	process_tree_walk(look_for_socket, &search);
	return search.found;
}

/* Finds the listeners called NAME. Returns 0 if there are some and all belong to the command, otherwise an errno. A name
 * of another socket may contain a line break and so look like a further listener, which then must belong to the command
 * as well. */
static int check_listeners(const struct shown_name *name)
{
	FILE *table = fopen("/proc/self/net/unix", "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int error = ECONNREFUSED;
	if (!table)
		return EPERM;
	while (error != EPERM && (n = getline(&line, &room, table)) > 0) {
		unsigned flags;
		unsigned long inode;
		int start = 0;
		line[n - 1] = '\0';
		if (sscanf(line, "%*s %*x %*x %x %*x %*x %lu %n", &flags, &inode, &start) != 2 || start == 0)
			continue;
		size_t length = (size_t)(n - 1 - start);
		if ((flags & LISTENING) && length == name->length && memcmp(line + start, name->text, length) == 0)
			error = belongs_to_command(inode) ? 0 : EPERM;
	}
	free(line);
	fclose(table);
	return error;
}

int abstract_connect(const struct sandbox_spec *spec, int socket, const struct sockaddr_un *address, socklen_t length)
{
	struct shown_name name;
	if (!show(address, length, &name))
		return EPERM;
	int error = check_listeners(&name);
	if (!error)
		error = command_user_assume(spec);
	if (error)
		return error;
	error = connect(socket, (const struct sockaddr *)address, length) < 0 ? errno : 0;
	command_user_leave(spec);
	if (error)
		return error;
	/* Another process may have taken the name after the check. */
	if (check_listeners(&name) != EPERM)
		return 0;
	shutdown(socket, SHUT_RDWR);
	return EPERM;
}
