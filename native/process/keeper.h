#ifndef SALLYPORT_KEEPER_H
#define SALLYPORT_KEEPER_H

#include <stdint.h>
#include <sys/types.h>

#include "cgroup/cgroup.h"
#include "process/keeper_pool.h"

#ifndef KEEPER_BUILD
#define KEEPER_BUILD "dev"
#endif

/* The main loop of one keeper: accepts a connection, runs its commands one after the other, accepts the next. Writes a
 * byte to WAKE_FD when too few keepers are idle. Never returns. */
__attribute__((noreturn)) void keeper_main(struct keeper_pool *pool, struct keeper_slot *slot, int listener,
					   int sessions_fd, int wake_fd, pid_t zygote,
					   const struct cgroup_host *cgroups);

/* `keeper serve STATE`: the zygote. Reads its own cgroups from SELF: /proc/self, or a directory made by a test. Returns
 * an exit code. */
int zygote_serve(const char *state, const char *self, const char *log_level);

#endif
