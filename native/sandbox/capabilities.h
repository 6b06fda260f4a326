#ifndef SALLYPORT_CAPABILITIES_H
#define SALLYPORT_CAPABILITIES_H

#include <stdbool.h>

/* Gives up every capability but the harmless, for good. Of those that remain, CAP_KILL needs signals kept in bounds by
 * other means. Call it before the user is changed and once more after. Async-signal-safe. 0, or -1 with errno. */
int capabilities_drop(bool signals_scoped);

#endif
