#ifndef SALLYPORT_PROCESS_TREE_H
#define SALLYPORT_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Callback for one descendant. PIDFD refers to that process, or is -1 on kernels without pidfds. */
typedef void process_visit(pid_t pid, int pidfd, void *context);

/* Visits every running descendant of this process, which is a subreaper: descendants stay below it even if they fork,
 * change session or are orphaned (invariant 5). Skips the inits of pid namespaces. Returns the number of descendants.
 * */
unsigned process_tree_walk(process_visit *visit, void *context);

/* Like process_tree_walk, but visits no process of a tree with more than MOST tasks. A walk of a tree that grows faster
 * than it is walked would not end. */
void process_tree_walk_small(process_visit *visit, void *context, uint64_t most);

/* Does the same as process_tree_walk, for direct children only. */
unsigned process_tree_walk_children(process_visit *visit, void *context);

unsigned process_tree_count(void);

/* Returns the number of processes and threads of all descendants. Stops counting shortly after ENOUGH. */
uint64_t process_tree_tasks(uint64_t enough);

/* Sends SIGNAL to every descendant through a pidfd, so that a reused pid is never signaled. */
unsigned process_tree_signal(int signal);

/* Fills TIDS with at most ROOM thread IDs of PID. Returns their number. */
unsigned process_threads(pid_t pid, pid_t *tids, unsigned room);

/* Fills FDS with at most ROOM descriptors of PID, the lowest ones. Returns their number. */
unsigned process_descriptors(pid_t pid, int *fds, unsigned room);

/* Reports whether all direct children, including zombies, are inits of pid namespaces. */
bool process_tree_only_ns_inits(void);

/* Kills the direct children as fast as possible. They have not been reaped, so their pids cannot have been reused.
 * Their children are reparented to this process, where the next call finds them. Returns the number of children. */
unsigned process_tree_kill_children(void);

/* Sends SIGNAL to the process of PIDFD, or to PID on kernels without pidfds. Returns 0, or -1 with errno. */
int pidfd_signal(pid_t pid, int pidfd, int signal);

/* Reaps PID, a child of this process, and waits until it has exited. Does nothing if PID is not positive. */
void process_reap(pid_t pid);

/* ---- process_stat.c ---- */

struct process_stat {
	char state;
	pid_t parent, group, session;
	int threads;
};

/* Reads /proc/PID/stat. PID may be a thread. Returns false if it does not exist. Async-signal-safe. */
bool process_stat_read(pid_t pid, struct process_stat *stat);

/* Reports whether PID, a process or a thread, is a descendant of this process and not the init of a pid namespace. True
 * for zombies as well. */
bool process_is_descendant(pid_t pid);

#endif
