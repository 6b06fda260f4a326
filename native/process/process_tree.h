#ifndef SALLYPORT_PROCESS_TREE_H
#define SALLYPORT_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Called for one descendant. PIDFD refers to exactly that process; -1 on kernels without pidfds. */
typedef void process_visit(pid_t pid, int pidfd, void *context);

/* Visits every living descendant of this process. All descendants stay below a subreaper, even if they fork, change
 * session or are orphaned (invariant 5). Skips the inits of pid namespaces. Returns the number of descendants. */
unsigned process_tree_walk(process_visit *visit, void *context);

/* The same for direct children only. */
unsigned process_tree_walk_children(process_visit *visit, void *context);

unsigned process_tree_count(void);

/* The number of processes and threads of all descendants. Stops counting a little beyond ENOUGH. */
uint64_t process_tree_tasks(uint64_t enough);

/* Sends SIGNAL to every descendant, never through a pid that may have been reused. */
unsigned process_tree_signal(int signal);

/* Fills TIDS with the threads of PID, at most ROOM. Returns their number. */
unsigned process_threads(pid_t pid, pid_t *tids, unsigned room);

/* Whether all direct children, zombies included, are inits of pid namespaces. */
bool process_tree_only_ns_inits(void);

/* Kills the direct children as fast as possible. They have not been waited for, so their pids cannot have been reused.
 * Their children move to this process, for the next call. Returns their number. */
unsigned process_tree_kill_children(void);

/* Sends SIGNAL to the process of PIDFD, or of PID on old kernels. 0, or -1 with errno. */
int pidfd_signal(pid_t pid, int pidfd, int signal);

/* Waits until PID, a child of this process, has exited; 0 or less: there is none. */
void process_reap(pid_t pid);

#endif
