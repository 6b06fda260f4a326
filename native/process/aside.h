#ifndef SALLYPORT_ASIDE_H
#define SALLYPORT_ASIDE_H

#include <stdbool.h>
#include <sys/types.h>

/* Children of the keeper's that are its own and not the command's: the first processes of pid namespaces. They are
 * neither visited nor counted with the tree, but their children are. One that is to go takes longer to do so than most
 * commands run, so it may still be there when the next one begins. */

/* False: there is no room for more. */
bool aside_put(pid_t pid);

bool aside_has(pid_t pid);
bool aside_is_empty(void);

/* PID has been waited for. */
void aside_remove(pid_t pid);

/* Waits for those that have gone meanwhile. To be called before the keeper forks: from then on their numbers may be
 * others'. */
void aside_review(void);

#endif
