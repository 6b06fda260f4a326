#ifndef SALLYPORT_RLIMITS_H
#define SALLYPORT_RLIMITS_H

#include "ipc/request.h"

/* Sets the limits a process hands on to its children, in the child before its exec. TASKS is how many processes and
 * threads the machine had. NULL, or the step that failed, with errno. */
const char *rlimits_set(const struct request *request, uint64_t tasks);

#endif
