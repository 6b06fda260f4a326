#ifndef SALLYPORT_PROCESS_TREE_H
#define SALLYPORT_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Called for one descendant; PIDFD refers to exactly that process (-1 on kernels without pidfds). */
typedef void process_visit(pid_t pid, int pidfd, void *context);

/* Walks every living descendant of this process. A subreaper's descendants are exactly what it started, however
 * often they forked, changed session or were orphaned (promise 5). Not those set aside. Returns how many there were. */
unsigned process_tree_walk(process_visit *visit, void *context);

/* The same for direct children only. */
unsigned process_tree_walk_children(process_visit *visit, void *context);

unsigned process_tree_count(void);

/* How many processes and threads the descendants are together; counting stops a little beyond ENOUGH. */
uint64_t process_tree_tasks(uint64_t enough);

/* Sends SIGNAL to every descendant, never through a pid that could have been reused meanwhile. */
unsigned process_tree_signal(int signal);

/* The threads of PID, at most ROOM of them. Returns how many there are in TIDS. */
unsigned process_threads(pid_t pid, pid_t *tids, unsigned room);

/* Whether all direct children, also those that have ended but were not waited for, are set aside. */
bool process_tree_only_ns_inits(void);

/* Kills the direct children of this process and nobody else's, as fast as can be: none of them was waited for, so none
 * of their pids can be another's. What they leave falls to this process, for the next call. Returns how many. */
unsigned process_tree_kill_children(void);

/* Sends SIGNAL to the one process that PIDFD (or, on old kernels, PID) refers to. 0, or -1 with errno. */
int pidfd_signal(pid_t pid, int pidfd, int signal);

/* Sends SIGNAL to PID, a child of this process that has not been waited for. 0, or -1 with errno. */
int child_signal(pid_t pid, int signal);

#endif
