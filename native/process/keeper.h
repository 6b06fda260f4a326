#ifndef SALLYPORT_KEEPER_H
#define SALLYPORT_KEEPER_H

#include <stdint.h>
#include <sys/types.h>

#include "cgroup/cgroup.h"
#include "process/keeper_pool.h"

#ifndef KEEPER_BUILD
#define KEEPER_BUILD "dev"
#endif

/* Runs the main loop of a keeper: accepts a connection, runs its commands one after another, and accepts the next one.
 * Writes a byte to WAKE_FD when too few keepers are idle. */
__attribute__((noreturn)) void keeper_main(struct keeper_pool *pool, struct keeper_slot *slot, int listener,
					   int sessions_fd, int wake_fd, pid_t zygote,
					   struct cgroup_host *cgroups);

/* Runs the zygote (`keeper serve STATE`) and returns its exit code. SELF is the directory from which it reads its own
 * cgroups: /proc/self, or a directory created by a test. */
int zygote_serve(const char *state, const char *self, const char *log_level);

/* Tries in the directory PATH what a state directory needs of its file system, and prints the first step that fails as
 * JSON (`keeper check FOLDER`). */
int folder_check(const char *path);

#endif
