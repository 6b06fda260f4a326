#include "process/aside.h"

#include <errno.h>
#include <sys/wait.h>

#define MOST 32

static pid_t pids[MOST];
static unsigned count;

bool aside_put(pid_t pid)
{
	if (count == MOST)
		return false;
	pids[count++] = pid;
	return true;
}

bool aside_has(pid_t pid)
{
	for (unsigned i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

bool aside_is_empty(void)
{
	return count == 0;
}

void aside_remove(pid_t pid)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < count; i++)
		if (pids[i] != pid)
			pids[kept++] = pids[i];
	count = kept;
}

void aside_review(void)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < count; i++)
		if (waitpid(pids[i], NULL, WNOHANG) == 0)
			pids[kept++] = pids[i];
	count = kept;
}
