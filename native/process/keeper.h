#ifndef SALLYPORT_KEEPER_H
#define SALLYPORT_KEEPER_H

#include <stdint.h>
#include <sys/types.h>

#include "cgroup/cgroup.h"

#ifndef KEEPER_BUILD
#define KEEPER_BUILD "dev"
#endif

#define KEEPERS_MOST 16384
#define KEEPERS_AHEAD 4    /* idle ones forked before they are asked for */
#define KEEPERS_IDLE_MOST 16

enum keeper_state { KEEPER_NONE, KEEPER_IDLE, KEEPER_BUSY };

/* Shared between zygote and keepers: who is there and what they are doing. */
struct pool {
	volatile int idle;
	struct keeper_slot {
		volatile pid_t pid;
		volatile int state;
	} slots[KEEPERS_MOST];
};

/* The life of one keeper: wait for a connection, run its commands one after the other, wait again. Never returns. */
__attribute__((noreturn)) void keeper_live(struct pool *pool, struct keeper_slot *slot, int door, int sessions_fd,
					   int bell, pid_t zygote, const struct cgroup_host *cgroups);

/* `keeper serve STATE`: the zygote. SELF tells what groups it is in: /proc/self, or a stand-in for tests. Returns an
 * exit code. */
int zygote_serve(const char *state, const char *self);

#endif
