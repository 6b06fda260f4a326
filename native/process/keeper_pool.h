#ifndef SALLYPORT_KEEPER_POOL_H
#define SALLYPORT_KEEPER_POOL_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

#define MAX_KEEPERS 16384
#define MIN_IDLE_KEEPERS 4 /* number of keepers that the zygote forks in advance */
#define MAX_IDLE_KEEPERS 16

enum keeper_state { KEEPER_NONE, KEEPER_IDLE, KEEPER_BUSY };

/* The slot of one keeper, which writes its own state. The zygote writes a slot only while no keeper uses it: before the
 * fork and after the wait. */
struct keeper_slot {
	_Atomic pid_t pid;
	_Atomic int state; /* enum keeper_state */
};

/* The keepers and their states, in memory that the zygote shares with all of them. There is no counter of idle keepers,
 * because a SIGKILL between updating a slot and updating the counter would leave the counter wrong permanently. */
struct keeper_pool {
	atomic_uint used; /* number of slots that have ever been in use; written only by the zygote */
	struct keeper_slot slots[MAX_KEEPERS];
};

static inline unsigned keeper_pool_count(const struct keeper_pool *pool, enum keeper_state state)
{
	unsigned count = 0, used = atomic_load(&pool->used);
	for (unsigned i = 0; i < used; i++)
		count += atomic_load(&pool->slots[i].state) == (int)state;
	return count;
}

/* Returns the slot of the keeper PID, or NULL if PID is not a keeper. */
static inline struct keeper_slot *keeper_pool_find(struct keeper_pool *pool, pid_t pid)
{
	unsigned used = atomic_load(&pool->used);
	for (unsigned i = 0; i < used; i++)
		if (atomic_load(&pool->slots[i].pid) == pid)
			return &pool->slots[i];
	return NULL;
}

/* Allocates a slot for a keeper that is about to be forked. Returns NULL if none is free. */
static inline struct keeper_slot *keeper_pool_take(struct keeper_pool *pool)
{
	struct keeper_slot *slot = keeper_pool_find(pool, 0);
	unsigned used = atomic_load(&pool->used);
	if (!slot && used < MAX_KEEPERS) {
		slot = &pool->slots[used];
		atomic_store(&pool->used, used + 1);
	}
	if (slot)
		atomic_store(&slot->state, KEEPER_IDLE);
	return slot;
}

/* Frees the slot of a keeper that has been reaped. The slot may be in any state. */
static inline void keeper_pool_free(struct keeper_slot *slot)
{
	atomic_store(&slot->state, KEEPER_NONE);
	atomic_store(&slot->pid, 0);
}

#endif
