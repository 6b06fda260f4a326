#ifndef SALLYPORT_KEEPER_H
#define SALLYPORT_KEEPER_H

#include <stdint.h>
#include <sys/types.h>

#include "cgroup/cgroup.h"

#ifndef KEEPER_BUILD
#define KEEPER_BUILD "dev"
#endif

#define MAX_KEEPERS 16384
#define MIN_IDLE_KEEPERS 4 /* idle ones forked before they are asked for */
#define MAX_IDLE_KEEPERS 16

enum keeper_state { KEEPER_NONE, KEEPER_IDLE, KEEPER_BUSY };

/* Shared between zygote and keepers: who is there and what they are doing. */
struct keeper_pool {
	volatile int idle;
	struct keeper_slot {
		volatile pid_t pid;
		volatile int state;
	} slots[MAX_KEEPERS];
};

/* The life of one keeper: wait for a connection, run its commands one after the other, wait again. Never returns. */
__attribute__((noreturn)) void keeper_main(struct keeper_pool *pool, struct keeper_slot *slot, int listener,
					   int sessions_fd, int wake_fd, pid_t zygote,
					   const struct cgroup_host *cgroups);

/* `keeper serve STATE`: the zygote. SELF tells what groups it is in: /proc/self, or a stand-in for tests. Returns an
 * exit code. */
int zygote_serve(const char *state, const char *self, const char *log_level);

#endif
