#ifndef SALLYPORT_NS_INIT_PIDS_H
#define SALLYPORT_NS_INIT_PIDS_H

#include <stdbool.h>
#include <sys/types.h>

/* Children of the keeper's that are its own and not the command's: the first processes of pid namespaces. They are
 * neither visited nor counted with the tree, but their children are. One that is to go takes longer to do so than most
 * commands run, so it may still be there when the next one begins. */

/* False: there is no room for more. */
bool ns_init_pids_add(pid_t pid);

bool ns_init_pids_contains(pid_t pid);
bool ns_init_pids_empty(void);

/* PID has been waited for. */
void ns_init_pids_remove(pid_t pid);

/* Waits for those that have gone meanwhile. To be called before the keeper forks: from then on their numbers may be
 * others'. */
void ns_init_pids_reap(void);

#endif
