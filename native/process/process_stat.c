#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process/process_tree.h"
#include "sandbox/namespaces.h"

#define MAX_GENERATIONS 65536
#define MAX_ATTEMPTS 16

bool process_stat_read(pid_t pid, struct process_stat *stat)
{
	char path[64], text[512];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	/* The name in parentheses may itself contain parentheses and spaces, so the fields start after the last ')'. */
	char *after = strrchr(text, ')');
	const char *shape = " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d";
	return after && sscanf(after + 1, shape, &stat->state, &stat->parent, &stat->group, &stat->session,
			       &stat->threads) == 5;
}

/* Follows the parents of PID once. Returns 1 if they lead to this process, 0 if they do not, and -1 if a process exited
 * in the meantime. */
static int follow_parents(pid_t pid)
{
	struct process_stat stat, again;
	pid_t child = pid;
	if (!process_stat_read(pid, &stat))
		return 0;
	for (unsigned generation = 0; generation < MAX_GENERATIONS; generation++) {
		pid_t parent = stat.parent;
		if (parent == getpid())
			return 1;
		if (parent <= 1)
			return 0;
		/* The second read ensures that PARENT was not reused by a process of the tree. A process whose parent
		 * exits gets another one. */
		if (!process_stat_read(parent, &stat) || !process_stat_read(child, &again) || again.parent != parent)
			return -1;
		child = parent;
	}
	return 0;
}

bool process_is_descendant(pid_t pid)
{
	int found = ns_init_pids_contains(pid) ? 0 : -1;
	for (unsigned attempt = 0; found < 0 && attempt < MAX_ATTEMPTS; attempt++)
		found = follow_parents(pid);
	return found > 0;
}
