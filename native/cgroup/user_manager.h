#ifndef SALLYPORT_USER_MANAGER_H
#define SALLYPORT_USER_MANAGER_H

#include <stdbool.h>

/* The systemd manager of the user, which has a part of the cgroup hierarchy delegated to it. A process outside that part,
 * such as one in a login session, cannot move itself there: it needs write access to the common parent, which belongs
 * to root. The manager can move it, because it asks the system manager to do so. */

#define USER_MANAGER_SLICE "app-sallyport.slice" /* the slice of all scopes that are created here */

/* Moves the calling process, which SELF describes (/proc/self), into a transient scope of its own, whose cgroup is
 * delegated to the user. Returns false with errno if there is no manager, or it refuses or does not answer in time. */
bool user_manager_create_scope(const char *self);

#endif
