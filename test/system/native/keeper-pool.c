/* Runs one keeper that can write only the page of its own slot in the shared pool, and kills it while it is busy.
 * A keeper that also updated a counter would get SIGSEGV between the two writes, where a SIGKILL would leave the
 * counter wrong. Prints the number of idle keepers before, while and after it runs.
 * usage: keeper-pool FOLDER */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/listener.h"
#include "process/keeper.h"

#define KEEPERS 2000 /* enough slots to place the last one on a different page from the head of the pool */

__attribute__((noreturn)) static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static void protect_all_but(struct keeper_pool *pool, const struct keeper_slot *slot)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), own = (size_t)((const char *)slot - (const char *)pool) / page * page;
	if (own == 0)
		fail("the slot is on the first page");
	if (mprotect(pool, own, PROT_READ) < 0 ||
	    mprotect((char *)pool + own + page, sizeof *pool - own - page, PROT_READ) < 0)
		fail("mprotect");
}

static int connect_to(const char *folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
		fail("connect");
	return fd;
}

int main(int argc, char **argv)
{
	static const struct cgroup_host no_cgroups;
	struct keeper_slot *slot = NULL;
	char hello[512];
	int wake[2], status;
	if (argc != 2)
		return 2;
	int folder = open(argv[1], O_RDONLY | O_DIRECTORY);
	int listener = listener_open(folder, "socket", 8);
	struct keeper_pool *pool = mmap(NULL, sizeof *pool, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (listener < 0 || pool == MAP_FAILED || pipe(wake) < 0)
		fail("set-up");
	fcntl(listener, F_SETFL, 0);
	for (int i = 0; i < KEEPERS; i++) {
		slot = keeper_pool_take(pool);
		slot->pid = i + 1;
	}
	unsigned before = keeper_pool_count(pool, KEEPER_IDLE);
	pid_t harness = getpid(), pid = fork();
	if (pid == 0) {
		protect_all_but(pool, slot);
		keeper_main(pool, slot, listener, folder, wake[1], harness, &no_cgroups);
	}
	slot->pid = pid;
	/* The keeper sends its greeting after it has marked itself as busy. */
	ssize_t length = recv(connect_to(argv[1]), hello, sizeof hello, 0);
	unsigned during = keeper_pool_count(pool, KEEPER_IDLE);
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid || keeper_pool_find(pool, pid) != slot)
		fail("wait");
	keeper_pool_free(slot);
	unsigned after = keeper_pool_count(pool, KEEPER_IDLE);
	printf("signal %d, greeted %s, idle %u %u %u, slot %s\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0,
	       length > 0 ? "yes" : "no", before, during, after, keeper_pool_take(pool) == slot ? "reused" : "lost");
	return 0;
}
