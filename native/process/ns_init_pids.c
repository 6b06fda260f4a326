#include "process/ns_init_pids.h"

#include <errno.h>
#include <sys/wait.h>

#define MAX_PIDS 32

static pid_t pids[MAX_PIDS];
static unsigned count;

bool ns_init_pids_add(pid_t pid)
{
	if (count == MAX_PIDS)
		return false;
	pids[count++] = pid;
	return true;
}

bool ns_init_pids_contains(pid_t pid)
{
	for (unsigned i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

bool ns_init_pids_empty(void)
{
	return count == 0;
}

void ns_init_pids_remove(pid_t pid)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < count; i++)
		if (pids[i] != pid)
			pids[kept++] = pids[i];
	count = kept;
}

void ns_init_pids_reap(void)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < count; i++)
		if (waitpid(pids[i], NULL, WNOHANG) == 0)
			pids[kept++] = pids[i];
	count = kept;
}
